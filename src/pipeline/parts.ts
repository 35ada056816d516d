import type { Cache } from '../cache/cache.ts'
import type { IdempotencyStore } from '../idempotency/idempotency-store.ts'
import type { Config } from '../config/schema.ts'
import type { Logger } from '../log.ts'
import type { Audit } from '../metrics/audit-log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { LookupName } from '../operations/lookup-name.ts'
import type { OpenName } from '../operations/open-names.ts'
import type { Change, Operation } from '../operations/table.ts'
import type { PublicAddress } from '../request/public-address.ts'
import type { AccessRequest } from '../request/access-request.ts'
import type { Authenticator } from '../policy/authn/authenticate.ts'
import type { Explanation } from '../policy/authz/explain/explanation.ts'
import type { HazardRule } from '../operations/hazard-rules.ts'
import type { IdentitySource } from '../policy/authn/identity-source.ts'
import type { IsDateText } from '../policy/validation/schemas/engine-error.ts'
import type { Permit } from '../policy/authz/permit.ts'
import type { TakeRate } from '../policy/limits/rate.ts'
import type { Pressure } from '../policy/limits/pressure.ts'
import type { ForwardedKind } from '../proxy/wire/forwarded.ts'
import type { RequestPolicy } from '../proxy/wire/headers.ts'
import type { ApplicationPlace } from '../proxy/passthrough/answer-headers.ts'
import type { Upstream } from '../proxy/upstream.ts'
import type { Traces } from '../traces/traces.ts'
import type { ParkedRequests } from './parked-requests.ts'

export type Mode = 'enforce' | 'report' | 'off'
/** `engine`: it decides by itself; here only cached answers need a decision. */
export type AuthorizationMode = Mode | 'engine'

/** One engine and all that is kept for it alone. */
export interface EngineParts {
  readonly name: string
  readonly upstream: Upstream
  readonly authenticator: Authenticator
  /** What is answered without credentials. */
  readonly open: ReadonlySet<OpenName>
  /** Who a user would be; null: there is none. */
  readonly principalOf: IdentitySource['principalOf']
  /** Changes whenever other authorization records are in force. Constant where the gateway does not decide by records. */
  readonly recordsVersion: () => number
  /** A write has passed: what it changed of users and records is in force when this resolves; `about` a user. Never rejects. */
  readonly changed: (changes: readonly Change[], about: string) => Promise<void>
  /** By operationId, one for every row of the table. */
  readonly permits: Pick<ReadonlyMap<string, Permit>, 'get'>
  /** What the permit of a row decides, and why. @throws GatewayError when a look-up fails */
  readonly explain: (permit: Permit, accessRequest: AccessRequest) => Promise<Explanation>
  /** The deployment of the definition that the path names; null: there is none. Null where all nodes are alike. */
  readonly deploymentOf:
    | ((definition: LookupName, accessRequest: AccessRequest) => Promise<string | null>)
    | null
  /** One request more of a user; null: none of them has a limit. */
  readonly takeRate: TakeRate | null
  readonly authorization: AuthorizationMode
  readonly validation: Mode
  readonly allowedHazards: ReadonlySet<HazardRule>
  /** Whether a text can be a date of this engine. */
  readonly isDateText: IsDateText
  readonly requestPolicy: RequestPolicy
  /** Names of headers of clients that the configuration adds to those that an engine gets, in lower case. */
  readonly addedRequestHeaders: readonly string[]
  readonly forwarded: ForwardedKind
  /** What stands before the API's paths at its nodes: `/engine-rest/engine/default`. */
  readonly remotePrefix: string
}

/** What stands behind a prefix, and is not the API. */
export interface Application extends ApplicationPlace {
  readonly upstream: Upstream
  readonly requestPolicy: RequestPolicy
  /** `none`: whoever reaches the listener reaches the application. */
  readonly auth: 'gateway' | 'none'
  readonly forwarded: ForwardedKind
}

/** What main.ts builds, and gateway.ts strings together. */
export interface Parts {
  readonly config: Config
  readonly operations: readonly Operation[]
  readonly engines: ReadonlyMap<string, EngineParts>
  readonly applications: readonly Application[]
  readonly cache: Cache
  /** Null without Redis: a request that has an Idempotency-Key cannot be served. */
  readonly idempotencyStore: IdempotencyStore | null
  /** Where links in answers lead. */
  readonly publicAddress: PublicAddress
  readonly pressure: Pressure
  /** Requests that wait for work. */
  readonly parked: ParkedRequests
  readonly metrics: Metrics
  readonly log: Logger
  /** Null: none are configured. */
  readonly traces: Traces | null
  /** Writes a line of the audit stream. */
  readonly audit: (audit: Audit) => void
}
