import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createLogger } from '../src/log.ts'
import { openDestination, type StreamLines } from '../src/log-destination.ts'
import { until } from './support/cache-harness.ts'

const AUDIT_LINE = '{"stream":"audit"}\n'
const LOG_LINE = '{"msg":"a \\"stream\\":\\"audit\\""}\n'

t.test(
  'a full disk drops log lines, counts them and does not stop the process',
  { skip: !existsSync('/dev/full') },
  async (t) => {
    let dropped = 0
    const losses = { onLoss: ({ log }: StreamLines) => (dropped += log), onRecovery: () => {} }
    const destination = openDestination({ to: '/dev/full', losses })
    const log = createLogger({ level: 'info', destination })
    const text = 'x'.repeat(1024 ** 2)
    for (let index = 0; index < 20; index += 1) {
      log.info(text)
      await new Promise(setImmediate)
    }
    t.ok(dropped >= 10)
  },
)

/** Opens a pipe whose reader has closed it. */
function openBrokenPipe(folder: string): number {
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const both = openSync(pipe, 'r+')
  const descriptor = openSync(pipe, 'w')
  closeSync(both)
  return descriptor
}

t.test('the lines of a pipe that no process reads are lost immediately, and counted by stream', async (t) => {
  const to = openBrokenPipe(t.testdir({}))
  const events: unknown[] = []
  const destination = openDestination({
    to,
    name: 'test pipe',
    losses: {
      onFailure: (reason) => events.push(reason),
      onLoss: (lines) => events.push(lines),
      onRecovery: () => events.push('recovery'),
    },
  })
  t.equal(destination.state().isWritable, true)
  destination.write(AUDIT_LINE + LOG_LINE)
  destination.write(AUDIT_LINE)
  await until(() => events.length === 2)
  t.same(events, ['EPIPE', { log: 1, audit: 2 }])
  t.match(destination.state(), { waitingBytes: 0, oldestMs: 0, isWritable: false })
  destination.write(AUDIT_LINE)
  await until(() => events.length === 3)
  t.same(events[2], { log: 0, audit: 1 }, 'the failure itself is reported once')
  destination.end()
})

t.test(
  'lines that cannot be written wait, and the first failed write is reported once',
  { skip: !existsSync('/dev/full') },
  async (t) => {
    const events: unknown[] = []
    const losses = {
      onFailure: (reason: string) => events.push(reason),
      onLoss: () => events.push('loss'),
      onRecovery: () => events.push('recovery'),
    }
    const destination = openDestination({ to: '/dev/full', losses })
    destination.write(LOG_LINE)
    t.match(destination.state(), { waitingBytes: LOG_LINE.length, isWritable: true })
    await until(() => events.length > 0)
    await until(() => destination.state().oldestMs > 300)
    t.same(events, ['ENOSPC'])
    t.match(destination.state(), { waitingBytes: LOG_LINE.length, isWritable: false })
  },
)

t.test('a destination whose reader cannot write is not writable', async (t) => {
  const destination = openDestination({ to: join(t.testdir({}), 'lines') })
  destination.setReader(false)
  t.equal(destination.state().isWritable, false)
  destination.setReader(true)
  t.equal(destination.state().isWritable, true)
  destination.end()
})

t.test('lines are written in order, whatever their length', async (t) => {
  const file = join(t.testdir({}), 'lines')
  const destination = openDestination({ to: file })
  const lines = Array.from({ length: 300 }, (_, at) => `${at} ${'é'.repeat((at * 97) % 5000)}\n`)
  for (const [at, line] of lines.entries()) {
    destination.write(line)
    if (at % 50 === 0) await new Promise(setImmediate)
  }
  destination.end()
  await until(() => readFileSync(file, 'utf8').length === lines.join('').length)
  t.equal(readFileSync(file, 'utf8'), lines.join(''))
  t.equal(destination.state().waitingBytes, 0)
})

/** Runs a process that writes lines to a destination, and ends. */
function run(to: string, code: string) {
  const { href } = new URL('../src/log-destination.ts', import.meta.url)
  const script = `import { openDestination } from '${href}'; const d = openDestination({ to: ${to} }); ${code}`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
    timeout: 20_000,
  })
  return {
    status,
    errors: stderr.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : [])),
  }
}

const AUDIT = JSON.stringify(AUDIT_LINE)
const LOG = JSON.stringify(LOG_LINE)
const LOST = { level: 'error', output: '/dev/full', reason: 'ENOSPC' }
const exits: Readonly<Record<string, string>> = {
  'at once': '',
  'with process.exit(0)': 'process.exit(0)',
  'after a failed write': 'setTimeout(() => {}, 300)',
}
for (const [name, end] of Object.entries(exits))
  t.test(
    `a process that ends ${name} reports the lines that it could not write, with exit code 1`,
    { skip: !existsSync('/dev/full') },
    (t) => {
      const { status, errors } = run(
        "'/dev/full'",
        `d.write(${AUDIT}); d.write(${LOG}); d.write(${AUDIT}); ${end}`,
      )
      t.equal(status, 1)
      const last = { ...LOST, lostAuditLines: 2, lostLogLines: 1, msg: /were lost/ }
      const first = { ...LOST, msg: 'lines cannot be written' }
      t.match(errors, name === 'after a failed write' ? [first, last] : [last])
      t.end()
    },
  )

t.test(
  'lost lines without an audit line among them do not change the exit code',
  { skip: !existsSync('/dev/full') },
  (t) => {
    const { status, errors } = run("'/dev/full'", `d.write(${LOG})`)
    t.equal(status, 0)
    t.match(errors, [{ ...LOST, lostAuditLines: 0, lostLogLines: 1 }])
    t.end()
  },
)

t.test('the last line is written however the process ends', (t) => {
  const { href } = new URL('../src/log.ts', import.meta.url)
  const log = `import { createLogger } from '${href}'; const log = createLogger({ level: 'info' }); log.info("first");`
  const ends = [
    'log.info("last")',
    'log.info("last"); process.exit(0)',
    'setTimeout(() => log.info("last"), 250)',
  ]
  for (const end of ends) {
    const node = [process.execPath, '--input-type=module', '-e', `${log} ${end}`]
    const out = execFileSync('env', ['-u', 'NODE_OPTIONS', ...node], { encoding: 'utf8' })
    t.match(out, /"msg":"first"\}\n.*"msg":"last"\}\n$/, end)
  }
  t.end()
})
