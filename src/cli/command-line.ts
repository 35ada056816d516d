import { versionOf } from '../server/version.ts'
import { readArguments, UsageError } from './arguments.ts'
import type { Command, CommandStreams, Program } from './command.ts'
import { complaintOf, textOfFailure } from './command-failure.ts'
import { helpOf, PROGRAM, usageOf } from './help-text.ts'

interface CommandLine {
  readonly program: Program
  readonly commands: readonly Command[]
}

/**
 * Runs the command that the arguments name. Resolves with the exit code, which is 2 if they are invalid. @throws errors that
 * `exitWith` prints with `textOfFailure`, for exit code 1
 */
export async function runCommand(
  argv: readonly string[],
  { program, commands }: CommandLine,
  streams: CommandStreams = process,
): Promise<number> {
  try {
    const { command, isNamed, isHelp, isVersion, values, operands } = readArguments(argv, commands)
    if (isHelp || isVersion) {
      streams.stdout.write(isHelp ? helpOf(isNamed ? command : null, commands) : `${versionOf()}\n`)
      return 0
    }
    return await attempt(command, { values, operands, streams, program, commands })
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    streams.stderr.write(usageProblem(error))
    return 2
  }
}

async function attempt(command: Command, given: Parameters<Command['run']>[0]): Promise<number> {
  try {
    return await command.run(given)
  } catch (error) {
    if (error instanceof UsageError) error.command = command
    if (command.failure === undefined || error instanceof UsageError) throw error
    given.streams.stderr.write(complaintOf(error))
    return command.failure
  }
}

function usageProblem({ command: invalid, message }: UsageError): string {
  const command = invalid?.isHidden === true ? null : invalid
  const more = command === null ? 'help' : `help ${command.name}`
  return `${usageOf(command)}\nSee '${PROGRAM} ${more}'.\n\n${command?.refusal ?? message}\n`
}

/** Runs the command that the arguments name, and ends the process with its exit code. */
export function runCommandLine(argv: readonly string[], commandLine: CommandLine): void {
  exitWith(runCommand(argv, commandLine))
}

/** Ends the process with the exit code of a run. If the run rejects, prints its error and exits with 1. */
export function exitWith(run: Promise<number>): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endQuietly)
  run.then(
    (code) => {
      process.exitCode = code
      // Do not wait for handles that keep the process alive after a drain, such as a client that never reads.
      setTimeout(() => process.exit(code), 500).unref()
    },
    (error: unknown) => {
      process.stderr.write(textOfFailure(error))
      process.exit(1)
    },
  )
}

/** Ignores a closed pipe. A reader like `head -1` may stop early, and the command then ends with its usual exit code. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
