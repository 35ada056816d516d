import { PassThrough, Readable } from 'node:stream'
import { textOfFailure } from '../../src/cli/command-failure.ts'
import { runCommand } from '../../src/cli/command-line.ts'
import { DEPENDENCIES } from './program.ts'

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
  const code = await runCommand(argv, DEPENDENCIES, { stdin, stdout, stderr }).catch((error: unknown) => {
    stderr.write(textOfFailure(error))
    return 1
  })
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') }
}
