import { type Config, loadConfig } from '../config/config.ts'
import { openGeneration } from '../server/runtime.ts'
import { destinationOf, type Logger } from '../log.ts'
import { openAdmin } from '../server/open-admin.ts'
import { createReload, logWarnings } from '../server/reload.ts'
import { type Running, watchConfig } from '../server/start.ts'
import { versionOf } from '../server/version.ts'
import { Crew } from './worker-pool.ts'
import { createFork } from './worker-process.ts'

interface StartOptions {
  readonly config: Config
  readonly log: Logger
  /** Where the configuration is read anew. */
  readonly file: string
  /** What a worker runs. */
  readonly entry: string
}

/**
 * Several processes. This one, the primary, serves nobody: it owns the admin listener, so that it answers however busy
 * the workers are, and it alone reads the configuration: what it sends is the same for all, also for one that starts
 * while the file holds a mistake. @throws ConfigError
 */
export async function startWorkers({ config, log, file, entry }: StartOptions): Promise<Running> {
  const watched = await watchConfig(file, () => void reload.run('file'))
  const check = createCheck(log)
  const { metrics } = (await check(config)).parts
  const fork = createFork({ entry, write: (lines) => destinationOf(log)?.write(lines) })
  const crew = new Crew({ config, fork, metrics, log })
  const replace = async (next: Config) => {
    await check(next)
    await crew.replace(next)
  }
  const reload = createReload({
    load: () => loadConfig(file),
    current: () => crew.config,
    replace,
    metrics,
    log,
  })
  const admin = await openAdmin(config.admin, {
    access: () => crew.config.admin,
    metrics: { contentType: metrics.contentType, text: () => crew.metricsText() },
    readiness: () => crew.readiness(),
    explain: (question) => crew.explain(question),
    reload,
    log,
  })
  const address = await crew.start()
  watched.start()
  const { engines, workers } = config
  logWarnings(config, log)
  log.info({ address, admin: admin.address, engines: Object.keys(engines), workers }, 'listening')
  return {
    address,
    adminAddress: admin.address,
    reload: () => reload.run('signal'),
    drain: async () => {
      watched.close()
      const startedMs = performance.now()
      const { pid } = process
      const deadlineMs = crew.config.timeouts.drain
      log.info({ pid, workers, deadlineMs }, 'drain begins')
      const killed = await crew.drain()
      await admin.close()
      log.info({ pid, killed, tookMs: Math.round(performance.now() - startedMs) }, 'drain ended')
    },
  }
}

/** Builds what a worker would build, and lets it go: a mistake is found before any worker hears of it. */
function createCheck(log: Logger) {
  // The metrics of the first one are those of this process.
  const before: { built?: Awaited<ReturnType<typeof openGeneration>>['built'] } = {}
  return async function check(config: Config) {
    const { built, close } = await openGeneration({
      config,
      log,
      version: versionOf(),
      ...(before.built === undefined ? {} : { before: before.built }),
    })
    await close()
    before.built ??= built
    return built
  }
}
