import { ReplyError } from 'ioredis'
import t from 'tap'
import { createLineWriter, createLogger, withoutSecrets } from '../src/log.ts'
import type { Logger } from '../src/log.ts'
import { cpuMs } from './support/cpu-time.ts'

function openLog(level: 'debug' | 'info' = 'info') {
  const lines: string[] = []
  const log = createLogger({ level, destination: { write: (line) => void lines.push(line) } })
  return { log, lines }
}

t.test('a line is JSON with a level, an ISO time and no process id or host name', async (t) => {
  const { log, lines } = openLog()
  log.info({ operation: 'getTask' }, 'done')
  log.debug('not at this level')
  const [line = '', ...rest] = lines
  t.match(JSON.parse(line), {
    level: 'info',
    operation: 'getTask',
    msg: 'done',
    time: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
  })
  t.same(Object.keys(JSON.parse(line)), ['level', 'time', 'operation', 'msg'])
  t.same(rest, [])
})

const secret = 'c3VwZXJzZWNyZXQ='
const leaks: Record<string, (log: Logger) => void> = {
  'a member': (log) => log.info({ authorization: `Basic ${secret}` }),
  'a member in capitals': (log) => log.info({ Authorization: secret }),
  'a member at any depth': (log) => log.info({ a: { b: { c: { d: { password: secret } } } } }),
  'a member of a list': (log) => log.info({ users: [{ passwordHash: secret }] }),
  'a list of values': (log) => log.info({ headers: { 'set-cookie': ['a=b', `s="${secret}]"`] } }),
  'a value with quotes': (log) => log.info({ cookie: `a="b"; c=${secret}` }),
  'signing keys': (log) => log.info({ cache: { signingKeys: [secret, secret] } }),
  'a child logger': (log) => log.child({ token: secret }).info('x'),
  'a URL': (log) => log.info({ redis: `redis://user:${secret}@redis:6379/0` }),
  'a URL in a message': (log) => log.info(`cannot reach rediss://:${secret}@redis`),
  'a credential in a message': (log) => log.info(`refused Basic ${secret} and bearer ${secret}`),
  'an error with a command on it': (log) =>
    log.error(Object.assign(new ReplyError('WRONGPASS'), { command: { name: 'auth', args: ['u', secret] } })),
  'the cause of an error': (log) =>
    log.error({ err: new Error('outer', { cause: new Error(`Basic ${secret}`) }) }, 'x'),
}
for (const [name, leak] of Object.entries(leaks)) {
  t.test(`a secret in ${name} is not written`, async (t) => {
    const { log, lines } = openLog()
    leak(log)
    t.equal(lines.length, 1)
    t.notMatch(lines[0], secret)
    t.ok(JSON.parse(lines[0] ?? ''))
  })
}

t.test('text that is not a secret is unchanged', async (t) => {
  const line =
    '{"url":"http://engine:8080/a@b","authorization":{"mode":"enforce"},"msg":"basic rules, a token"}'
  t.equal(withoutSecrets(line), line)
})

t.test('the search for secrets in a line takes time linear in its length', async (t) => {
  const hostile = [
    `://${':'.repeat(100_000)}`,
    '://:'.repeat(50_000),
    `basic${' '.repeat(100_000)}`,
    'basic '.repeat(50_000),
    '"token":'.repeat(50_000),
    `"token":["${'","'.repeat(50_000)}`,
    `"password":"${'\\\\'.repeat(50_000)}`,
  ]
  for (const line of hostile) {
    const startedAt = cpuMs()
    withoutSecrets(line)
    const ms = cpuMs() - startedAt
    t.ok(ms < 1000, `${line.slice(0, 12)}: ${Math.round(ms)} ms`)
  }
})

t.test('a password with colons and a password without a user are redacted', async (t) => {
  t.equal(
    withoutSecrets('redis://u:a:b:c@redis, redis://:a@redis'),
    'redis://[redacted]@redis, redis://[redacted]@redis',
  )
})

t.test('an error that quotes a body is truncated in the log', async (t) => {
  const { log, lines } = openLog()
  const text = 'x'.repeat(1024 ** 2)
  log.error({ err: new Error(text, { cause: new Error(text) }) }, 'x')
  t.ok((lines[0] ?? '').length < 40_000)
  t.match(JSON.parse(lines[0] ?? ''), { err: { message: /^x{8192}$/, cause: { message: /^x{8192}$/ } } })
  const odd = Object.assign(new Error('a'), { message: { text: 'no text' } })
  log.error({ err: odd }, 'x')
  t.match(JSON.parse(lines[1] ?? ''), { err: { message: { text: 'no text' } } })
})

t.test('an error keeps its type, message, code, stack and cause', async (t) => {
  const { log, lines } = openLog()
  const cause = Object.assign(new TypeError('inner'), { code: 'ECONNREFUSED' })
  log.error({ err: new Error('outer', { cause }) }, 'x')
  t.match(JSON.parse(lines[0] ?? ''), {
    err: {
      type: 'Error',
      message: 'outer',
      stack: /log\.test/,
      cause: { type: 'TypeError', message: 'inner', code: 'ECONNREFUSED' },
    },
  })
  log.error({ err: 'not an error' }, 'x')
  t.match(JSON.parse(lines[1] ?? ''), { err: 'not an error' })
})

t.test('the time of a line is exact to the millisecond, also if the clock is set back', (t) => {
  const written: string[] = []
  const writeLine = createLineWriter({ write: (line) => void written.push(line) })
  const clock = Date.now
  t.teardown(() => (Date.now = clock))
  const times = [0, 7, 998, 999, 1000, 1010, 59_999, 60_000, 3500, 3499, 86_400_000].map(
    (ms) => 1_700_000_000_000 + ms,
  )
  for (const ms of times) {
    Date.now = () => ms
    writeLine({ a: 1 })
  }
  t.same(
    written.map((line) => /"time":"([^"]+)"/.exec(line)?.[1]),
    times.map((ms) => new Date(ms).toISOString()),
  )
  t.end()
})
