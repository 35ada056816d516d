import { loadConfig } from '../config/config.ts'
import { openAdmin } from './open-admin.ts'
import { createReload, logWarnings } from './reload.ts'
import { atKey, type Running, watchConfig } from './running.ts'
import { openServing, type ServingOptions } from './serving.ts'

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
  const admin = await atKey(
    'admin',
    openAdmin(config.admin, {
      current: () => current().config,
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
