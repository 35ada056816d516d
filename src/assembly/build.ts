import { administratorWarnings } from './administrators.ts'
import { COMPARABLE } from './compared-groups.ts'
import { unknownNameWarnings } from './unknown-names.ts'
import { buildRuleRateOf, openAdmission } from './build-limits.ts'
import { buildApplications, createWebSocketWatch } from './build-applications.ts'
import {
  buildChangeBus,
  buildTurns,
  monotonicMs,
  namespaceOf,
  openStores,
  sharedValuesOf,
} from './build-cache.ts'
import {
  type BuiltEngine,
  buildEngine,
  type EngineOptions,
  hasSameTokens,
  hasSameUsers,
} from './build-engine.ts'
import { type Config, ConfigError } from '../config/config.ts'
import { warningsOf } from '../config/warnings.ts'
import { withForwardedChanges } from './forward-changes.ts'
import { type Logger, logStateOf, setLossListener } from '../log.ts'
import type { StreamLines } from '../log-destination.ts'
import { type AuditStream, openAudit } from '../metrics/audit-log.ts'
import { createMetrics, type Metrics } from '../metrics/registry.ts'
import { addLastAuditLineGauges } from '../metrics/last-audit-line.ts'
import { addWaitingGauges } from '../metrics/waiting-lines.ts'
import { createPublicAddress } from '../request/public-address.ts'
import { OPERATIONS } from '../operations/all.ts'
import { API_WORDS } from '../operations/api-words.ts'
import type { BuildOptions, HandoverState, UserHandoverState, RuntimeDependencies } from './runtime.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { ParkedRequests } from '../pipeline/parked-requests.ts'
import { createPasswords } from '../policy/authn/password.ts'
import { createRememberedTokens } from '../policy/authn/token-memory.ts'
import { createThrottle } from '../policy/authn/throttle.ts'
import { TOKEN_THROTTLE } from '../policy/authn/tokens.ts'
import { createVerificationQueue } from '../policy/authn/verification-queue.ts'
import { askerOf } from './engine-client.ts'
import { connectionChecksOf } from './connection-checks.ts'
import { knownSubjectsOf } from './known-subjects.ts'
import { combined, type Component } from '../component.ts'
import type { Core } from '../feature.ts'
import { FEATURES } from '../features.ts'
import { createGroupGuards } from './group-guard.ts'
import { createModeChecks } from './modes.ts'
import { moveChecksOf } from './move-checks.ts'
import { createSharedShifts } from './shared-shifts.ts'
import { createShiftHandover } from './shift-handover.ts'
import { createShiftGauges } from './shifts.ts'
import { createNodeWatch, drainNodes, endPolls } from './running-nodes.ts'
import { engineStatusOf } from './engine-status.ts'
import { createCeilingOf } from '../policy/limits/ceiling.ts'
import { PRESSURE_KINDS } from '../policy/limits/pressure.ts'
import { createCertificateGauges } from './running-certificates.ts'
import { buildApiDocuments, createApiPreparation, servedOperations } from './build-api-documents.ts'
import {
  buildToolEndpoint,
  createToolPreparation,
  createToolStreamWatch,
  toolProblems,
} from './build-tools.ts'
import { openTraces } from './build-traces.ts'
import { createRunningSources } from './running-sources.ts'
import { PolicyLedger } from './policy-ledger.ts'
import { openSourceFiles } from './source-files.ts'
import { createIssuerKeySets } from './token-issuers.ts'

/** Builds all dependencies of the gateway. @throws ConfigError that names every problem of every file */
export async function build(options: BuildOptions): Promise<RuntimeDependencies> {
  const { config, log, successor = () => null } = options
  const { files, audit, ledger, metrics, changeBus, turns, handover } = await openShared(options)
  const admission = openAdmission({ config, metrics, log }, handover)
  const { traces, ...tracesComponent } = await openTraces(
    { config, metrics, log, version: options.version },
    handover,
  )
  const issuers = createIssuerKeySets(config, log, handover.before?.issuerKeys ?? null)
  const sharedShifts = createSharedShifts({ openValues: sharedValuesOf(config), now: monotonicMs, log })
  const own = { passwords: createPasswords(), issuers, verifications: createVerifications() }
  const shared = {
    config,
    files,
    ledger,
    metrics,
    changeBus,
    sharedShifts,
    turns,
    admission,
    log,
    traces,
    ...own,
    facts: options.facts ?? null,
  }
  const builtEngines = buildEngines(shared, handover.before)
  const engines = new Map(builtEngines.map(({ dependencies }) => [dependencies.name, dependencies]))
  const applications = buildApplications({ config, metrics, log, traces })
  const { stores, ...storesComponent } = openStores({ config, metrics, log }, handover)
  const sources = createRunningSources({
    files,
    changeBus,
    turns,
    issuers,
    engines: sourcesByEngine(builtEngines),
  })
  const engineNodes = builtEngines.map(({ nodes }) => nodes)
  const applicationNodes = applications.map(({ nodes }) => nodes)
  const isReplaced = () => successor() !== null
  const toolEndpoint = await buildToolEndpoint({ config, log, version: options.version, isReplaced })
  const apiDocuments = await buildApiDocuments(config, stores.idempotencyStore !== null)
  const shifts = builtEngines.map(({ nodes }) => ({ name: nodes.engine, shift: nodes.own.shift }))
  // Every part that lives as long as the runtime. They are released in this order: traces before the audit file.
  const components = combined([
    sources,
    createNodeWatch(engineNodes, applicationNodes),
    createWebSocketWatch(applications.map(({ application }) => application)),
    createToolStreamWatch(toolEndpoint),
    createToolPreparation(toolEndpoint),
    createApiPreparation(apiDocuments),
    createCertificateGauges(config, [...engineNodes, ...applicationNodes]),
    ...provisionFeatures(options, builtEngines, metrics),
    createShiftGauges(shifts),
    sharedShifts,
    createShiftHandover(
      shifts.map(({ name, shift }) => ({
        shift,
        former: () => handover.before?.shifts.get(name) ?? null,
      })),
    ),
    createGroupGuards(builtEngines.flatMap(({ guard }) => (guard === null ? [] : [guard]))),
    createModeChecks([...engines.values()]),
    ...builtEngines.map(({ close }) => ({ close })),
    ...applicationNodes.map((nodes) => ({ close: () => nodes.own.close() })),
    storesComponent,
    tracesComponent,
    admission,
    {
      activate: () => {
        addWaitingGauges(metrics, { log: () => logStateOf(log), audit: audit.state })
        addLastAuditLineGauges(metrics, audit.last)
      },
    },
    {
      activate: () => ledger.activate(config.log.audit === 'off' ? null : audit.writeEvent),
      stop: () => ledger.stop(),
      close: () => ledger.settled(),
    },
    { release: audit.close },
  ])
  const { pressure } = admission
  const dependencies: Dependencies = {
    ...stores,
    config,
    operations: servedOperations(config),
    apiDocuments,
    engines,
    applications: applications.map(({ application }) => application),
    publicAddress: createPublicAddress(config),
    ruleRateOf: buildRuleRateOf(config),
    ceilingOf: createCeilingOf(config.limits.ceilings),
    pressure,
    parked: new ParkedRequests(),
    toolEndpoint,
    metrics,
    log,
    traces,
    audit: audit.write,
    isAuditWritable: () => audit.state()?.isWritable ?? true,
  }
  return {
    gateway: withForwardedChanges(dependencies, () => successor()?.gateway ?? null),
    handover: {
      ...stores,
      config,
      metrics,
      traces,
      ledger,
      lastAuditLine: audit.last,
      admission: admission.handoverState,
      users: new Map(builtEngines.map(({ dependencies: { name }, handoverState }) => [name, handoverState])),
      shifts: new Map(shifts.map(({ name, shift }) => [name, shift])),
      issuerKeys: issuers.states,
    },
    questions: {
      warnings: [
        ...warningsOf(config),
        ...administratorWarnings(config, files),
        ...unknownNameWarnings(config, files),
      ],
      readiness: components.readiness,
      missing: sources.missing,
      status: () => ({
        engines: builtEngines.map(engineStatusOf),
        traffic: metrics.traffic(),
        redis: stores.cache.shared,
        pressure: PRESSURE_KINDS.filter(pressure.isOver),
      }),
      subjectsOf: (name) =>
        knownSubjectsOf(
          builtEngines.find(({ dependencies: { name: one } }) => one === name)?.sources ?? null,
        ),
      askerOf: (name) => {
        const nodes = engineNodes.find(({ engine }) => engine === name)
        return nodes === undefined ? null : askerOf(nodes.own)
      },
      connections: () => connectionChecksOf(config, engineNodes, applicationNodes),
      moveChecks: () => moveChecksOf(config, engineNodes),
      reopenAudit: audit.reopen,
      audit: audit.writeEvent,
    },
    start: components.start,
    activate: () => components.activate(metrics),
    endPolls: () => {
      engineNodes.forEach(endPolls)
      toolEndpoint?.streams.drain()
      // The second half of the time is for the requests that were in progress, and for sockets whose clients do not read.
      for (const { application } of applications) application.webSockets?.drain(config.timeouts.drain / 2)
    },
    drainNodes: (drained) => drainNodes(engineNodes, drained, log),
    stop: components.stop,
    close: components.close,
  }
}

/**
 * Creates the limits for signature verification: two at once, and 256 waiting. Node.js has four threads, and hashes, DNS lookups
 * and file reads need them too. A reload resets the count of wrong signatures.
 */
function createVerifications(): EngineOptions['verifications'] {
  return { verificationQueue: createVerificationQueue(2, 256), throttle: createThrottle(TOKEN_THROTTLE) }
}

/**
 * Builds the engines. This is a separate function because the object that `build` returns keeps the variables of its closures
 * alive, and it must not keep `before`.
 */
function buildEngines(
  shared: Omit<EngineOptions, 'name' | 'engineConfig' | 'handoverState' | 'formerShift'>,
  before: HandoverState | null,
): readonly BuiltEngine[] {
  const { config } = shared
  return Object.entries(config.engines).map(([name, engineConfig]) =>
    buildEngine({
      ...shared,
      name,
      engineConfig,
      handoverState: userStateFor(name, config, before),
      formerShift: before?.shifts.get(name) ?? null,
    }),
  )
}

function userStateFor(name: string, config: Config, before: HandoverState | null): UserHandoverState | null {
  if (before === null || !hasSameUsers(name, before.config, config)) return null
  const state = before.users.get(name)
  if (state === undefined) return null
  return hasSameTokens(name, before.config, config) ? state : { ...state, tokens: createRememberedTokens() }
}

/** Opens the resources that all engines share. */
async function openShared({ config, log, version, ...options }: BuildOptions) {
  const { before = null, successor = () => null } = options
  const problems = [...prefixProblems(config), ...operationIdProblems(config), ...toolProblems(config)]
  const ledger = new PolicyLedger(config, before)
  const files = await collect(problems, () =>
    openSourceFiles(config, { log, isServing: before !== null, ledger }),
  )
  const losses: { report: ((lines: StreamLines) => void) | null } = { report: null }
  const onLoss = (lines: StreamLines) => losses.report?.(lines)
  const audit = await collect(problems, () => buildAudit(config, log, before, onLoss))
  if (files === null || audit === null || problems.length > 0) {
    files?.close()
    audit?.close()
    throw new ConfigError('The configuration', problems)
  }
  const metrics = before?.metrics ?? createMetrics({ version })
  // Start the counter at 0. Otherwise the first loss creates the series and is not visible as an increase.
  for (const stream of ['log', 'audit']) metrics.linesLost({ stream }, 0)
  losses.report = (lines) => countLost(metrics, lines)
  setLossListener(log, {
    onLoss: (lines) => countLost(metrics, lines),
    onRecovery: ({ log: lost, audit: lostAuditLines }) => {
      if (lost + lostAuditLines > 0)
        log.warn({ lost, lostAuditLines }, 'log lines were lost; the output could not be written')
    },
  })
  return {
    files,
    audit,
    ledger,
    metrics,
    changeBus: buildChangeBus(config, metrics, log),
    turns: buildTurns(config),
    handover: { before, successor: () => successor()?.handover ?? null },
  }
}

function countLost({ linesLost }: Pick<Metrics, 'linesLost'>, { log, audit }: StreamLines): void {
  if (log > 0) linesLost({ stream: 'log' }, log)
  if (audit > 0) linesLost({ stream: 'audit' }, audit)
}

/** Returns the opened resource, or null after adding lines to `problems`. */
async function collect<T>(problems: string[], open: () => T | Promise<T>): Promise<T | null> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.push(...error.problems)
    return null
  }
}

/** Returns a problem for each prefix below the base path whose first segment is also the first segment of an API path. */
function prefixProblems({ basePath, passthrough }: Config): string[] {
  return passthrough.flatMap(({ prefix }, at) => {
    const isBelow = prefix.toLowerCase().startsWith(`${basePath}/`.toLowerCase())
    const [first = ''] = isBelow ? prefix.slice(basePath.length + 1).split('/') : []
    return API_WORDS.has(first.toLowerCase())
      ? [`passthrough[${at}].prefix: the API has paths below ${basePath}/${first}`]
      : []
  })
}

function operationIdProblems({ engines }: Config): string[] {
  return Object.entries(engines).flatMap(([name, settings]) =>
    (['shift', 'compare'] as const).flatMap((section) =>
      (settings[section]?.operations ?? []).flatMap((id, at) =>
        operationProblemsOf(section, id).map(
          (problem) => `engines.${name}.${section}.operations[${at}]: ${problem}`,
        ),
      ),
    ),
  )
}

function operationProblemsOf(section: 'shift' | 'compare', id: string): readonly string[] {
  if (id === '*') return ['* is no operation: leave out operations to select all']
  if (!OPERATIONS.some((operation) => operation.id === id)) return [`there is no operation ${id}`]
  return section === 'compare' && !COMPARABLE.has(id)
    ? [`the responses of ${id} are never compared: it writes, or its response differs between nodes`]
    : []
}

function sourcesByEngine(
  builtEngines: readonly BuiltEngine[],
): Parameters<typeof createRunningSources>[0]['engines'] {
  return new Map(
    builtEngines.map(({ dependencies: { name, authorization }, sources, issuers }) => [
      name,
      { sources, authorization, issuers },
    ]),
  )
}

function provisionFeatures(
  { features = FEATURES, config, log }: BuildOptions,
  builtEngines: readonly BuiltEngine[],
  metrics: Metrics,
): readonly Component[] {
  const core: Core = {
    config,
    engines: builtEngines.map(({ core: engine }) => engine),
    metrics,
    log,
    namespace: namespaceOf(config),
    now: monotonicMs,
  }
  return features.map(({ provision }) => provision(core))
}

function buildAudit(
  config: Config,
  log: Logger,
  before: HandoverState | null,
  onLoss: (lines: StreamLines) => void,
): AuditStream {
  const to = config.log.audit
  const { key } = config.audit
  try {
    return openAudit({ to, log, key, former: before?.lastAuditLine ?? (() => null), onLoss })
  } catch (cause) {
    throw new ConfigError('The configuration', [`log.audit: ${cause instanceof Error ? cause.message : to}`])
  }
}
