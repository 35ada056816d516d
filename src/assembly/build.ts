import { administratorWarnings } from './administrators.ts'
import { openAdmission } from './build-limits.ts'
import { buildApplications } from './build-applications.ts'
import { buildChangeBus, buildTurns, openStores } from './build-cache.ts'
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
import { setLossListener, type Logger } from '../log.ts'
import { type AuditStream, openAudit } from '../metrics/audit-log.ts'
import { createMetrics } from '../metrics/registry.ts'
import { createPublicAddress } from '../request/public-address.ts'
import { OPERATIONS } from '../operations/all.ts'
import type { BuildOptions, UserHandoverState, RuntimeDependencies } from './runtime.ts'
import { ParkedRequests } from '../pipeline/parked-requests.ts'
import { createPasswords } from '../policy/authn/password.ts'
import { createRememberedTokens } from '../policy/authn/token-memory.ts'
import { createThrottle } from '../policy/authn/throttle.ts'
import { TOKEN_THROTTLE } from '../policy/authn/tokens.ts'
import { createVerificationQueue } from '../policy/authn/verification-queue.ts'
import { connectionChecksOf } from './connection-checks.ts'
import { knownSubjectsOf } from './known-subjects.ts'
import { combined } from './component.ts'
import { createModeChecks } from './modes.ts'
import { createNodeWatch, endPolls } from './running-nodes.ts'
import { createEngineGauges, type GaugedEngine } from './running-gauges.ts'
import { engineStatusOf } from './engine-status.ts'
import { PRESSURE_KINDS } from '../policy/limits/pressure.ts'
import { createCertificateGauges } from './running-certificates.ts'
import { openTraces } from './build-traces.ts'
import { createRunningSources } from './running-sources.ts'
import { openSourceFiles } from './source-files.ts'
import { createIssuerKeySets } from './token-issuers.ts'

/** Builds all dependencies of the gateway. @throws ConfigError that names every problem of every file */
export async function build(options: BuildOptions): Promise<RuntimeDependencies> {
  const { config, log, predecessor } = options
  const { files, audit, metrics, changeBus, turns, admission } = await openShared(options)
  const { traces, ...takenTraces } = await openTraces(
    { config, metrics, log, version: options.version },
    predecessor === undefined ? null : { config: predecessor.config, traces: predecessor.parts.traces },
  )
  const issuers = createIssuerKeySets(config, log, predecessor?.issuerKeyStates ?? null)
  const own = { passwords: createPasswords(), issuers, verifications: createVerifications() }
  const shared = { config, files, metrics, changeBus, turns, admission, log, traces, ...own }
  const builtEngines = buildEngines(shared, predecessor)
  const engines = new Map(builtEngines.map(({ parts }) => [parts.name, parts]))
  const applications = buildApplications({ config, metrics, log, traces })
  const { stores, ...taken } = openStores({ config, metrics, log }, predecessor ?? null)
  const sources = createRunningSources({
    files,
    changeBus,
    turns,
    issuers,
    engines: sourcesByEngine(builtEngines),
  })
  const engineNodes = builtEngines.map(({ nodes }) => nodes)
  const applicationNodes = applications.map(({ nodes }) => nodes)
  const running = combined([
    sources,
    createNodeWatch(engineNodes, applicationNodes),
    createCertificateGauges(config, [...engineNodes, ...applicationNodes]),
    createEngineGauges(gaugedEnginesOf(builtEngines), { config, metrics, log }),
    createModeChecks([...engines.values()]),
  ])
  let successor: (() => RuntimeDependencies) | null = null
  const { pressure } = admission
  const publicAddress = createPublicAddress(config)
  const ofRequests = {
    ...stores,
    config,
    engines,
    applications: applications.map(({ application }) => application),
    publicAddress,
    pressure,
    parked: new ParkedRequests(),
    metrics,
    log,
    traces,
    audit: audit.write,
  }
  return {
    config,
    parts: withForwardedChanges({ ...ofRequests, operations: OPERATIONS }, () => successor?.().parts ?? null),
    warnings: [...warningsOf(config), ...administratorWarnings(config, files)],
    cache: stores.cache,
    admission,
    userStates: new Map(builtEngines.map(({ parts, handoverState: kept }) => [parts.name, kept])),
    issuerKeyStates: issuers.states,
    start: running.start,
    readiness: running.readiness,
    missing: sources.missing,
    status: () => ({
      engines: builtEngines.map(engineStatusOf),
      traffic: metrics.traffic(),
      redis: stores.cache.shared,
      pressure: PRESSURE_KINDS.filter(pressure.isOver),
    }),
    subjectsOf: (name) =>
      knownSubjectsOf(builtEngines.find(({ parts }) => parts.name === name)?.sources ?? null),
    connections: () => connectionChecksOf(config, engineNodes, applicationNodes),
    activate: () => {
      taken.activate()
      takenTraces.activate()
      admission.activate()
      running.gauges(metrics)
    },
    forwardTo: (to) => {
      successor = to
    },
    stop: running.close,
    reopenAudit: audit.reopen,
    endPolls: () => engineNodes.forEach(endPolls),
    close: async () => {
      running.close()
      const closing = builtEngines.map(({ close }) => close())
      const closingApplications = applications.map(({ nodes }) => nodes.own.close())
      await Promise.all([
        takenTraces.flush(),
        taken.close(successor?.().cache),
        ...closing,
        ...closingApplications,
      ])
      await takenTraces.close(successor?.().parts.traces)
      admission.close(successor !== null)
      audit.close()
    },
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
 * alive, and it must not keep `predecessor`.
 */
function buildEngines(
  shared: Omit<EngineOptions, 'name' | 'engineConfig' | 'handoverState'>,
  predecessor: BuildOptions['predecessor'],
): readonly BuiltEngine[] {
  const { config } = shared
  return Object.entries(config.engines).map(([name, engineConfig]) =>
    buildEngine({ ...shared, name, engineConfig, handoverState: userStateFor(name, config, predecessor) }),
  )
}

function userStateFor(
  name: string,
  config: Config,
  predecessor: BuildOptions['predecessor'],
): UserHandoverState | null {
  if (predecessor === undefined || !hasSameUsers(name, predecessor.config, config)) return null
  const kept = predecessor.userStates.get(name)
  if (kept === undefined) return null
  return hasSameTokens(name, predecessor.config, config)
    ? kept
    : { ...kept, tokens: createRememberedTokens() }
}

/** Opens the resources that all engines share. */
async function openShared({ config, log, version, predecessor }: BuildOptions) {
  const problems = prefixProblems(config)
  const files = await collect(problems, () => openSourceFiles(config, log))
  const losses: { report: ((lines: number) => void) | null } = { report: null }
  const onLoss = (lines: number) => losses.report?.(lines)
  const audit = await collect(problems, () => buildAudit(config, log, onLoss))
  if (files === null || audit === null || problems.length > 0) {
    files?.close()
    audit?.close()
    throw new ConfigError('The configuration', problems)
  }
  const metrics = predecessor?.parts.metrics ?? createMetrics({ version })
  // Start the counter at 0. Otherwise the first loss creates the series and is not visible as an increase.
  for (const stream of ['log', 'audit']) metrics.linesLost({ stream }, 0)
  losses.report = (lines) => metrics.linesLost({ stream: 'audit' }, lines)
  setLossListener(log, {
    onLoss: (lines) => metrics.linesLost({ stream: 'log' }, lines),
    onRecovery: (lost) => log.warn({ lost }, 'log lines were lost; the output could not be written'),
  })
  const admission = openAdmission({ config, metrics, log }, predecessor?.admission.handoverState ?? null)
  return {
    files,
    audit,
    metrics,
    changeBus: buildChangeBus(config, log),
    turns: buildTurns(config),
    admission,
  }
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
  const apiSegments = new Set(['engine', ...OPERATIONS.map(({ template }) => template.split('/')[1])])
  return passthrough.flatMap(({ prefix }, at) => {
    const isBelow = prefix.toLowerCase().startsWith(`${basePath}/`.toLowerCase())
    const [first = ''] = isBelow ? prefix.slice(basePath.length + 1).split('/') : []
    return apiSegments.has(first)
      ? [`passthrough[${at}].prefix: the API has paths below ${basePath}/${first}`]
      : []
  })
}

function sourcesByEngine(
  builtEngines: readonly BuiltEngine[],
): Parameters<typeof createRunningSources>[0]['engines'] {
  return new Map(
    builtEngines.map(({ parts: { name, authorization }, sources, issuers }) => [
      name,
      { sources, authorization, issuers },
    ]),
  )
}

/** Returns the engines for which gauges are configured. */
function gaugedEnginesOf(builtEngines: readonly BuiltEngine[]): readonly GaugedEngine[] {
  return builtEngines.flatMap(({ nodes: { engine, own }, gauges, dateFormat }) =>
    gauges === null ? [] : [{ engine, own, gauges, dateFormat }],
  )
}

function buildAudit(config: Config, log: Logger, onLoss: (lines: number) => void): AuditStream {
  const to = config.log.audit
  try {
    return openAudit({ to, log, onLoss })
  } catch (cause) {
    throw new ConfigError('The configuration', [`log.audit: ${cause instanceof Error ? cause.message : to}`])
  }
}
