import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { runInProcess } from '../support/run-command.ts'

const sandbox = await startSandbox()
process.env['ENGINE_URL'] = sandbox.base
const folder = mkdtempSync(join(tmpdir(), 'policy-'))
t.teardown(async () => {
  rmSync(folder, { recursive: true })
  await sandbox.close()
})

const CONFIG = fileURLToPath(new URL('../../config/gateway.yaml', import.meta.url))
const FILE = join(folder, 'policy.yaml')

const run = (...argv: readonly string[]) => runInProcess(['policy', ...argv])

async function test(content: string, ...rest: readonly string[]) {
  writeFileSync(FILE, content)
  return run('test', FILE, '--config', CONFIG, ...rest)
}

const AS_EXPECTED = `
tests:
  - { user: mary, request: POST /signal, body: { name: stopAll }, expect: refuse, status: 403, name: clerks stop nothing }
  - { user: mary, request: GET /task, expect: permit, items: some }
  - { user: demo, request: GET /engine-rest/task, expect: permit, items: all }
  - { user: mary, request: GET /decision-definition/key/discount/diagram, expect: permit, engine: default }
`

t.test('policy test exits with 0 if every decision is as expected', async (t) => {
  const { code, out, err } = await test(AS_EXPECTED)
  t.match({ code, err }, { code: 0, err: '' })
  t.same(out.split('\n').slice(1), [
    'ok      mary GET /task: permitted, some items',
    'ok      demo GET /engine-rest/task: permitted, all items',
    'ok      mary GET /decision-definition/key/discount/diagram: permitted',
    '4 decisions as expected',
    '',
  ])
  t.match(
    out,
    /^ok {6}clerks stop nothing: refused at stage permit with 403: missing UPDATE on ProcessInstance /,
  )
})

t.test('policy test exits with 1 and reports the decisions that are not as expected', async (t) => {
  const { code, out } = await test(`
tests:
  - { user: mary, request: POST /signal, body: { name: stopAll }, expect: permit }
  - { user: demo, request: POST /signal, body: '{"name":"stopAll"}', expect: refuse, status: 403 }
  - { user: mary, request: POST /signal, body: { name: stopAll }, expect: refuse, status: 404 }
  - { user: mary, request: GET /task, expect: permit, items: all }
  - { user: mary, request: POST /signal, body: { name: 1 }, expect: refuse, status: 400 }
`)
  t.equal(code, 1)
  t.match(out.split('\n'), [
    /^FAILED {2}mary POST \/signal: refused at stage permit with 403: .*; permit is expected$/,
    'FAILED  demo POST /signal: permitted; refuse is expected',
    /^FAILED {2}mary .*; status 404 is expected$/,
    'FAILED  mary GET /task: permitted, some items; items: all is expected',
    /./,
    /^[45] of 5 decisions not as expected$/,
  ])
})

t.test('policy test prints JSON with --format json', async (t) => {
  const { code, out } = await test(AS_EXPECTED, '--format', 'json')
  t.equal(code, 0)
  t.match(JSON.parse(out), [
    {
      name: 'clerks stop nothing',
      user: 'mary',
      engine: 'default',
      request: 'POST /signal',
      expect: 'refuse',
      asExpected: true,
      differences: [],
      decision: 'refused',
      stage: 'permit',
      status: 403,
      rows: null,
      missing: [{ permission: 'UPDATE' }],
    },
    { decision: 'permitted', items: 'some', status: null, stage: null },
    { items: 'all' },
    { rows: null, missing: [] },
  ])
})

t.test('policy test reports invalid tests and prints no decision', async (t) => {
  for (const [content, problem] of [
    ['tests: []', /tests: at least one test is needed/],
    ['tests:\n  - { user: mary, request: GET /task, expect: allow }', /tests\[0\]\.expect: .*permit.*refuse/],
    ['tests:\n  - { user: mary, request: task, expect: permit }', /tests\[0\]\.request: write it like/],
    ['tests:\n  - { user: mary, request: GET /task, expect: permit, item: all }', /unknown key item .*items/],
    [
      'tests:\n  - { user: mary, request: GET /task, expect: permit, rows: all }',
      /key rows .*did you mean items/,
    ],
    [
      'tests:\n  - { user: mary, request: GET /task, expect: permit }\n  - { user: nobody, request: GET /task, expect: permit }',
      /^tests\[1\] \(nobody GET \/task\): Engine default has no user nobody$/m,
    ],
    [
      'tests:\n  - { user: mary, request: GET /tasks, expect: permit }',
      /^tests\[0\] .*: There is no operation GET \/tasks$/m,
    ],
  ] as const) {
    const { code, out, err } = await test(content)
    t.match({ code, out }, { code: 2, out: '' }, content)
    t.match(err, problem)
  }
})

t.test('policy test reports invalid arguments', async (t) => {
  const cases: readonly (readonly [readonly string[], string])[] = [
    [['--config', CONFIG], "missing required argument 'ACTION'"],
    [['test', '--config', CONFIG], "missing required argument 'FILE'"],
    [['test', FILE], "required option '-c, --config <FILE>' not specified"],
    [
      ['test', FILE, 'more', '--config', CONFIG],
      "too many arguments for 'policy'. Expected 2 arguments but got 3",
    ],
    [['check', FILE, '--config', CONFIG], "argument value 'check' is invalid for argument 'ACTION'"],
  ]
  for (const [argv, problem] of cases) {
    const { code, out, err } = await run(...argv)
    t.match({ code, out }, { code: 2, out: '' }, argv.join(' '))
    t.match(err, problem)
  }
  t.match(await run('test', join(folder, 'none.yaml'), '--config', CONFIG), { code: 2, err: /none\.yaml/ })
  for (const argv of [['--help'], ['test', '--help']])
    t.match(await run(...argv), { code: 0, out: /^Usage: engine-gateway policy test/ })
})
