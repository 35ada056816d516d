import type { CheckTargetSet } from '../../../operations/notation.ts'
import type { Reference } from './compiled-permission.ts'

/** The names that the terms and templates of an operation, or of one of its checks, can use. */
export interface NamingScope {
  /** The parameters of the path. */
  readonly parameters: ReadonlySet<string>
  readonly hasBody: boolean
  /** The set that a check runs over; null if it runs once. */
  readonly each: CheckTargetSet | null
  /** Whether the engine has executed the operation, so that a new entity may exist. */
  readonly isAfter: boolean
  /** The entities that the operation looks up. */
  readonly entities: readonly Reference[]
}
