import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { isAuthorized } from '../../src/policy/authz/decision/decide.ts'
import { recordsOf } from '../../src/files/records-file.ts'
import { indexRecords } from '../../src/policy/authz/records/records.ts'
import { runInProcess } from '../support/run-command.ts'

const readTask = (id: string) => ({ permission: 'READ', resource: 'Task', resourceId: id, need: 0 })
const READ_REVIEW_TASKS = {
  permission: 'READ_TASK',
  resource: 'ProcessDefinition',
  resourceId: 'review',
  need: 0,
}

function lineOf(members: Readonly<Record<string, unknown>>): string {
  const defaults = {
    stream: 'audit',
    user: 'mary',
    engine: 'default',
    operation: 'getTask',
    decision: 'reported',
    rule: 'check 0',
  }
  return JSON.stringify({ level: 'info', ...defaults, ...members })
}

const run = (argv: readonly string[], lines: readonly string[]) =>
  runInProcess(['suggest', ...argv], Readable.from([lines.map((line) => `${line}\n`).join('')]))

/** Returns the lines of the output that are records. */
function recordsIn(out: string): readonly string[] {
  return out.split('\n').filter((line) => line.trimStart().startsWith('-'))
}

t.test('suggest prints the smallest set of records in the format of the records file', async (t) => {
  const { code, out } = await run(
    [],
    ['t1', 't2', 't3'].map((id) => lineOf({ missing: [readTask(id), READ_REVIEW_TASKS] })),
  )
  t.equal(code, 0)
  t.same(recordsIn(out), [
    '  - { type: 1, userId: mary, resourceType: 6, resourceId: review, permissions: [READ_TASK] } # process definition: 3 times',
  ])
  t.match(out, /^# 3 requests of 1 user lacked 3 permissions; 1 record would be enough\.$/m)
  const mary = { userId: 'mary', groups: [], tenants: [] }
  const asked = { resource: 'PROCESS_DEFINITION', permission: 'READ_TASK', id: 'review' } as const
  t.equal(isAuthorized(indexRecords(recordsOf(out)), mary, asked), true, 'and it reads them back')
})

t.test('suggest grants every need of a line separately', async (t) => {
  const missing = [readTask('t1'), { ...READ_REVIEW_TASKS, permission: 'CREATE_INSTANCE', need: 1 }]
  const { out } = await run([], [lineOf({ missing })])
  t.equal(recordsIn(out).length, 2)
})

t.test('suggest merges permissions on one id into one record for each user', async (t) => {
  const update = { ...readTask('t1'), permission: 'UPDATE' }
  const { out } = await run(
    [],
    [
      lineOf({ missing: [readTask('t1')] }),
      lineOf({ missing: [update] }),
      lineOf({ user: 'no', missing: [update] }),
    ],
  )
  t.match(recordsIn(out), [
    /userId: mary.*permissions: \[READ, UPDATE\]/,
    /userId: "no".*permissions: \[UPDATE\]/,
  ])
})

t.test('suggest grants to a group instead of its users with --group', async (t) => {
  const lines = ['mary', 'peter'].map((user) => lineOf({ user, missing: [readTask('t1')] }))
  const { out } = await run(['--group', 'clerks'], lines)
  t.match(recordsIn(out), [/groupId: clerks, resourceType: 7, resourceId: t1/])
  t.equal(recordsIn((await run(['--user', 'peter'], lines)).out).length, 1)
})

t.test('suggest grants on definitions instead of more than ten ids if these are alternatives', async (t) => {
  const numbers = Array.from({ length: 11 }, (_, index) => index)
  const { out } = await run(
    [],
    numbers.map((index) => {
      const byDefinition = { ...READ_REVIEW_TASKS, resourceId: `process-${index}` }
      return lineOf({ missing: [readTask(`t${index}`), byDefinition] })
    }),
  )
  t.notMatch(out, /resourceType: 7/)
  const alone = await run(
    [],
    numbers.map((index) => lineOf({ missing: [readTask(`t${index}`)] })),
  )
  t.equal(recordsIn(alone.out).length, 11)
  t.match(alone.out, /^# TASK\.READ: many ids/m)
})

t.test('suggest reports refusals that no record would change', async (t) => {
  const lines = [
    lineOf({ operation: 'queryTasks', rule: 'items: some' }),
    lineOf({ operation: 'cleanupAsync', rule: 'check 0: admin' }),
    lineOf({ operation: 'queryTasks', rule: 'items: some' }),
  ]
  const { code, out } = await run([], lines)
  t.equal(code, 0)
  t.match(out, /^authorizations: \[\]$/m)
  t.match(out, /^# {3}queryTasks by mary: items: some: 2 times$/m)
})

t.test(
  'suggest exits with 1 if a fetch left out all external tasks and no missing permission is known',
  async (t) => {
    const fetch = { operation: 'fetchAndLock', rule: 'items: none' }
    for (const decision of ['reported', 'permitted']) {
      const { code, out } = await run(
        [],
        [lineOf({ ...fetch, decision }), lineOf({ missing: [readTask('t1')] })],
      )
      t.equal(code, 1, decision)
      t.match(out, /1 record would be enough for these\.$/m)
      t.match(out, /^# The caller saw no items, .*\n# {3}fetchAndLock by mary: 1 time$/m)
    }
  },
)

t.test(
  'suggest uses the permissions missing for a list, and fetches that found no task are no gap',
  async (t) => {
    const missing = [{ ...READ_REVIEW_TASKS, permission: 'READ_INSTANCE' }]
    const fetch = { operation: 'fetchAndLock', rule: 'items: none' }
    const { code, out } = await run([], [lineOf(fetch), lineOf({ ...fetch, missing }), lineOf(fetch)])
    t.equal(code, 0)
    t.match(recordsIn(out), [/resourceId: review, permissions: \[READ_INSTANCE\]/])
  },
)

t.test('suggest ignores a reported request that the engine itself refused', async (t) => {
  const missing = [readTask('t1')]
  for (const status of [400, 403, 404, 500]) {
    const { code, out } = await run([], [lineOf({ missing, status }), lineOf({ missing: [readTask('t2')] })])
    t.equal(code, 0)
    t.match(recordsIn(out), [/resourceId: t2/], `${status}`)
    t.match(
      out,
      new RegExp(`^# The engine itself refused these.*\\n# {3}getTask by mary: ${status}: 1 time$`, 'm'),
    )
  }
  // The client disconnected, or no node responded: it is not known whether the engine would have permitted the request.
  for (const line of [
    { status: 200 },
    { status: 499 },
    { status: 503 },
    { status: 403, decision: 'refused' },
  ])
    t.match(recordsIn((await run([], [lineOf({ missing, ...line })])).out), [/resourceId: t1/])
  const { out } = await run(['--format', 'json'], [lineOf({ missing, status: 404 })])
  t.match(JSON.parse(out), { records: [], refusedByEngine: [{ what: 'getTask by mary: 404', times: 1 }] })
})

t.test('suggest quotes a user name so that it cannot add a record', async (t) => {
  const user = 'x\n  - { type: 0, resourceType: 6, resourceId: "*", permissions: [ALL] }'
  const { out } = await run(
    [],
    [lineOf({ user, rule: 'GW_HAZARD' }), lineOf({ user, missing: [readTask('t1')] })],
  )
  t.equal(recordsIn(out).length, 1)
  t.equal(recordsOf(out)[0]?.userId, user)
})

t.test('suggest says that a refusal hides further missing permissions', async (t) => {
  const { out } = await run([], [lineOf({ decision: 'refused', missing: [readTask('t1')] })])
  t.match(out, /^# 1 of them was refused/m)
})

t.test('suggest exits with 1 for a resource that no engine has', async (t) => {
  const { code, out } = await run([], [lineOf({ missing: [{ ...readTask('t1'), resource: 'Tusk' }] })])
  t.equal(code, 1)
  t.match(out, /^# Tried: 1 of 1 is still missing/m)
})

t.test('suggest ignores lines that are not audit lines', async (t) => {
  const { code, out } = await run(
    [],
    [
      'not json "audit"',
      '[]',
      '"audit"',
      lineOf({ stream: 'access', missing: [readTask('t1')] }),
      lineOf({ decision: 'permitted', missing: [readTask('t1')] }),
      lineOf({ user: undefined, missing: [readTask('t1')] }),
      lineOf({ missing: [null, 1, { permission: 'READ' }] }),
    ],
  )
  t.equal(code, 0)
  t.same(recordsIn(out), [])
})

t.test('suggest uses the singular for one and the plural for several', async (t) => {
  const { out } = await run([], [lineOf({ missing: [readTask('t1')] }), lineOf({ rule: 'items: some' })])
  t.match(out, /^# 1 request of 1 user lacked 1 permission; 1 record would be enough\.$/m)
  t.match(out, /# task: 1 time$/m)
  t.match(out, /^# {3}getTask by mary: items: some: 1 time$/m)
  const refused = lineOf({ decision: 'refused', missing: [{ ...readTask('t1'), resource: 'Tusk' }] })
  const two = await run([], [refused, refused])
  t.match(two.out, /^# 2 of them were refused/m)
  t.match(two.out, /^# Tried: 2 of 2 are still missing/m)
})

t.test('suggest counts unreadable lines, and exits with 2 if no audit line remains', async (t) => {
  const line = lineOf({ missing: [readTask('t1')] })
  const some = await run([], ['garbage', '', line.slice(0, -1), '[]', line])
  t.match(some, { code: 0, err: '3 lines could not be read as JSON\n' })
  t.equal(recordsIn(some.out).length, 1)
  const none = await run([], ['garbage'])
  t.match(none, { code: 2, out: '', err: '1 line could not be read as JSON\nThere is no audit line\n' })
  t.match(await run([], []), { code: 0, err: '' })
})

t.test('suggest exits with 2 for an engine without lines', async (t) => {
  const lines = [
    lineOf({ missing: [readTask('t1')] }),
    lineOf({ engine: 'second', decision: 'permitted', missing: [] }),
  ]
  const err = 'No line is of engine nope, but of default, second\n'
  t.match(await run(['--engine', 'nope'], lines), { code: 2, out: '', err })
  t.match(await run(['--engine', 'second'], lines), { code: 0, err: '' })
})

t.test('suggest requires --engine if the lines belong to several engines', async (t) => {
  const lines = [
    lineOf({ missing: [readTask('t1')] }),
    lineOf({ engine: 'second', missing: [readTask('7')] }),
  ]
  const both = await run([], lines)
  t.match(both, {
    code: 2,
    out: '',
    err: 'The lines are of engines default, second: choose one with --engine\n',
  })
  const { code, out } = await run(['--engine', 'second'], lines)
  t.equal(code, 0)
  t.match(recordsIn(out), [/resourceId: "7"/])
})

t.test('suggest reads --file instead of standard input', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'suggest-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'audit.jsonl'), lineOf({ missing: [readTask('t1')] }))
  t.equal(recordsIn((await run(['--file', join(folder, 'audit.jsonl')], [])).out).length, 1)
  t.match(await run(['--file', join(folder, 'none')], []), { code: 2, out: '', err: /none does not exist$/m })
})

t.test('suggest refuses an unknown argument', async (t) => {
  t.match(await run(['--frobnicate'], []), {
    code: 2,
    out: '',
    err: /^error: unknown option '--frobnicate'\n/,
  })
  t.match(await run(['audit.jsonl'], []), {
    code: 2,
    out: '',
    err: /^error: too many arguments for 'suggest'/,
  })
  t.match(await run(['--help'], []), { code: 0, out: /^Usage: engine-gateway suggest/, err: '' })
})

t.test('suggest prints JSON with --format json', async (t) => {
  const lines = [
    lineOf({ missing: [readTask('t1'), READ_REVIEW_TASKS] }),
    lineOf({ missing: [readTask('t2'), READ_REVIEW_TASKS] }),
    lineOf({ operation: 'cleanupAsync', rule: 'check 0: admin' }),
    lineOf({ operation: 'fetchAndLock', rule: 'items: none', user: 'peter' }),
    'garbage',
  ]
  const { code, out } = await run(['--format', 'json'], lines)
  t.equal(code, 1)
  t.match(JSON.parse(out), {
    records: [{ record: { userId: 'mary', resourceType: 6, permissions: ['READ_TASK'] }, times: 2 }],
    requests: 2,
    users: ['mary'],
    unmet: 0,
    noRecord: [{ what: 'cleanupAsync by mary: check 0: admin', times: 1 }],
    unknown: [{ what: 'fetchAndLock by peter', times: 1 }],
    unreadable: 1,
  })
})
