import { ConfigError, loadConfig } from '../config/config.ts'
import { openAdmin } from './open-admin.ts'
import { openWatchedFile, type WatchedFile } from '../files/watched-file.ts'
import { createReload, logWarnings, type Reloaded } from './reload.ts'
import { openServing, type ServingOptions } from './serving.ts'

/** A gateway that listens. */
export interface Running {
  /** `http://127.0.0.1:8080` */
  readonly address: string
  readonly adminAddress: string
  /** Puts in force what the file says now, or nothing of it. */
  readonly reload: () => Promise<Reloaded>
  /** Refuses new work, lets what is under way finish, closes. Resolves at the deadline at the latest. */
  readonly drain: () => Promise<void>
}

interface StartOptions extends ServingOptions {
  /** Where the configuration is read anew; null: nowhere. */
  readonly file: string | null
}

/** One process. Builds, then listens: what is wrong with the configuration is said before. @throws ConfigError */
export async function start({ config, log, open, file }: StartOptions): Promise<Running> {
  // From before the building on: what changes meanwhile is seen.
  const watched = file === null ? null : await watchConfig(file, () => void reload.run('file'))
  const serving = await openServing({ config, log, open })
  const { current, explain, replace, reopenAudit, readiness, begin, listen, drain } = serving
  const { metrics } = current().parts
  const load = () => (file === null ? current().config : loadConfig(file))
  const reload = createReload({
    load,
    current: () => current().config,
    warnings: () => current().warnings,
    replace,
    reopenAudit,
    metrics,
    log,
  })
  const access = () => current().config.admin
  const admin = await atKey(
    'admin',
    openAdmin(config.admin, {
      access,
      metrics,
      readiness,
      explain,
      reload,
      processes: async () => ({ statuses: [serving.status()], configured: 1 }),
      log,
    }),
  )
  await begin()
  const address = await atKey('listen', listen())
  watched?.start()
  logWarnings(current().warnings, log)
  log.info({ address, admin: admin.address, engines: Object.keys(config.engines) }, 'listening')
  return {
    address,
    adminAddress: admin.address,
    reload: () => reload.run('signal'),
    drain: async () => {
      watched?.close()
      await drain({ beside: () => admin.close() })
    },
  }
}

/** Looks at the text alone: what is wrong with it is said by who reads it. */
export function watchConfig(path: string, onChange: () => void): Promise<WatchedFile<string>> {
  return openWatchedFile({ path, parse: (text) => text, staleAfterMs: Infinity, onLook: onChange })
}

/** An address that cannot be listened at is a problem of the configuration, at this key. @throws ConfigError */
export async function atKey<T>(key: 'listen' | 'admin', opening: Promise<T>): Promise<T> {
  try {
    return await opening
  } catch (cause) {
    const syscall = cause instanceof Error && 'syscall' in cause ? cause.syscall : null
    if (!(cause instanceof Error) || (syscall !== 'listen' && syscall !== 'bind')) throw cause
    throw new ConfigError('The configuration', [`${key}: ${cause.message}`])
  }
}
