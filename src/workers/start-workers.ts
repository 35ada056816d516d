import { type Config, loadConfig } from '../config/config.ts'
import type { HandoverState, OpenRuntime } from '../assembly/runtime.ts'
import { destinationOf, type Logger, logStateOf } from '../log.ts'
import { addWaitingGauges } from '../metrics/waiting-lines.ts'
import { createDrain } from '../server/drain.ts'
import { openAdmin } from '../server/open-admin.ts'
import { REOPEN_AUDIT } from '../server/questions.ts'
import { createAuditWriter } from '../server/audit-writer.ts'
import { createReload, logWarnings, startEventOf } from '../server/reload.ts'
import { atKey, type RunningGateway, watchConfig } from '../server/running.ts'
import { versionOf } from '../server/version.ts'
import { createPort } from './port.ts'
import { shareLogState } from './share-log-state.ts'
import { shareShifts } from './share-shifts.ts'
import { WorkerPool } from './worker-pool.ts'
import { createFork, type WorkerProcess } from './worker-process.ts'

interface StartWorkersOptions {
  readonly config: Config
  readonly log: Logger
  /** The file from which the configuration is loaded again. */
  readonly file: string
  /** The file that a worker executes. */
  readonly entry: string
  readonly open: OpenRuntime
}

/**
 * Starts several processes. This process is the primary. It serves no requests and hands each connection over to a worker. It owns
 * the admin listener, so that the listener responds even if all workers are busy. Only the primary reads the configuration, so that
 * all workers have the same one. This includes a worker that starts while the file is invalid. @throws ConfigError
 */
export async function startWorkers({
  config,
  log,
  file,
  entry,
  open,
}: StartWorkersOptions): Promise<RunningGateway> {
  const watched = await watchConfig(file, () => void reload.run('file'))
  const check = createCheck(log, open)
  const first = await check(config)
  const { metrics } = first.gateway
  const latest = { warnings: first.questions.warnings }
  const fork = createFork({ entry, write: (lines) => destinationOf(log)?.write(lines) })
  const port = createPort(config, { metrics, log })
  const onListening = (worker: WorkerProcess): void => {
    // Before its first connection. A worker reads its messages in order.
    drain.applyTo(worker.ask)
    void shareShifts(workerPool, worker.ask, log)
    void logState.applyTo(worker.ask)
    port.add(worker)
  }
  const workerPool = new WorkerPool({ config, fork, onListening, metrics, log })
  const drain = createDrain({ processes: workerPool, log })
  const logState = shareLogState(workerPool, log)
  addWaitingGauges(metrics, { log: () => logStateOf(log), audit: () => null })
  const replace = async (next: Config) => {
    const { questions } = await check(next)
    await workerPool.replace(next)
    latest.warnings = questions.warnings
  }
  const audit = createAuditWriter(workerPool, log)
  const reload = createReload({
    file,
    load: () => loadConfig(file),
    current: () => workerPool.config,
    warnings: () => latest.warnings,
    verify: () => check(workerPool.config),
    replace,
    reopenAudit: async () => void (await workerPool.askEach(REOPEN_AUDIT)),
    audit,
    metrics,
    log,
  })
  const admin = await openAdmin(config.admin, {
    current: () => workerPool.config,
    metrics: {
      contentType: metrics.contentType,
      text: () => workerPool.metricsText(),
      cachePurge: metrics.cachePurge,
    },
    readiness: () => workerPool.readiness(),
    processes: workerPool,
    audit,
    reload,
    drain,
    log,
  })
  await workerPool.start()
  await audit(startEventOf(file))
  const address = await atKey('listen', port.listen(config.listen))
  watched.start()
  const { engines, workers } = config
  logWarnings(latest.warnings, log)
  log.info({ address, admin: admin.address, engines: Object.keys(engines), workers }, 'listening')
  return {
    address,
    adminAddress: admin.address,
    reload: () => reload.run('signal'),
    drain: async () => {
      watched.close()
      const startedMs = performance.now()
      const { pid } = process
      const deadlineMs = workerPool.config.timeouts.drain
      log.info({ pid, workers, deadlineMs }, 'drain begins')
      const drained = workerPool.drain()
      await port.close(drained)
      const { killed, failed } = await drained
      logState.close()
      await admin.close()
      log.info({ pid, killed, failed, tookMs: Math.round(performance.now() - startedMs) }, 'drain ended')
      // A worker has reported why, for example lines that were lost.
      return failed > 0 ? 'failed' : undefined
    },
  }
}

/** Returns a function that builds a runtime and closes it again. It finds problems before any worker gets the configuration. */
function createCheck(log: Logger, open: OpenRuntime) {
  // The primary uses the metrics of the first runtime. Later runtimes take them over.
  const first: { handover?: HandoverState } = {}
  return async function check(config: Config) {
    const { dependencies, close } = await open({
      config,
      log,
      version: versionOf(),
      before: first.handover,
    })
    await close()
    first.handover ??= dependencies.handover
    return dependencies
  }
}
