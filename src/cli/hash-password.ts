import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { createPasswords } from '../policy/authn/password.ts'

export interface HashPasswordStreams {
  /** A terminal is prompted, without echo; any other stream is read to its end. */
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable
  /** For the prompt and problems, so that the output is only the hash; default process.stderr. */
  readonly stderr?: Writable
}

// The longest password that fits the Authorization header that readBasic accepts, beside a user name of 64 characters.
const MAX_BYTES = 700

/** `engine-gateway hash-password`: prints the hash of a password for users.yaml. Returns the exit code. */
export async function hashPasswordCommand(
  argv: readonly string[],
  streams: HashPasswordStreams,
): Promise<number> {
  const stderr = streams.stderr ?? process.stderr
  if (argv.length > 0) {
    stderr.write(
      'hash-password takes no arguments: give the password on standard input, where no process list shows it\n',
    )
    return 2
  }
  const password =
    streams.stdin.isTTY === true ? await prompt(streams.stdin, stderr) : await readAll(streams.stdin)
  const problem = problemOf(password)
  if (problem !== null) {
    stderr.write(`${problem}\n`)
    return 1
  }
  streams.stdout.write(`${await createPasswords().hash(password)}\n`)
  return 0
}

function problemOf(password: string): string | null {
  if (password === '') return 'the password is empty'
  if (/[\p{Cc}\ufffd]/u.test(password)) return 'the password must be UTF-8 without control characters'
  return Buffer.byteLength(password) > MAX_BYTES ? `the password is longer than ${MAX_BYTES} bytes` : null
}

/** Reads to the end, without the line end that echo and editors add. */
async function readAll(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stdin) {
    const buffer: Buffer = Buffer.from(chunk)
    chunks.push(buffer)
    bytes += buffer.length
    if (bytes > MAX_BYTES + 2) break
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}

function prompt(stdin: Readable, stderr: Writable): Promise<string> {
  stderr.write('Password: ')
  // Without output, readline echoes nothing and turns off the terminal's own echo.
  const lines = createInterface({ input: stdin, terminal: true })
  return new Promise((resolve) => {
    lines.once('line', (line) => {
      resolve(line)
      lines.close()
    })
    lines.once('close', () => {
      stderr.write('\n')
      resolve('')
    })
  })
}
