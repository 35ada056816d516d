import type { BuildRuntimeDependencies, RuntimeQuestions } from '../assembly/runtime.ts'
import { loadConfig } from '../config/config.ts'
import { createLogger, openDestination } from '../log.ts'
import { type BuildDryRun, createExplain, type Explain } from '../pipeline/explain.ts'

interface ExplainDependencies extends Pick<RuntimeQuestions, 'subjectsOf'> {
  readonly explain: Explain
}

interface ExplainFrom {
  /** The configuration file. */
  readonly file: string
  readonly build: BuildRuntimeDependencies
  readonly buildDryRun: BuildDryRun
}

/**
 * Calls `use` with the dependencies of a gateway that does not listen, uses no Redis and writes no audit lines. Logs go to standard
 * error. @throws ConfigError
 */
export async function withExplain<T>(
  { file, build, buildDryRun }: ExplainFrom,
  use: (dependencies: ExplainDependencies) => Promise<T>,
): Promise<T> {
  const loaded = loadConfig(file)
  const config = {
    ...loaded,
    cache: { ...loaded.cache, redis: null },
    log: { ...loaded.log, audit: 'off' },
  }
  const log = createLogger({ level: 'error', destination: openDestination({ to: 2 }) })
  const { gateway: dependencies, questions, start, close } = await build({ config, log, version: 'explain' })
  try {
    await start()
    return await use({ subjectsOf: questions.subjectsOf, explain: createExplain(dependencies, buildDryRun) })
  } finally {
    await close()
  }
}
