import { loadConfig } from '../config/config.ts'
import { createDrain } from './drain.ts'
import { openAdmin } from './open-admin.ts'
import { onlyProcess } from './questions.ts'
import { createAuditWriter } from './audit-writer.ts'
import { createReload, logWarnings, startEventOf } from './reload.ts'
import { atKey, type RunningGateway, watchConfig } from './running.ts'
import { openServing, type ServingOptions } from './serving.ts'

interface StartOptions extends ServingOptions {
  /** The file from which the configuration is reloaded. Null if there is no file. */
  readonly file: string | null
}

/**
 * Starts the gateway in one process. It builds before it listens, so problems of the configuration are reported first. @throws
 * ConfigError
 */
export async function start({ config, log, open, file }: StartOptions): Promise<RunningGateway> {
  // Watch the file before the first build, so that changes during the build are noticed.
  const watched = file === null ? null : await watchConfig(file, () => void reload.run('file'))
  const serving = await openServing({ config, log, open })
  const { current, replace, verify, reopenAudit, readiness, begin, listen, drain } = serving
  const { metrics } = current().gateway
  const processes = onlyProcess(serving)
  const audit = createAuditWriter(processes, log)
  const load = () => (file === null ? current().gateway.config : loadConfig(file))
  const reload = createReload({
    file,
    load,
    current: () => current().gateway.config,
    warnings: () => current().questions.warnings,
    verify,
    replace,
    reopenAudit,
    audit,
    metrics,
    log,
  })
  const admin = await atKey(
    'admin',
    openAdmin(config.admin, {
      current: () => current().gateway.config,
      metrics,
      readiness,
      reload,
      processes,
      audit,
      drain: createDrain({ processes, log }),
      log,
    }),
  )
  await begin()
  await audit(startEventOf(file))
  const address = await atKey('listen', listen())
  watched?.start()
  logWarnings(current().questions.warnings, log)
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
