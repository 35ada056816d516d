import { LRUCache } from 'lru-cache'
import type { Config } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { type Admin, type AdminOptions, createAdmin, type Readiness } from '../metrics/admin-listener.ts'
import { createThrottle } from '../policy/authn/throttle.ts'
import { OPERATIONS } from '../operations/all.ts'
import { EXPLAIN, type ServingProcesses, STATUS } from './questions.ts'
import { type Status, statusOf } from '../status/status.ts'
import { createStatusPage } from '../status/status-page.ts'
import type { Reload, Reloaded } from './reload.ts'
import { createRunningConfig } from './running-config.ts'
import { versionOf } from './version.ts'

interface Operated extends Pick<AdminOptions, 'metrics' | 'readiness'> {
  /** Returns the configuration in force. */
  readonly current: () => Config
  readonly reload: Reload
  readonly processes: ServingProcesses
  readonly log: Logger
}

/** A status is computed at most once in this time, for any number of viewers. */
const STATUS_MS = 1000

/** Opens the admin listener. The gateway may serve in this process or in workers. */
export function openAdmin(
  { host, port, tls }: Pick<Config['admin'], 'host' | 'port' | 'tls'>,
  { current, reload, readiness, processes, ...operated }: Operated,
): Promise<Admin> {
  // All callers share one token. A caller with a wrong token must not slow down callers with the right one.
  const throttle = createThrottle({ slowUserAfter: Infinity })
  const version = versionOf()
  const readinessNow = async () => withConfiguration(await readiness(), reload.isApplied())
  async function readStatus(): Promise<Status> {
    const [statuses, state] = await Promise.all([processes.askEach(STATUS), readinessNow()])
    return statusOf({
      processes: statuses,
      workers: processes.configured,
      readiness: state,
      configuration: reload.status(),
      version,
      mayAsk: current().admin.token !== null,
    })
  }
  const latest = new LRUCache<'status', Status>({ max: 1, ttl: STATUS_MS, fetchMethod: readStatus })
  return createAdmin({
    host,
    port,
    tls,
    ...operated,
    access: () => current().admin,
    configuration: createRunningConfig(current),
    slowGuesses: (address, verify) => throttle.attempt({ user: 'admin', address }, verify),
    explain: async (question) => (await processes.askOne(EXPLAIN, question)) ?? NO_WORKER,
    reload: async () => answerOf(await reload.run('request')),
    readiness: readinessNow,
    status: { page: createStatusPage(OPERATIONS), read: () => latest.fetch('status') },
  })
}

const NO_WORKER = { status: 503, value: { error: 'No worker responds' } }

function answerOf(reloaded: Reloaded) {
  return { status: reloaded.result === 'applied' ? 200 : 422, value: reloaded }
}

/**
 * Adds the state of the configuration file. A refused file does not make the gateway unready: the configuration in force
 * continues to serve.
 */
function withConfiguration({ ready, checks }: Readiness, isApplied: boolean): Readiness {
  const configuration = isApplied ? 'ok' : 'the file was refused; what it said before is in force'
  return { ready, checks: { configuration, ...checks } }
}
