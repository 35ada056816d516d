import { LRUCache } from 'lru-cache'
import type { Config } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { type Admin, type AdminOptions, createAdmin, type Readiness } from '../metrics/admin-listener.ts'
import { createThrottle } from '../policy/authn/throttle.ts'
import { OPERATIONS } from '../operations/all.ts'
import type { ProcessStatus } from '../status/process-status.ts'
import { type Status, statusOf } from '../status/status.ts'
import { createStatusPage } from '../status/status-page.ts'
import type { Reload, Reloaded } from './reload.ts'
import { createRunningConfig } from './running-config.ts'
import { versionOf } from './version.ts'

interface Operated extends Pick<AdminOptions, 'metrics' | 'readiness' | 'explain'> {
  /** The configuration in force. */
  readonly current: () => Config
  readonly reload: Reload
  /** Those of the processes that serve, and how many there should be. */
  readonly processes: () => Promise<{
    readonly statuses: readonly ProcessStatus[]
    readonly configured: number
  }>
  readonly log: Logger
}

/** However many look, a status is made once in this time. */
const STATUS_MS = 1000

/** The admin listener before what serves, be it in this process or in others. */
export function openAdmin(
  { host, port, tls }: Pick<Config['admin'], 'host' | 'port' | 'tls'>,
  { current, reload, readiness, processes, ...operated }: Operated,
): Promise<Admin> {
  // There is one token for all: wrong ones of others must not delay those who have it.
  const throttle = createThrottle({ slowUserAfter: Infinity })
  const version = versionOf()
  const readinessNow = async () => withConfiguration(await readiness(), reload.isApplied())
  async function readStatus(): Promise<Status> {
    const [{ statuses, configured }, state] = await Promise.all([processes(), readinessNow()])
    return statusOf({
      processes: statuses,
      workers: configured,
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
    reload: async () => answerOf(await reload.run('request')),
    readiness: readinessNow,
    status: { page: createStatusPage(OPERATIONS), read: () => latest.fetch('status') },
  })
}

function answerOf(reloaded: Reloaded) {
  return { status: reloaded.result === 'applied' ? 200 : 422, value: reloaded }
}

/** What is in force serves on, whatever the file says now. */
function withConfiguration({ ready, checks }: Readiness, isApplied: boolean): Readiness {
  const configuration = isApplied ? 'ok' : 'the file was refused; what it said before is in force'
  return { ready, checks: { configuration, ...checks } }
}
