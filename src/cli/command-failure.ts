import { ConfigError } from '../config/config.ts'
import { EngineRefusal, GatewayError } from '../errors.ts'
import { TransferError } from '../transfer/read-list.ts'
import { EngineUnavailableError, QuestionError } from '../pipeline/explain.ts'

/** Returns the console text of an error: one line, or every problem of a configuration. */
export function textOfFailure(error: unknown): string {
  const lines =
    error instanceof ConfigError
      ? [error.message, ...error.problems.map((problem) => `  ${problem}`)]
      : [String(error)]
  return `${lines.join('\n')}\n`
}

/** Returns the console text of a failure for which a command has an exit code. */
export function complaintOf(error: unknown): string {
  return error instanceof QuestionError ||
    error instanceof CommandError ||
    error instanceof TransferError ||
    hasNoResponse(error)
    ? `${error.message}\n`
    : textOfFailure(error)
}

/** A command cannot do its work. The message is one line. */
export class CommandError extends Error {}

/** Returns whether an error means that a source or an engine is unavailable. */
export function hasNoResponse(
  error: unknown,
): error is GatewayError | EngineRefusal | EngineUnavailableError {
  return (
    error instanceof GatewayError || error instanceof EngineRefusal || error instanceof EngineUnavailableError
  )
}
