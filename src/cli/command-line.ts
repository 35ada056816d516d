import { type Command, CommanderError, InvalidArgumentError } from 'commander'
import type { CommandContext, CommandDependencies, CommandStreams } from './command.ts'
import { complaintOf, textOfFailure } from './command-failure.ts'
import { createProgram } from './program.ts'

/**
 * Runs the command that the arguments name. Resolves with the exit code, which is 2 if they are invalid. @throws errors that
 * `exitWith` prints with `textOfFailure`, for exit code 1
 */
export async function runCommand(
  argv: readonly string[],
  dependencies: CommandDependencies,
  { stdin, stdout, stderr }: CommandStreams = process,
): Promise<number> {
  let exitCode = 0
  const exits: CommandContext['exits'] =
    (action) =>
    async (...args) => {
      exitCode = await action(...args)
    }
  const exitsOr2: CommandContext['exitsOr2'] =
    (action) =>
    async (...args) => {
      try {
        exitCode = await action(...args)
      } catch (error) {
        if (error instanceof InvalidArgumentError) throw error
        stderr.write(complaintOf(error))
        exitCode = 2
      }
    }
  const program = createProgram(argv, { ...dependencies, stdin, stdout, stderr, exits, exitsOr2 })
  try {
    await program.parseAsync(withCommand(argv, program), { from: 'user' })
    return exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Commander has already printed its own errors.
    if (error instanceof InvalidArgumentError) stderr.write(`error: ${error.message}\n`)
    return error.exitCode === 0 ? 0 : 2
  }
}

/** Returns the arguments with `start` if they name no command. */
function withCommand(argv: readonly string[], program: Command): readonly string[] {
  const isHelp = argv.includes('-h') || argv.includes('--help')
  return isHelp || program.parseOptions([...argv]).operands.length > 0 ? argv : ['start', ...argv]
}

/** Runs the command that the arguments name, and ends the process with its exit code. */
export function runCommandLine(argv: readonly string[], dependencies: CommandDependencies): void {
  exitWith(runCommand(argv, dependencies))
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
