import { setTimeout as wait } from 'node:timers/promises'
import type { OpenRuntime, Runtime, RuntimeDependencies } from '../assembly/runtime.ts'
import type { Config } from '../config/config.ts'
import { createListener, type PublicListener } from './listener.ts'
import { type Logger, setLogReader } from '../log.ts'
import type { Readiness } from '../metrics/admin-listener.ts'
import { openFirstRuntime, type RuntimeReplacement } from './replace-runtime.ts'
import type { ProcessStatus } from '../status/process-status.ts'
import { versionOf } from './version.ts'

/** The request serving of one process: the public socket and the runtime in force. */
export interface ServingProcess {
  readonly current: () => RuntimeDependencies
  /** Replaces the configuration. @throws ConfigError; the current configuration then stays in force */
  readonly replace: (config: Config) => Promise<void>
  /** Reads the files that the configuration in force names. @throws ConfigError if one of them could not be used */
  readonly verify: () => Promise<void>
  /** Answers a question of `explain` in JSON, under the configuration in force. */
  readonly explain: Runtime['explain']
  /** Puts the first runtime in force and reads users and records. */
  readonly begin: () => Promise<void>
  /** Resolves to `http://127.0.0.1:8080`. */
  readonly listen: () => Promise<string>
  readonly serveConnection: PublicListener['serveConnection']
  readonly connectionCounts: PublicListener['connectionCounts']
  readonly readiness: () => Readiness
  readonly status: () => ProcessStatus
  /** Reopens the audit file if it was renamed or removed. */
  readonly reopenAudit: () => Promise<void>
  /** Reports whether the process that reads the lines of this process can write them. */
  readonly setLogReader: (isWritable: boolean) => void
  readonly drainNodes: RuntimeReplacement['drainNodes']
  readonly runningAt: RuntimeReplacement['runningAt']
  /** Refuses new work, lets requests in flight finish, then closes. Resolves at the deadline at the latest. */
  readonly drain: (options?: DrainOptions) => Promise<void>
}

interface DrainOptions {
  /** Closes other resources at the same time. */
  readonly beside?: () => Promise<void>
  /** Resolves when no more connections arrive. Set if another process accepts the connections. */
  readonly lastAccepted?: Promise<void>
}

export interface ServingOptions {
  readonly config: Config
  readonly log: Logger
  readonly open: OpenRuntime
}

/**
 * Builds everything from a configuration. Problems of the configuration are reported before the gateway listens. @throws
 * ConfigError
 */
export async function openServing({ config, log, open }: ServingOptions): Promise<ServingProcess> {
  let draining = false
  const isDraining = () => draining
  const shared = { log, version: versionOf() }
  const replacement = await openFirstRuntime({
    config,
    open: (options) => open({ ...options, ...shared }),
    serve: (handle, upgrades) => listener.serve(handle, upgrades),
    isDraining,
    log,
  })
  const current = () => replacement.current().dependencies
  const { metrics } = current().gateway
  const { handle, upgrades } = replacement.current()
  const listener = createListener(config, { handle, upgrades, metrics, log })
  return {
    current,
    explain: (question) => replacement.current().explain(question),
    replace: replacement.replace,
    verify: replacement.verify,
    begin: async () => {
      current().activate()
      await current().start()
    },
    reopenAudit: replacement.reopenAudit,
    setLogReader: (isWritable) => setLogReader(log, isWritable),
    drainNodes: replacement.drainNodes,
    runningAt: replacement.runningAt,
    listen: () => listener.listen(config.listen),
    serveConnection: listener.serveConnection,
    connectionCounts: listener.connectionCounts,
    status: () => current().questions.status(),
    readiness: () => withDrain(current().questions.readiness(), draining),
    drain: async ({ beside = () => Promise.resolve(), lastAccepted } = {}) => {
      draining = true
      const startedMs = performance.now()
      const { pid } = process
      const deadlineMs = current().gateway.config.timeouts.drain
      log.info({ pid, ...listener.load(), deadlineMs }, 'drain begins')
      const deadline = wait(deadlineMs, undefined, { ref: false })
      replacement.endPolls()
      const cut = await listener.close(deadline, lastAccepted)
      await Promise.race([Promise.all([replacement.close(), beside()]), deadline])
      log.info({ pid, cut, tookMs: Math.round(performance.now() - startedMs) }, 'drain ended')
    },
  }
}

export function withDrain({ ready, checks }: Readiness, isDraining: boolean): Readiness {
  return { ready: ready && !isDraining, checks: { ...checks, drain: isDraining ? 'shutting down' : 'ok' } }
}
