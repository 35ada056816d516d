import type { LookupName } from '../../../operations/lookup-name.ts'
import type { ResourceName } from '../../../operations/permissions.ts'

export type Place = 'path' | 'query' | 'body' | 'item' | 'each'

/** The source of the id in a permission check. `none` checks without an id, `any` checks the id `*`; both mean "on all". */
export type CompiledAttribute =
  | { readonly from: 'none' | 'any' | 'caller' | 'created' }
  | { readonly from: Place; readonly name: string }
  | ({ readonly from: 'lookup'; readonly name: string } & Reference)

/** The member that names the entity of a lookup. It is a member of the request, or of the set that the check runs over. */
export interface LookupArgument {
  readonly from: 'path' | 'query' | 'body' | 'each'
  readonly name: string
}

/** An entity to look up. */
export interface Reference {
  readonly lookup: LookupName
  readonly by: LookupArgument
}

/** A permission term of an operation, parsed once at startup. */
export interface Permission {
  readonly resource: ResourceName
  readonly permission: string
  readonly bit: number
  readonly attribute: CompiledAttribute
}
