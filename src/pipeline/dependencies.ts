import type { ApiDocuments } from '../api-document/api-documents.ts'
import type { Cache } from '../cache/cache.ts'
import type { IdempotencyStore } from '../idempotency/idempotency-store.ts'
import type { Config } from '../config/schema.ts'
import type { Logger } from '../log.ts'
import type { Audit } from '../metrics/audit-log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { StoredRecord } from '../operations/authorization-record.ts'
import type { LookupName } from '../operations/lookup-name.ts'
import type { OpenName } from '../operations/open-names.ts'
import type { EngineFamily } from '../operations/published/engine-families.ts'
import type { Release } from '../operations/published/releases.ts'
import type { ChangeKind, Operation } from '../operations/table.ts'
import type { AskEngine } from '../request/engine-request.ts'
import type { PublicAddress } from '../request/public-address.ts'
import type { Principal } from '../request/principal.ts'
import type { AccessRequest } from '../request/access-request.ts'
import type { Authenticator } from '../policy/authn/authenticate.ts'
import type { GroundsOf } from '../explain/permit-grounds.ts'
import type { FindPossiblePermits } from '../explain/possible-permits.ts'
import type { Explanation } from '../explain/explanation.ts'
import type { AcceptedHazards } from '../policy/validation/hazards.ts'
import type { SelectCandidateTasks } from '../lists/rewrite/candidate-tasks.ts'
import type { IdentitySource } from '../policy/authn/identity-source.ts'
import type { IsDateText } from '../policy/validation/schemas/engine-error.ts'
import type { DefaultRecords } from '../policy/authz/records/default-records.ts'
import type { ListPermit } from '../lists/answer/decide-list.ts'
import type { CeilingOf } from '../policy/limits/ceiling.ts'
import type { MaxResults } from '../policy/limits/max-results.ts'
import type { CountedRate, TakeRate } from '../policy/limits/rate.ts'
import type { Pressure } from '../policy/limits/pressure.ts'
import type { ForwardedKind } from '../proxy/wire/forwarded.ts'
import type { RequestPolicy } from '../proxy/wire/headers.ts'
import type { PathGuard } from '../proxy/passthrough/path-guard.ts'
import type { OpenWebSockets } from '../proxy/passthrough/open-web-sockets.ts'
import type { ApplicationPlace } from '../proxy/passthrough/response-headers.ts'
import type { ShiftChange, ShiftShares, ShiftState } from '../proxy/nodes/shift.ts'
import type { Upstream } from '../proxy/upstream.ts'
import type { ToolEndpoint } from '../mcp/tool-endpoint.ts'
import type { Traces } from '../traces/traces.ts'
import type { ParkedRequests } from './parked-requests.ts'

export type Mode = 'enforce' | 'report' | 'off'
/** `engine`: the engine decides itself, and the gateway decides only about cached responses. */
export type AuthorizationMode = Mode | 'engine'

/** The distribution of requests between two groups of nodes. */
export interface EngineShift {
  /** The group to which requests are shifted. */
  readonly to: string
  readonly from: string
  readonly state: () => ShiftState
  /** Returns why this process returned all requests. Null if they have not returned, or another process has returned them. */
  readonly finding: () => string | null
  /** Returns the last change, for other processes. */
  readonly lastChange: () => ShiftChange
  /** Applies a change that another process of this gateway knows, if it replaces the state of this process. */
  readonly follow: (change: ShiftChange) => void
  /** Returns why the group `to` gets no requests, whatever its shares are. Null if it may get requests. */
  readonly refusal: () => string | null
  /** Returns the same after a new check of the group, which ends in time for a response of the admin listener. */
  readonly recheck: () => Promise<string | null>
  /** Changes the given shares. Resolves when this process uses them. Replicas that share a Redis use them in under a second. */
  readonly change: (shares: Partial<ShiftShares>) => Promise<void>
  /** Returns whether Redis has the shares of this process, so that all other processes follow them. Null if Redis is not configured. */
  readonly isShared: () => boolean | null
}

/** The dependencies of one engine. */
export interface EngineDependencies {
  readonly name: string
  readonly upstream: Upstream
  readonly authenticator: Authenticator
  /** Operations that need no credentials. */
  readonly open: ReadonlySet<OpenName>
  /** Returns the principal for a user id, or null if there is no such user. */
  readonly principalOf: IdentitySource['principalOf']
  /** Changes whenever other authorization records are in force. Constant if the gateway does not decide by records. */
  readonly recordsVersion: () => number
  /** Identifies the settings, users and records in force, for the audit log. */
  readonly policy: () => string
  /** Returns an authorization record by its id, as last read from the engine. Null if it is not known. */
  readonly recordById: (id: string) => StoredRecord | null
  /**
   * Applies the changes of users and records by a successful write. They are in force when it resolves. `about` is the id of a
   * user. Never rejects.
   */
  readonly changed: (changes: readonly ChangeKind[], about: string) => Promise<void>
  /** Writes the records that a secured engine creates automatically. Null if the records are not those of the engine, or if the engine itself decides. */
  readonly defaultRecords: DefaultRecords | null
  /** The permits of all operations by operationId. */
  readonly permits: Pick<ReadonlyMap<string, ListPermit>, 'get'>
  /**
   * Explains the decision about an operation.
   * @throws GatewayError if a lookup fails
   */
  readonly explain: (permit: ListPermit, accessRequest: AccessRequest) => Promise<Explanation>
  /** Returns why the checks of a permitted request have passed. */
  readonly groundsOf: GroundsOf
  readonly findPossiblePermits: FindPossiblePermits
  /**
   * Returns the deployment of the definition that the path names, or null if it is unknown. The function itself is null if all
   * nodes are equivalent.
   */
  readonly deploymentOf:
    | ((definition: LookupName, accessRequest: AccessRequest) => Promise<string | null>)
    | null
  /** Changes task queries so that their candidate users select the tasks that a secured engine selects for a caller. */
  readonly selectCandidateTasks: SelectCandidateTasks
  /** Counts one request of a user. Null if no user has a limit. */
  readonly takeRate: TakeRate | null
  /** Null if lists may have any number of items. */
  readonly maxResults: MaxResults | null
  readonly authorization: AuthorizationMode
  /** True if the engine knows the caller and decides itself. With the mode `report`, the two decisions are compared. */
  readonly decidesItself: boolean
  /** The results of comparing the responses of two groups of nodes. Null if nothing is compared. */
  readonly compared: Upstream['comparer']
  /** Null if the nodes have no groups. */
  readonly shift: EngineShift | null
  /** Returns the families of the groups of nodes that can get requests. Null: an unknown family. Empty if the nodes have no groups. */
  readonly groupFamilies: () => readonly (EngineFamily | null)[]
  /** Sends requests of the gateway itself. Null if decisions do not ask the engine. */
  readonly ask: AskEngine | null
  readonly validation: Mode
  readonly accepted: AcceptedHazards
  /** The mode of the check for scripts in deployed models. */
  readonly scripts: Mode
  /** Returns whether a text can be a date of this engine. */
  readonly isDateText: IsDateText
  readonly requestPolicy: RequestPolicy
  /** Names, in lower case, of client headers that the configuration forwards in addition. */
  readonly addedRequestHeaders: readonly string[]
  readonly forwarded: ForwardedKind
  /** The family and version, if the configuration names them. The gateway refuses operations that this release lacks. */
  readonly release: Release | null
  /** The path before the API's paths at the nodes: `/engine-rest/engine/default`. */
  readonly remotePrefix: string
}

/** An application behind a prefix, outside the API. */
export interface Application extends ApplicationPlace {
  readonly upstream: Upstream
  readonly requestPolicy: RequestPolicy
  /** `none`: every client that reaches the listener reaches the application. */
  readonly auth: 'gateway' | 'none'
  readonly forwarded: ForwardedKind
  /** Decides which paths are forwarded. */
  readonly guard: PathGuard
  /** Null if the gateway opens no WebSockets for the application. */
  readonly webSockets: OpenWebSockets | null
}

/** The dependencies of the gateway, which src/assembly builds. */
export interface Dependencies {
  readonly config: Config
  readonly operations: readonly Operation[]
  readonly engines: ReadonlyMap<string, EngineDependencies>
  readonly applications: readonly Application[]
  readonly cache: Cache
  /** Null without Redis. A request with an Idempotency-Key is then refused. */
  readonly idempotencyStore: IdempotencyStore | null
  /** Null if the API is not described. */
  readonly apiDocuments: ApiDocuments | null
  /** Returns the address of links in responses. */
  readonly publicAddress: PublicAddress
  /** Returns the most that a caller may do. */
  readonly ceilingOf: CeilingOf
  /** Returns the rate that a rule for ceilings gives to a caller. Null if no rule gives one. */
  readonly ruleRateOf: (caller: Principal) => CountedRate | null
  readonly pressure: Pressure
  /** Requests that wait for tasks. */
  readonly parked: ParkedRequests
  /** The tools for agents. Null if they are not configured. */
  readonly toolEndpoint: ToolEndpoint | null
  readonly metrics: Metrics
  readonly log: Logger
  /** Null if traces are not configured. */
  readonly traces: Traces | null
  /** Writes a line of the audit stream. */
  readonly audit: (audit: Audit) => void
  /** Returns whether the lines of the audit stream can be written now. */
  readonly isAuditWritable: () => boolean
}
