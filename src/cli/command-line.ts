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
 * Runs the command that the arguments name. Resolves with the exit code: 2 where they are invalid. @throws what
 * `runCommandLine` writes with `textOfFailure`, for exit code 1
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
  return `${usageOf(command)}\n'${PROGRAM} ${more}' says more.\n\n${command?.refusal ?? message}\n`
}

/** Who reads no further (`| head -1`) has enough: the command ends as it would have. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

/** Runs the command that the arguments name, and ends the process with its exit code. */
export function runCommandLine(argv: readonly string[], commandLine: CommandLine): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endQuietly)
  runCommand(argv, commandLine).then(
    (code) => {
      process.exitCode = code
      // What still keeps the process alive after a drain (a client that never reads) is not waited for.
      setTimeout(() => process.exit(code), 500).unref()
    },
    (error: unknown) => {
      process.stderr.write(textOfFailure(error))
      process.exit(1)
    },
  )
}
