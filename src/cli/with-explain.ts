import type { BuildRuntimeDependencies, RuntimeQuestions } from '../assembly/runtime.ts'
import { type Config, loadConfig, settingsOf } from '../config/config.ts'
import type { EntityFacts } from '../policy/authz/entities/entity-facts.ts'
import { CommandError } from './command-failure.ts'
import { withRuntime } from './with-runtime.ts'
import { type BuildDryRun, createExplain, type Explain } from '../pipeline/explain.ts'

interface ExplainDependencies extends Pick<RuntimeQuestions, 'subjectsOf'> {
  readonly explain: Explain
}

interface ExplainFrom {
  readonly file: string
  readonly build: BuildRuntimeDependencies
  readonly buildDryRun: BuildDryRun
  /** Entities that are used instead of an engine. Null or absent: the engine is used. */
  readonly facts?: EntityFacts | null
}

/**
 * Calls `use` with the dependencies of a gateway that does not listen, uses no Redis and writes no audit lines. Logs go to standard
 * error. @throws ConfigError
 */
export async function withExplain<T>(
  { file, build, buildDryRun, facts = null }: ExplainFrom,
  use: (dependencies: ExplainDependencies) => Promise<T>,
): Promise<T> {
  const loaded = loadConfig(file)
  if (facts !== null) checkSources(loaded)
  const config = {
    ...loaded,
    cache: { ...loaded.cache, redis: null },
    log: { ...loaded.log, audit: 'off' },
  }
  return withRuntime({ build, config, facts }, async ({ gateway, questions: { subjectsOf }, start }) => {
    await start()
    return use({ subjectsOf, explain: createExplain(gateway, buildDryRun) })
  })
}

/** @throws CommandError if users or records come from an engine, which facts cannot replace */
function checkSources(config: Config): void {
  for (const [name, engine] of Object.entries(config.engines)) {
    const { identity, authorization } = settingsOf(config, engine)
    if (identity.source === 'engine' || authorization.records.source === 'engine')
      throw new CommandError(
        `Facts need users and records in files, but engine ${name} reads them from the engine`,
      )
  }
}
