import { PassThrough, Readable } from 'node:stream'
import { build } from '../../src/assembly/build.ts'
import { openRuntime } from '../../src/assembly/open-runtime.ts'
import { textOfFailure } from '../../src/cli/command-failure.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { runCommand } from '../../src/cli/command-line.ts'
import { buildDryRun } from '../../src/gateway.ts'

interface RanCommand {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command in this process, with its own streams. */
export async function runInProcess(
  argv: readonly string[],
  stdin: Readable & { readonly isTTY?: boolean } = Readable.from([]),
): Promise<RanCommand> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const program = { entry: '', open: openRuntime, build, buildDryRun }
  const code = await runCommand(argv, { program, commands: COMMANDS }, { stdin, stdout, stderr }).catch(
    (error: unknown) => {
      stderr.write(textOfFailure(error))
      return 1
    },
  )
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') }
}
