import { ConfigError } from '../config/config.ts'
import { EngineRefusal, GatewayError } from '../errors.ts'
import { QuestionError } from '../pipeline/explain.ts'
import { UsageError } from './arguments.ts'

/** The console text of an error: one line, or every problem of a configuration. */
export function textOfFailure(error: unknown): string {
  const lines =
    error instanceof ConfigError
      ? [error.message, ...error.problems.map((problem) => `  ${problem}`)]
      : [String(error)]
  return `${lines.join('\n')}\n`
}

/** The console text of a command that asks about decisions; `usage` comes before invalid arguments. */
export function complaintOf(error: unknown, usage: string): string {
  if (error instanceof UsageError) return `${usage}\n${error.message}\n`
  return error instanceof QuestionError || isUnanswered(error) ? `${error.message}\n` : textOfFailure(error)
}

/** A source or an engine that is away. */
export function isUnanswered(error: unknown): error is GatewayError | EngineRefusal {
  return error instanceof GatewayError || error instanceof EngineRefusal
}
