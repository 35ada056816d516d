import type { EngineCondition } from '../../../operations/notation.ts'
import type { LookupName } from '../../../operations/lookup-name.ts'
import type { MaybePromise } from '../../../request/maybe-promise.ts'
import type { Attributes, MissingReason } from '../../../request/attributes.ts'
import type { AccessRequest } from '../../../request/access-request.ts'

/** The entities that the engine lists by their ids. */
export type ListedName = Extract<
  LookupName,
  'externalTask' | 'historicProcessInstance' | 'processDefinition' | 'processInstance'
>

/** Reads JSON at the engine, below its base path; `null` when the engine says 404. `query`: asked with this body, as a POST that only reads. @throws GatewayError when it cannot answer. */
export type ReadEngine = (path: string, query?: unknown) => Promise<unknown>

/** Facts of one entity, at once where they are remembered; `null` when there is none with that id: `onMissing` hears why. */
export type LookUp = (
  name: LookupName,
  id: string,
  onMissing?: (reason: MissingReason) => void,
) => MaybePromise<Attributes | null>

/**
 * Facts of those of many entities that are there, by their ids, asked for in lists. `stillAwaited` is called before each request.
 * @throws GatewayError when the engine cannot answer, what `stillAwaited` throws
 */
export type LookUpAll = (
  name: ListedName,
  ids: readonly string[],
  stillAwaited?: () => void,
) => Promise<ReadonlyMap<string, Attributes>>

export interface LookUps {
  readonly lookUp: LookUp
  readonly lookUpAll: LookUpAll
}

/** The engine acts on some of these, or on none of them. Only the engine knows on which. */
export interface Candidates {
  readonly candidates: readonly Attributes[]
}

/** The entities that a request acts on. */
export type Targets = readonly Attributes[] | Candidates

/** Finds the entities that a request acts on if the request does not name them. Null: they cannot be determined here. */
export type FindTargets = (each: string, accessRequest: AccessRequest) => Promise<Targets | null>

/** Whether nothing of a set that cannot be determined belongs to a tenant that the caller is no member of. */
export type IsOwn = (each: string, accessRequest: AccessRequest) => Promise<boolean>

export type ListRow = Readonly<Record<string, unknown>>

/** The id that a row offers for a fact of the notation; null: it belongs to none. */
export type RowAttribute = (name: string) => string | null

/** What rows of one operation say, with the definitions that they name by id or through their instance. */
export type ReadRowAttributes = (
  template: string,
  rows: readonly ListRow[],
) => Promise<readonly RowAttribute[]>

/** Whether a condition holds that only the engine knows; null: it cannot be told. */
export type FindCondition = (
  condition: EngineCondition,
  accessRequest: AccessRequest,
) => Promise<boolean | null>
