import type { Config } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { type Admin, type AdminOptions, createAdmin, type Readiness } from '../metrics/admin-listener.ts'
import { createThrottle } from '../policy/authn/throttle.ts'
import type { Reload, Reloaded } from './reload.ts'

interface Operated extends Pick<AdminOptions, 'access' | 'metrics' | 'readiness' | 'explain'> {
  readonly reload: Reload
  readonly log: Logger
}

/** The admin listener before what serves, be it in this process or in others. */
export function openAdmin(
  { host, port }: Pick<Config['admin'], 'host' | 'port'>,
  { reload, readiness, ...operated }: Operated,
): Promise<Admin> {
  // There is one token for all: wrong ones of others must not delay those who have it.
  const throttle = createThrottle({ slowUserAfter: Infinity })
  return createAdmin({
    host,
    port,
    ...operated,
    slowGuesses: (address, verify) => throttle.attempt({ user: 'admin', address }, verify),
    reload: async () => answerOf(await reload.run('request')),
    readiness: async () => withConfiguration(await readiness(), reload.isApplied()),
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
