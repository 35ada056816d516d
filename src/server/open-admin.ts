import { hostname } from 'node:os'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { adminTokensOf } from '../metrics/admin-access.ts'
import { type Admin, createAdmin, type Readiness } from '../metrics/admin-listener.ts'
import type { Metrics } from '../metrics/registry.ts'
import { createThrottle } from '../policy/authn/throttle.ts'
import { OPERATIONS } from '../operations/all.ts'
import { type AdministeredGateway, adminRoutesOf } from './admin-routes.ts'
import type { Drain } from './drain.ts'
import { createPurge } from './purge.ts'
import { createChangeShift } from './shift-shares.ts'
import { STATUS } from './questions.ts'
import { createProblemTimes } from '../status/problem-times.ts'
import { type Status, statusOf } from '../status/status.ts'
import { createStatusPage } from '../status/status-page.ts'
import type { WriteAuditEvent } from './audit-writer.ts'
import type { Reload } from './reload.ts'
import { createRunningConfig } from './running-config.ts'
import { versionOf } from './version.ts'

interface AdminDependencies extends Pick<AdministeredGateway, 'readiness' | 'processes'> {
  readonly metrics: Pick<Metrics, 'contentType' | 'text' | 'cachePurge'>
  readonly current: () => Config
  readonly reload: Reload
  /** Writes requests that change something to the audit stream. */
  readonly audit: WriteAuditEvent
  readonly drain: Drain
  readonly log: Logger
}

/** A status is computed at most once in this time, for any number of viewers. */
const STATUS_MS = 1000
/** The status is computed at least this often, so that the page shows since when a problem exists. */
const PROBLEMS_MS = 5000

/** Opens the admin listener. The gateway may serve in this process or in workers. */
export async function openAdmin(
  { host, port, tls }: Pick<Config['admin'], 'host' | 'port' | 'tls'>,
  { current, reload, drain, audit, metrics, readiness, processes, log }: AdminDependencies,
): Promise<Admin> {
  // All callers of a token share it. A caller with a wrong token must not slow down callers with the right one.
  const throttle = createThrottle({ slowUserAfter: Infinity })
  const [replica, version] = [hostname(), versionOf()]
  const dateProblems = createProblemTimes()
  const readinessNow = async () => withConfiguration(await readiness(), reload.status().isApplied)
  async function readStatus(): Promise<Status> {
    const [statuses, state] = await Promise.all([processes.askEach(STATUS), readinessNow()])
    return statusOf({
      processes: statuses,
      workers: processes.configured,
      readiness: state,
      configuration: reload.status(),
      replica,
      version,
      dateProblems,
      mayAsk: adminTokensOf(current().admin).length > 0,
    })
  }
  const latest = new LRUCache<'status', Status>({ max: 1, ttl: STATUS_MS, fetchMethod: readStatus })
  const routes = adminRoutesOf({
    processes,
    metrics,
    readiness: readinessNow,
    status: () => latest.fetch('status'),
    statusPage: createStatusPage(OPERATIONS),
    configuration: createRunningConfig(current),
    reload,
    purge: createPurge({ processes, metrics, log }),
    shift: createChangeShift({ processes, log }),
    drain,
  })
  const admin = await createAdmin({
    host,
    port,
    tls,
    access: () => current().admin,
    slowGuesses: (address, verify) => throttle.attempt({ user: 'admin', address }, verify),
    routes,
    audit: (event) => void audit(event),
    log,
  })
  const watch = setInterval(() => void latest.fetch('status').catch(() => undefined), PROBLEMS_MS).unref()
  return {
    address: admin.address,
    close: () => {
      clearInterval(watch)
      return admin.close()
    },
  }
}

/**
 * Adds the state of the configuration file. A refused file does not make the gateway unready: the configuration in force
 * continues to serve.
 */
function withConfiguration({ ready, checks }: Readiness, isApplied: boolean): Readiness {
  const configuration = isApplied ? 'ok' : 'the file was refused; the previous configuration stays in use'
  return { ready, checks: { configuration, ...checks } }
}
