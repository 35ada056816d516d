import type { LookupName } from '../../../operations/lookup-name.ts'
import type { ResourceName } from '../../../operations/permissions.ts'

export type Place = 'path' | 'query' | 'body' | 'row' | 'each'

/** Where an atom's id comes from. `none` is asked without an id, `any` with the id `*`; both mean "on all". */
export type CompiledAttribute =
  | { readonly from: 'none' | 'any' | 'caller' | 'created' }
  | { readonly from: Place; readonly name: string }
  | ({ readonly from: 'lookup'; readonly name: string } & Reference)

/** Which entity a look-up reads: the one named by this member of the request, or of what the check runs over. */
export interface Argument {
  readonly from: 'path' | 'query' | 'body' | 'each'
  readonly name: string
}

/** An entity to look up. */
export interface Reference {
  readonly lookup: LookupName
  readonly by: Argument
}

/** A row's atom taken apart once, at start-up. */
export interface Permission {
  readonly resource: ResourceName
  readonly permission: string
  readonly bit: number
  readonly attribute: CompiledAttribute
}
