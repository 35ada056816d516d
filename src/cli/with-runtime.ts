import type { BuildOptions, BuildRuntimeDependencies, RuntimeDependencies } from '../assembly/runtime.ts'
import { createLogger, type Logger } from '../log.ts'
import { openDestination } from '../log-destination.ts'
import { versionOf } from '../server/version.ts'

interface RuntimeFrom extends Pick<BuildOptions, 'config' | 'facts'> {
  readonly build: BuildRuntimeDependencies
}

/** Calls `use` with the dependencies of a gateway that does not listen and has no features, and closes them. Logs go to standard error. @throws ConfigError */
export async function withRuntime<T>(
  { build, ...options }: RuntimeFrom,
  use: (runtime: RuntimeDependencies) => Promise<T>,
): Promise<T> {
  const runtime = await build({ ...options, features: [], log: createErrorLogger(), version: versionOf() })
  try {
    return await use(runtime)
  } finally {
    await runtime.close()
  }
}

/** Creates the log of a command: only errors, on standard error. */
export function createErrorLogger(): Logger {
  return createLogger({ level: 'error', destination: openDestination({ to: 2 }) })
}
