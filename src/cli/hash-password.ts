import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { type Command, InvalidArgumentError } from 'commander'
import { createPasswords } from '../policy/authn/password.ts'
import { type CommandContext, type CommandStreams, notesText } from './command.ts'

// The longest password that fits, together with a user name of 64 characters, into the Authorization header that readBasic
// accepts.
const MAX_BYTES = 700

export function addHashPasswordCommand(program: Command, context: CommandContext): void {
  // An argument may be the password. Therefore no error shows it.
  program
    .command('hash-password')
    .description('read a password from standard input, and print its hash for users.yaml')
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exits((_, { args }) => {
        if (args.length > 0)
          throw new InvalidArgumentError(
            'hash-password takes no arguments: give the password on standard input, where no process list shows it',
          )
        return hashPassword(context)
      }),
    )
}

const NOTES = {
  about: 'In a terminal, the command prompts for the password and does not show it.',
  examples: ['engine-gateway hash-password'],
  exitCodes: [
    [0, 'the hash was printed'],
    [1, 'the password cannot be used for a login: it is empty, too long, or contains control characters'],
    [2, 'invalid arguments'],
  ],
} as const

async function hashPassword({ stdin, stdout, stderr }: CommandStreams): Promise<number> {
  const password = stdin.isTTY === true ? await prompt(stdin, stderr) : await readAll(stdin)
  const problem = problemOf(password)
  if (problem !== null) {
    stderr.write(`${problem}\n`)
    return 1
  }
  stdout.write(`${await createPasswords().hash(password)}\n`)
  return 0
}

function problemOf(password: string): string | null {
  if (password === '') return 'the password is empty'
  if (/[\p{Cc}\ufffd]/u.test(password)) return 'the password must be UTF-8 without control characters'
  return Buffer.byteLength(password) > MAX_BYTES ? `the password is longer than ${MAX_BYTES} bytes` : null
}

/** Reads to the end, and removes the line end that echo and editors add. */
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
