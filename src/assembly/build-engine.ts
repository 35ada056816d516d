import { isDeepStrictEqual } from 'node:util'
import type { Admission, UserHandoverState } from './runtime.ts'
import { monotonicMs } from './build-cache.ts'
import { basePathOf } from '../config/base-path.ts'
import type { ChangeBus } from '../redis/change-bus.ts'
import {
  type AuthorizationConfig,
  type Config,
  type EngineConfig,
  settingsOf,
  tellsCaller,
} from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import { OPERATIONS } from '../operations/all.ts'
import { OWN_OPERATIONS } from '../operations/own-operations.ts'
import { CAMUNDA_PLACES } from '../operations/published/family-members.ts'
import { withSpecificVariablePermissions } from '../operations/variable-permissions.ts'
import { askerOf, bytesReaderOf, readerOf, withoutEngine, withTracedLookUps } from './engine-client.ts'
import type { CoreEngine } from '../feature.ts'
import type { EngineDependencies } from '../pipeline/dependencies.ts'
import { createAuthenticator } from '../policy/authn/authenticate.ts'
import { createRenewals } from '../policy/authn/renewals.ts'
import { createRememberedTokens } from '../policy/authn/token-memory.ts'
import {
  createTokenAuthenticator,
  type TokenAuthenticator,
  type TokensOptions,
} from '../policy/authn/tokens.ts'
import { createFindPossiblePermits, type FindPossiblePermits } from '../explain/possible-permits.ts'
import { createGroundsOf } from '../explain/permit-grounds.ts'
import { createExplainRequest } from '../explain/explain-request.ts'
import { createCaseProbe } from '../lists/facts/case-probe.ts'
import { createSelectCandidateTasks } from '../lists/rewrite/candidate-tasks.ts'
import { compositeOf } from '../policy/authz/checks/references.ts'
import { createFactSources, type EntityFacts } from '../policy/authz/entities/entity-facts.ts'
import { createDefaultRecords, type DefaultRecords } from '../policy/authz/records/default-records.ts'
import { createImplicitGrants, linkBitsOf } from '../policy/authz/entities/implicit-grants.ts'
import { createIsOwn } from '../policy/authz/entities/job-reach.ts'
import { createTenantsOfKey } from '../policy/authz/entities/tenants-of-key.ts'
import { createDefinitionLists } from '../lists/facts/definition-lists.ts'
import { createInstanceLists } from '../lists/facts/instance-lists.ts'
import { createVariableTenants } from '../lists/facts/variable-tenants.ts'
import { createLookUps } from '../policy/authz/entities/lookup.ts'
import type { LookUp, LookUps } from '../policy/authz/entities/look-ups.ts'
import type { Passwords } from '../policy/authn/password.ts'
import { compilePolicies } from '../policy/authz/compile-policies.ts'
import type { OperationPolicy, Policies } from '../policy/authz/operation-policy.ts'
import { createListPermit, type ListPermit, type ListPermitOptions } from '../lists/answer/decide-list.ts'
import { createItemAttributes } from '../lists/facts/item-attributes.ts'
import { createFindCondition } from '../policy/authz/entities/engine-condition.ts'
import { createFindTargets } from '../policy/authz/entities/targets.ts'
import { createMaxResults, type MaxResults } from '../policy/limits/max-results.ts'
import { acceptDateText, isDateText } from '../policy/validation/schemas/jackson.ts'
import { createUpstream, type UpstreamOptions } from '../proxy/create-upstream.ts'
import type { NudgeSettings } from '../proxy/long-polls/create-nudges.ts'
import type { Shift } from '../proxy/nodes/shift.ts'
import type { Upstream } from '../proxy/upstream.ts'
import { type EngineNodes, nodeOptionsOf, probeTimesOf } from './running-nodes.ts'
import { compareOptionsOf } from './compared-groups.ts'
import { createGroupGuard, type GroupGuard } from './group-guard.ts'
import type { SharedShifts } from './shared-shifts.ts'
import { createEngineShift, shiftOptionsOf } from './shifts.ts'
import type { TurnTaker } from '../redis/shared-turns.ts'
import type { PolicyLedger } from './policy-ledger.ts'
import type { SourceFiles } from './source-files.ts'
import { API_REQUEST_HEADERS, API_RESPONSE_HEADERS, withAdded } from '../proxy/wire/allowed-headers.ts'
import type { Traces } from '../traces/traces.ts'
import { claimsOf } from '../policy/limits/ceiling.ts'
import { createDateFormat, type DateFormat } from '../request/date-format.ts'
import { createSources, type EngineSources } from './engine-sources.ts'
import { type IssuerKeySets, type NamedIssuer, trustedIssuersOf } from './token-issuers.ts'

/** The inputs of one engine's dependencies. The last members are shared by all engines. */
export interface EngineOptions {
  readonly name: string
  readonly engineConfig: EngineConfig
  readonly config: Config
  readonly files: SourceFiles
  readonly metrics: Metrics
  readonly ledger: PolicyLedger
  readonly passwords: Passwords
  readonly issuers: IssuerKeySets
  /** Bounds and throttles the verification of token signatures. */
  readonly verifications: Pick<TokensOptions, 'verificationQueue' | 'throttle'>
  readonly changeBus: ChangeBus | null
  /** The shares of the groups, which gateways share. */
  readonly sharedShifts: Pick<SharedShifts, 'add'>
  /** Limits how often nodes are nudged to check their long polls, over all processes. */
  readonly turns: TurnTaker
  readonly admission: Pick<Admission, 'takeRate' | 'pressure'>
  readonly log: Logger
  /** Null if no traces are configured. */
  readonly traces: Traces | null
  /** Entities that decisions use instead of those of the engine. Null if decisions look up the entities at the engine. */
  readonly facts: EntityFacts | null
  /** State about the same users that the previous configuration collected. Null if there is nothing to take over. */
  readonly handoverState: UserHandoverState | null
  /** The shift under the previous configuration. Null if its nodes had no groups. */
  readonly formerShift: Shift | null
}

export interface BuiltEngine {
  readonly handoverState: UserHandoverState
  readonly dependencies: EngineDependencies
  readonly sources: EngineSources
  /** The issuers whose tokens the engine accepts. */
  readonly issuers: readonly NamedIssuer[]
  readonly nodes: EngineNodes
  /** Null if the nodes have no groups. */
  readonly guard: GroupGuard | null
  readonly core: CoreEngine
  readonly close: () => Promise<void>
}

/** Returns whether the engine knows the caller and decides itself, because the gateway does not enforce its decision. */
function decidesItself(config: Config, engine: EngineConfig): boolean {
  return settingsOf(config, engine).authorization.mode !== 'enforce' && tellsCaller(engine)
}

/** Builds everything that belongs to one engine only. */
export function buildEngine(options: EngineOptions): BuiltEngine {
  const { name, engineConfig, config, metrics } = options
  const { identity, authorization, validation, health } = settingsOf(config, engineConfig)
  const { credentials, host, forwarded, deploymentAware, requestHeaders } = engineConfig
  const dateFormat = createDateFormat(engineConfig.dateFormat)
  const upstream = buildUpstream(options, dateFormat)
  const own = ownUpstreamOf(options, upstream)
  const guard = createGroupGuard(options, own)
  const version = options.handoverState?.version ?? { current: {} }
  const sources = buildSources(options, own, version)
  const permit = permitOptionsOf(
    {
      own,
      sources,
      dateFormat,
      takesTokens: identity.tokens !== null,
      onUnreadable: createOnUnreadable(options),
      facts: options.facts,
    },
    authorization,
    config,
  )
  const policies = policiesFor(authorization)
  const tokens = options.handoverState?.tokens ?? createRememberedTokens()
  const renewals = createRenewals({
    lastGoodMs: identity.staleAfter,
    onResult: (result) => metrics.renewal({ engine: name, result }),
  })
  const authenticator = createAuthenticator({
    engine: name,
    source: sources.identity,
    ttlMs: identity.remember,
    failureTtlMs: identity.rememberFailures,
    throttle: sources.throttle,
    renewals,
    tokens: buildTokens(options, { sources, renewals, remembered: tokens }),
    handoverState: options.handoverState,
    onResult: (result, method) => metrics.authentication({ engine: name, result, method }),
  })
  const dependencies: EngineDependencies = {
    name,
    upstream,
    authenticator,
    open: new Set(identity.open),
    principalOf: sources.identity.principalOf,
    recordsVersion: authorization.mode === 'enforce' ? sources.recordsVersion : () => 0,
    recordById: sources.records.byId,
    policy: () => options.ledger.policyOf(name),
    changed: sources.changed,
    defaultRecords: buildDefaultRecords(options, own),
    permits: permitsOf(permit, policies),
    explain: createExplainRequest(permit),
    groundsOf: createGroundsOf(permit, sources.records.locate),
    findPossiblePermits: findPossiblePermitsOf(options, { permit, policies, sources }),
    selectCandidateTasks: createSelectCandidateTasks({ ...permit, read: readerOf(own) }),
    deploymentOf: deploymentAware ? createDeploymentOf(permit.lookUp) : null,
    takeRate: options.admission.takeRate(name, engineConfig),
    maxResults: buildMaxResults(settingsOf(config, engineConfig)),
    authorization: authorization.mode,
    compared: upstream.comparer,
    shift: createEngineShift(name, { shift: upstream.shift, guard, sharedShifts: options.sharedShifts }),
    groupFamilies: () => guard?.families() ?? [],
    ask: options.facts === null ? askerOf(own) : null,
    decidesItself: decidesItself(config, engineConfig),
    validation: validation.mode,
    accepted: {
      allowedHazards: new Set(validation.allow),
      allowedExpressions: new Set(validation.expressions.flatMap((text) => [`\${${text}}`, `#{${text}}`])),
    },
    scripts: scriptsModeOf(validation),
    requestPolicy: { credentials, host, requestHeaders: withAdded(API_REQUEST_HEADERS, requestHeaders) },
    addedRequestHeaders: requestHeaders,
    forwarded,
    isDateText: dateTextCheckFor(dateFormat),
    release: engineConfig.release,
    remotePrefix: remotePrefixOf(engineConfig),
  }
  return {
    dependencies,
    issuers: (identity.tokens?.issuers ?? []).map((setting) => ({
      name: setting.name,
      keys: options.issuers.of(setting),
    })),
    handoverState: { ...authenticator.handoverState, version, tokens },
    sources: withUpstreamMessages(sources, upstream),
    nodes: { engine: name, own, probes: probeTimesOf(health, deploymentAware), deploymentAware },
    guard,
    core: { name, config: engineConfig, ask: askerOf(own), dateFormat },
    close: () => upstream.close(),
  }
}

function findPossiblePermitsOf(
  { config, engineConfig }: EngineOptions,
  { permit, policies, sources }: EngineDecisions,
): FindPossiblePermits {
  const { identity, authorization } = settingsOf(config, engineConfig)
  const { implied, specificVariablePermissions: specificVariables } = authorization
  const { taskPermission } = implied
  const linkBits = implied.tasks ? linkBitsOf({ taskPermission, specificVariables }) : 0
  const open = new Set(identity.open)
  return createFindPossiblePermits({
    policies,
    release: engineConfig.release,
    isEnforced: authorization.mode === 'enforce',
    isOpen: (operation) => operation.open !== undefined && open.has(operation.open),
    subjectOf: async (principal) => {
      const { adminGroups, adminUsers, checksTenants, impliesIdentity, impliesFilters = false } = permit
      const records = permit.records()
      const hasCases = (await permit.caseKeys())?.length !== 0
      return {
        principal,
        records,
        adminGroups,
        adminUsers,
        checksTenants,
        impliesIdentity,
        impliesFilters,
        linkBits,
        hasCases,
      }
    },
    recordsVersion: sources.recordsVersion,
  })
}

interface EngineDecisions {
  readonly permit: ListPermitOptions
  readonly policies: Policies
  readonly sources: EngineSources
}

/** Returns the upstream of the gateway's own requests. */
function ownUpstreamOf(
  { engineConfig: { service }, traces, facts }: EngineOptions,
  upstream: Upstream,
): Upstream {
  const served = service === undefined ? upstream : upstream.withCredentials(service)
  const traced = traces === null ? served : withTracedLookUps(served, traces)
  return facts === null ? traced : withoutEngine(traced)
}

/**
 * The compiled policies for both values of `specificVariablePermissions`. They are compiled once and shared by all engines. A
 * mistake in the table stops the process here.
 */
const POLICIES = {
  general: compilePolicies([...OPERATIONS, ...OWN_OPERATIONS]),
  specific: compilePolicies([...OPERATIONS.map(withSpecificVariablePermissions), ...OWN_OPERATIONS]),
} as const

/** Returns the compiled policies for the settings of an engine. */
export function policiesFor({
  specificVariablePermissions,
}: Pick<AuthorizationConfig, 'specificVariablePermissions'>): Policies {
  return specificVariablePermissions ? POLICIES.specific : POLICIES.general
}

/** Dates are checked in the default format only. With another format the engine checks them itself. */
function dateTextCheckFor({ isDefault }: DateFormat): EngineDependencies['isDateText'] {
  return isDefault ? isDateText : acceptDateText
}

/** Creates each permit when it is first needed: hundreds of engines would have a hundred thousand of them. */
function permitsOf(options: ListPermitOptions, policies: Policies): EngineDependencies['permits'] {
  const permits = new Map<string, ListPermit>()
  const create = (policy: OperationPolicy): ListPermit => {
    const permit = createListPermit(policy, options)
    permits.set(policy.operation.id, permit)
    return permit
  }
  return {
    get: (id) => {
      const policy = policies.get(id)
      return policy === undefined ? undefined : (permits.get(id) ?? create(policy))
    },
  }
}

function buildSources(
  { name, engineConfig, config, files, ledger, passwords, changeBus, log }: EngineOptions,
  own: Upstream,
  version: UserHandoverState['version'],
): EngineSources {
  return createSources({
    version,
    ...settingsOf(config, engineConfig),
    engine: name,
    files,
    ledger,
    ask: askerOf(own),
    passwords,
    publish: (topic, about) => changeBus?.publish(`${name} ${topic}`, about) ?? Promise.resolve(),
    log,
  })
}

/** Returns null if the gateway does not decide by the engine's records, or if the engine writes these records itself. */
function buildDefaultRecords(
  { name, engineConfig, config, metrics, facts, log }: EngineOptions,
  own: Upstream,
): DefaultRecords | null {
  const { mode, records } = settingsOf(config, engineConfig).authorization
  const isDecidedHere = (mode === 'enforce' || mode === 'report') && !decidesItself(config, engineConfig)
  if (records.source !== 'engine' || !isDecidedHere || facts !== null) return null
  return createDefaultRecords({
    ask: askerOf(own),
    onResult: (result, problem) => {
      metrics.defaultRecord({ engine: name, result })
      if (problem !== null)
        log.warn({ engine: name, problem }, 'default authorization record not written or removed')
    },
  })
}

/** Returns the mode of the check for scripts in deployed models. It is never stricter than the mode of validation. */
function scriptsModeOf({ mode, scripts }: Config['validation']): EngineDependencies['scripts'] {
  if (mode === 'off' || scripts === 'off') return 'off'
  return mode === 'enforce' && scripts === 'refuse' ? 'enforce' : 'report'
}

/** Returns null if lists may have any number of items. */
function buildMaxResults({ maxResults }: ReturnType<typeof settingsOf>): MaxResults | null {
  return maxResults === null ? null : createMaxResults(maxResults)
}

/** Returns null if bearer tokens are not accepted. */
function buildTokens(
  { name, engineConfig, config, metrics, issuers, verifications }: EngineOptions,
  {
    sources: { identity: source },
    ...memory
  }: { readonly sources: EngineSources } & Pick<TokensOptions, 'renewals' | 'remembered'>,
): TokenAuthenticator | null {
  const { remember, rememberFailures, tokens } = settingsOf(config, engineConfig).identity
  if (tokens === null) return null
  return createTokenAuthenticator({
    engine: name,
    issuers: trustedIssuersOf(tokens, issuers, claimsOf(config.limits.ceilings)),
    source,
    ...memory,
    rememberMs: tokens.remember,
    rememberSourceMs: remember,
    rememberFailuresMs: rememberFailures,
    ...verifications,
    onResult: (result, method) => metrics.authentication({ engine: name, result, method }),
  })
}

function createDeploymentOf(lookUp: LookUp): NonNullable<EngineDependencies['deploymentOf']> {
  return async (definition, accessRequest) => {
    const attributes = await lookUp(
      definition,
      compositeOf(definition, accessRequest) ?? accessRequest.params['id'] ?? '',
    )
    return attributes?.['deploymentId'] ?? null
  }
}

function remotePrefixOf({ nodes, remoteName }: EngineConfig): string {
  const base = basePathOf(nodes[0]?.url ?? '')
  return remoteName === undefined ? base : `${base}/engine/${encodeURIComponent(remoteName)}`
}

/** Number of process instance ids that are remembered, for all engines together: about 25 MB. */
const REMEMBERED_INSTANCES = 400_000

function createOnUnreadable({ name, log }: EngineOptions): (definitionId: string) => void {
  return (processDefinitionId) =>
    log.warn(
      { engine: name, processDefinitionId },
      'the model of a process definition cannot be read: a caller who sends a message, signal or condition that may start it needs the permission to start it. Deploy the model again in UTF-8 without a DOCTYPE',
    )
}

interface PermitSources {
  readonly own: Upstream
  readonly sources: EngineSources
  readonly dateFormat: DateFormat
  readonly takesTokens: boolean
  readonly onUnreadable: (definitionId: string) => void
  readonly facts: EntityFacts | null
}

/**
 * Finds a user of the source. If the engine accepts tokens, a name that the source does not list may belong to a user that exists only
 * in tokens.
 */
function principalFinderOf(
  { principalOf }: EngineSources['identity'],
  takesTokens: boolean,
): ListPermitOptions['principalOf'] {
  if (!takesTokens) return principalOf
  return async (userId) => (await principalOf(userId)) ?? { userId, groups: [], tenants: [] }
}

function permitOptionsOf(
  { own, sources: { records, identity }, dateFormat, takesTokens, onUnreadable, facts }: PermitSources,
  {
    adminGroups,
    adminUsers,
    tenants,
    implied,
    specificVariablePermissions,
    records: { source },
  }: AuthorizationConfig,
  { limits, engines }: Config,
): ListPermitOptions {
  const read = readerOf(own)
  const settings = { taskPermission: implied.taskPermission, specificVariables: specificVariablePermissions }
  const known = facts === null ? null : createFactSources(facts, linkBitsOf(settings))
  const lookUps: LookUps = known ?? createLookUps({ read })
  const definitionLists = createDefinitionLists({ read, nowMs: monotonicMs })
  return {
    records: records.current,
    adminGroups,
    adminUsers,
    lookUp: lookUps.lookUp,
    lookUpAll: lookUps.lookUpAll,
    ...definitionLists,
    ...createInstanceLists({
      read,
      dateFormat,
      nowMs: monotonicMs,
      maxRemembered: Math.floor(REMEMBERED_INSTANCES / Object.keys(engines).length),
    }),
    ...createVariableTenants(read, definitionLists),
    limits,
    dateFormat,
    findTargets: createFindTargets({
      read,
      readBytes: bytesReaderOf(own),
      onUnreadable,
      lookUp: lookUps.lookUp,
      lookUpAll: lookUps.lookUpAll,
      dateFormat,
      maxNamed: limits.scannedItems,
    }),
    tenantsOfKey: known?.tenantsOfKey ?? createTenantsOfKey(read),
    isOwn: createIsOwn({ read, lookUp: lookUps.lookUp }),
    findCondition: createFindCondition({ read, ask: askerOf(own) }),
    readItemAttributes: createItemAttributes(lookUps),
    caseKeys: known?.caseKeys ?? createCaseProbe(read, monotonicMs),
    implicitGrants: implied.tasks ? (known?.implicitGrants ?? createImplicitGrants(read, settings)) : null,
    impliesIdentity: implied.identity,
    // The records of an engine have the permissions of owners: see `buildDefaultRecords`.
    impliesFilters: implied.filters && source === 'file',
    groupsOf: identity.groupsOf,
    principalOf: principalFinderOf(identity, takesTokens),
    checksTenants: tenants === 'check',
  }
}

function buildUpstream(options: EngineOptions, dateFormat: DateFormat): Upstream {
  const { name, engineConfig, config, metrics } = options
  const { nodes, balancing, remoteName, host, credentials, service, tls, responseHeaders, present } =
    engineConfig
  const { maxHold, perNode, waiting } = config.limits.longPolls
  return createUpstream({
    nodes,
    balancing,
    remoteName,
    credentials,
    host,
    responsePolicy: {
      names: withAdded(API_RESPONSE_HEADERS, responseHeaders),
      restrictsContent: !settingsOf(config, engineConfig).validation.allow.includes('active-content'),
      onRestricted: () => metrics.responseRestricted({ engine: name, rule: 'active-content' }),
    },
    tls,
    renamed: present === null ? undefined : CAMUNDA_PLACES,
    dateFormat,
    share: shareOptionsOf(options),
    compare: compareOptionsOf(name, options, options.admission.pressure),
    shift: shiftOptionsOf(name, engineConfig, options),
    ...nodeOptionsOf(name, options),
    health: settingsOf(config, engineConfig).health,
    polls: {
      maxHoldMs: maxHold,
      perNode,
      waiting,
      unlockAs: service ?? credentials,
      onEnd: (reason) => metrics.pollEnded({ engine: name, reason }),
      onUnlock: (result) => metrics.pollUnlocked({ engine: name, result }),
      nudges: nudgeSettingsOf(options),
    },
  })
}

/** Returns undefined if each count is sent. */
function shareOptionsOf({ name, config, metrics }: EngineOptions): UpstreamOptions['share'] {
  const { counts } = config.cache
  if (!counts) return undefined
  return { onResult: (result) => metrics.sharedCount({ engine: name, result }) }
}

/** Returns undefined if nodes are not nudged. */
function nudgeSettingsOf({
  name,
  config,
  metrics,
  turns,
  changeBus,
}: EngineOptions): NudgeSettings | undefined {
  const { nudge } = config.limits.longPolls
  if (nudge === false) return undefined
  return {
    everyMs: nudge.every,
    turns: { ...turns, take: (node, leastMs) => turns.take(`${name} ${node}`, leastMs) },
    announce: (node) => void changeBus?.publish(`${name} ${WRITTEN}`, node),
    onNudge: (result) => metrics.pollNudge({ engine: name, result }),
  }
}

/** The topic of messages to other gateways which say that a node may have new external tasks. */
const WRITTEN = 'written'

/** Returns the sources of an engine, extended so that messages about writes go to the engine's nodes. */
function withUpstreamMessages(sources: EngineSources, upstream: Upstream): EngineSources {
  return {
    ...sources,
    applyChange: (topic, about) => {
      if (topic === WRITTEN) upstream.writtenElsewhere(about)
      else sources.applyChange(topic, about)
    },
  }
}

/**
 * Returns whether an engine accepts the same tokens under both configurations, and needs the same claims of them. If not, remembered
 * tokens are discarded.
 */
export function hasSameTokens(name: string, before: Config, after: Config): boolean {
  const [one, other] = [before, after].map((config) => {
    const own = config.engines[name]
    if (own === undefined) return null
    return { tokens: settingsOf(config, own).identity.tokens, claims: claimsOf(config.limits.ceilings) }
  })
  return isDeepStrictEqual(one, other)
}

/**
 * Returns whether an engine's users come from the same source. Remembered users of a file stay valid as long as their entries in
 * the file do not change.
 */
export function hasSameUsers(name: string, before: Config, after: Config): boolean {
  const [one, other] = [before, after].map((config) => usersSettingOf(name, config))
  return one !== undefined && one !== null && isDeepStrictEqual(one, other)
}

function usersSettingOf(name: string, config: Config) {
  const own = config.engines[name]
  if (own === undefined) return null
  const { identity } = settingsOf(config, own)
  if (identity.source !== 'engine') return { source: identity.source }
  const { nodes, remoteName, host, credentials, service } = own
  const { source, failures, pause } = identity
  return {
    source,
    failures,
    pause,
    nodes: nodes.map(({ url }) => url),
    remoteName,
    host,
    credentials,
    service,
  }
}
