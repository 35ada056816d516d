import type { Each } from '../../../operations/notation.ts'
import type { Reference } from './compiled-permission.ts'

/** What the terms and the templates of a row, or of one of its checks, can name. */
export interface NamingScope {
  /** Parameters of the path. */
  readonly parameters: ReadonlySet<string>
  readonly hasBody: boolean
  /** What a check runs over; null: nothing. */
  readonly each: Each | null
  /** Whether the engine has done its work, so that there may be something new. */
  readonly isAfter: boolean
  /** What the row looks up. */
  readonly entities: readonly Reference[]
}
