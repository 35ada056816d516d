import { PassThrough, Readable } from 'node:stream'
import t from 'tap'
import { createPasswords } from '../../src/policy/authn/password.ts'
import { runInProcess } from '../support/run-command.ts'

const run = (argv: readonly string[], stdin: Readable & { isTTY?: boolean }) =>
  runInProcess(['hash-password', ...argv], stdin)

t.test('hash-password hashes standard input without its line end', async (t) => {
  for (const input of ['pässword', 'pässword\n', 'pässword\r\n']) {
    const { code, out, err } = await run([], Readable.from([Buffer.from(input)]))
    t.match({ code, err }, { code: 0, err: '' })
    t.equal(await createPasswords().verify(out.trimEnd(), 'pässword'), true, JSON.stringify(input))
  }
})

t.test('hash-password joins a password that arrives in several chunks', async (t) => {
  const bytes = Buffer.from('pässword')
  const { out } = await run([], Readable.from([bytes.subarray(0, 2), bytes.subarray(2)]))
  t.equal(await createPasswords().verify(out.trimEnd(), 'pässword'), true)
})

t.test('hash-password prompts on a terminal and does not echo the password', async (t) => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true })
  terminal.write('secret\n')
  const { code, out, err } = await run([], terminal)
  t.match({ code, err }, { code: 0, err: 'Password: \n' })
  t.equal(await createPasswords().verify(out.trimEnd(), 'secret'), true)
})

t.test('hash-password refuses arguments and does not repeat them', async (t) => {
  for (const argument of ['secret', '--secret', '--user=secret', '-s']) {
    const { code, out, err } = await run([argument], Readable.from([]))
    t.match({ code, out }, { code: 2, out: '' })
    t.match(err, /hash-password takes no arguments/)
    t.notMatch(err, /secret/)
  }
})

t.test('hash-password refuses a password that no user could log in with', async (t) => {
  for (const input of ['', '\n', 'a\tb', 'two\nlines', 'x'.repeat(701), Buffer.from([0xff])]) {
    const { code, out, err } = await run([], Readable.from([Buffer.from(input)]))
    t.match({ code, out }, { code: 1, out: '' })
    t.match(err, /^the password /)
  }
})
