import { build } from '../assembly/build.ts'
import { loadConfig } from '../config/config.ts'
import { createLogger, openDestination } from '../log.ts'
import { type BuildDryRun, createExplain, type WithExplain } from '../pipeline/explain.ts'

/**
 * Questions are answered by the parts of a gateway that does not listen: without Redis, and without a line of audit. What is
 * logged goes to standard error.
 */
export function createWithExplain(buildDryRun: BuildDryRun): WithExplain {
  return async function withExplain(file, use) {
    const loaded = loadConfig(file)
    const config = {
      ...loaded,
      cache: { ...loaded.cache, redis: null },
      log: { ...loaded.log, audit: 'off' },
    }
    const log = createLogger({ level: 'error', destination: openDestination({ to: 2 }) })
    const { parts, start, close } = await build({ config, log, version: 'explain' })
    try {
      await start()
      return await use(createExplain(parts, buildDryRun))
    } finally {
      await close()
    }
  }
}
