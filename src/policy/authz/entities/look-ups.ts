import type { EngineCondition } from '../../../operations/notation.ts'
import type { LookupName } from '../../../operations/lookup-name.ts'
import type { MaybePromise } from '../../../request/maybe-promise.ts'
import type { Attributes, MissingReason } from '../../../request/attributes.ts'
import type { AccessRequest } from '../../../request/access-request.ts'

/** The entities that the engine can list by their ids. */
export type ListedName = Extract<
  LookupName,
  'externalTask' | 'historicProcessInstance' | 'processDefinition' | 'processInstance'
>

/**
 * Reads JSON from the engine, below its base path. Returns `null` if the engine responds with 404. With `query`, the request
 * is a POST with this body that only reads. @throws GatewayError if the engine cannot respond
 */
export type ReadEngine = (path: string, query?: unknown) => Promise<unknown>

/**
 * Reads the bytes of a resource at the engine. Returns `null` if the engine responds with a status from 400 to 499. @throws
 * GatewayError if the engine cannot respond
 */
export type ReadBytes = (path: string) => Promise<Buffer | null>

/**
 * Returns the attributes of one entity, without a promise if they are stored. Returns `null` if there is no entity with that
 * id; `onMissing` receives the reason.
 */
export type LookUp = (
  name: LookupName,
  id: string,
  onMissing?: (reason: MissingReason) => void,
) => MaybePromise<Attributes | null>

/**
 * Returns the attributes of those entities that exist, by their ids. They are requested in lists. `checkDeadline` is called
 * before each request.
 * @throws GatewayError if the engine cannot respond; any error that `checkDeadline` throws
 */
export type LookUpAll = (
  name: ListedName,
  ids: readonly string[],
  checkDeadline?: () => void,
) => Promise<ReadonlyMap<string, Attributes>>

export interface LookUps {
  readonly lookUp: LookUp
  readonly lookUpAll: LookUpAll
}

/** The engine acts on some of these entities, or on none. Only the engine knows which. */
export interface Candidates {
  readonly candidates: readonly Attributes[]
}

/** The entities that a request acts on. */
export type Targets = readonly Attributes[] | Candidates

/** Finds the entities that a request acts on if the request does not name them. Returns null if they cannot be determined here. */
export type FindTargets = (each: string, accessRequest: AccessRequest) => Promise<Targets | null>

/** Returns whether a set that cannot be determined contains no entity of a tenant that the caller does not belong to. */
export type IsOwn = (each: string, accessRequest: AccessRequest) => Promise<boolean>

export type ListItem = Readonly<Record<string, unknown>>

/** Returns the id that an item has for an attribute of the notation. Null if it has none. */
export type ItemAttribute = (name: string) => string | null

/** Reads the attributes of the items of one operation, with the definitions that the items name by id or through their instance. */
export type ReadItemAttributes = (
  template: string,
  items: readonly ListItem[],
) => Promise<readonly ItemAttribute[]>

/** Returns whether a condition that only the engine knows holds. Null if this cannot be determined. */
export type FindCondition = (
  condition: EngineCondition,
  accessRequest: AccessRequest,
) => Promise<boolean | null>
