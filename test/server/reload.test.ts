import { hash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ConfigError, type Config } from '../../src/config/config.ts'
import { createLogger } from '../../src/log.ts'
import { configProblemsOf, createReload, startEventOf } from '../../src/server/reload.ts'
import type { AuditEvent } from '../../src/metrics/audit-events.ts'
import { configOf } from '../support/open-gateway.ts'

t.test('a problem of the configuration is shown in one line, without secrets', (t) => {
  const error = new ConfigError('The configuration', [
    'cache.redis: cannot be read\n  password: hush-hush',
    'cache.redis: redis://user:hush-hush@redis:6379 cannot be reached',
  ])
  const problems = configProblemsOf(error)
  t.equal(problems.length, 2)
  t.equal(problems[0], 'cache.redis: cannot be read')
  t.notMatch(problems.join(), 'hush')
  t.match(problems[1], /^cache\.redis: redis:/)
  t.end()
})

t.test('the first hundred of many problems are shown', (t) => {
  const error = new ConfigError(
    'x',
    Array.from({ length: 102 }, (_, index) => `${index}: wrong`),
  )
  t.same(configProblemsOf(error).slice(99), ['99: wrong', 'and 2 more'])
  t.same(configProblemsOf(new Error('no such file')), ['(the gateway): no such file'])
  t.end()
})

/** Returns a reload that waits in `replace` until the test continues it. */
function openReload(t: Parameters<typeof configOf>[0], file: string | null = null) {
  const config = configOf(t, 'http://engine.invalid')
  const held: (() => void)[] = []
  const replaced: Config[] = []
  let loaded = 0
  let next: Config | ConfigError = config
  const counted: string[] = []
  const verified: (string | null)[] = []
  const events: AuditEvent[] = []
  let unusable: string | null = null
  const reload = createReload({
    file,
    load: () => {
      loaded += 1
      if (next instanceof Error) throw next
      return next
    },
    current: () => replaced.at(-1) ?? config,
    verify: async () => {
      verified.push(unusable)
      if (unusable !== null) throw new ConfigError('x', [unusable])
    },
    replace: async (to) => {
      await new Promise<void>((resolve) => held.push(resolve))
      replaced.push(to)
    },
    warnings: () => [],
    reopenAudit: async () => {},
    audit: async (event) => void events.push(event),
    metrics: { reload: ({ result }) => void counted.push(result), gauge: () => {} },
    log: createLogger({ level: 'silent', destination: { write: () => {} } }),
  })
  return {
    reload,
    held,
    replaced,
    loaded: () => loaded,
    counted,
    verified,
    events,
    spoil: (problem: string) => (unusable = problem),
    fail: (problems: readonly string[]) => {
      next = new ConfigError('x', problems)
    },
    change: (bytes: number) => {
      next = { ...config, limits: { ...config.limits, body: bytes } }
    },
  }
}

t.test('an unchanged configuration is not replaced', async (t) => {
  const { reload, replaced, held } = openReload(t)
  t.same(await reload.run('file'), { result: 'applied', changed: [] })
  t.same([replaced, held], [[], []])
})

t.test(
  'reloads that are requested during a reload share the next one, and a later request has its own',
  async (t) => {
    const { reload, held, loaded, change } = openReload(t)
    change(1)
    const first = reload.run('file')
    const second = reload.run('signal')
    t.equal(reload.run('request'), second)
    t.equal(loaded(), 1)
    change(2)
    held.shift()?.()
    t.same(await first, { result: 'applied', changed: ['limits.body'] })
    while (held.length === 0) await Promise.resolve()
    t.equal(loaded(), 2)
    const third = reload.run('file')
    t.not(third, second)
    change(3)
    held.shift()?.()
    t.same(await second, { result: 'applied', changed: ['limits.body'] })
    while (held.length === 0) await Promise.resolve()
    held.shift()?.()
    t.same(await third, { result: 'applied', changed: ['limits.body'] })
    t.equal(loaded(), 3)
    t.equal(reload.status().isApplied, true)
  },
)

t.test('the status contains the last reload and its problems', async (t) => {
  const { reload, change, fail } = openReload(t)
  t.match(reload.status(), { isApplied: true, lastReload: null, warnings: [] })
  fail(['listen.port: needs a restart'])
  await reload.run('file')
  const refused = {
    cause: 'file',
    result: 'refused',
    changed: [],
    problems: ['listen.port: needs a restart'],
  }
  t.match(reload.status(), { isApplied: false, lastReload: refused })
  change(2 * 1024 ** 2)
  await reload.run('signal')
  t.match(reload.status(), {
    isApplied: true,
    lastReload: { cause: 'signal', result: 'applied', problems: [] },
  })
})

t.test('a change that a request has read is not read again when the file is noticed', async (t) => {
  const file = join(t.testdir({ 'gateway.yaml': 'version: 1\n' }), 'gateway.yaml')
  const { reload, counted, held, change } = openReload(t, file)
  change(1)
  const first = reload.run('request')
  while (held.length === 0) await Promise.resolve()
  held.shift()?.()
  t.same(await first, { result: 'applied', changed: ['limits.body'] })
  t.same(await reload.run('file'), await first)
  t.same(counted, ['applied'])
  writeFileSync(file, 'version: 1 # changed\n')
  t.same(await reload.run('file'), { result: 'applied', changed: [] })
  t.same(await reload.run('request'), { result: 'applied', changed: [] })
  t.same(counted, ['applied', 'applied', 'applied'], 'each request has a result of its own')
})

t.test('a request or a signal fails if a file that the configuration names could not be used', async (t) => {
  const { reload, spoil, verified } = openReload(t)
  t.same(await reload.run('request'), { result: 'applied', changed: [] })
  spoil('identity.file: users.yaml does not exist')
  const refused = { result: 'refused', problems: ['identity.file: users.yaml does not exist'] }
  t.same(await reload.run('request'), refused)
  t.same(await reload.run('signal'), refused)
  t.equal(verified.length, 3)
})

t.test('a reload is audited with the digests of the file before and after', async (t) => {
  const file = join(t.testdir({ 'gateway.yaml': 'one' }), 'gateway.yaml')
  const { reload, events, fail } = openReload(t, file)
  const [one, two] = ['one', 'two'].map((text) => hash('sha256', text))
  t.match(startEventOf(file), { event: 'start', version: /^\d/, configuration: one })
  writeFileSync(file, 'two')
  t.same(await reload.run('file'), { result: 'applied', changed: [] })
  t.same(events, [], 'no setting has changed')
  await reload.run('signal')
  fail(['x: wrong'])
  writeFileSync(file, 'one')
  await reload.run('file')
  await reload.run('request')
  const refused = {
    event: 'reload',
    result: 'refused',
    before: two,
    after: one,
    changedKeys: [],
    problems: ['x: wrong'],
  }
  t.same(events, [
    {
      event: 'reload',
      cause: 'signal',
      result: 'applied',
      before: two,
      after: two,
      changedKeys: [],
      problems: [],
    },
    { ...refused, cause: 'file' },
    { ...refused, cause: 'request' },
  ])
})
