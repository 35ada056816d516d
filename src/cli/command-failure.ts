import { ConfigError } from '../config/config.ts'

/** The console text of an error: one line, or every problem of a configuration. */
export function textOfFailure(error: unknown): string {
  const lines =
    error instanceof ConfigError
      ? [error.message, ...error.problems.map((problem) => `  ${problem}`)]
      : [String(error)]
  return `${lines.join('\n')}\n`
}
