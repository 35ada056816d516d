import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ConfigError } from '../../src/config/config.ts'
import { openWatchedFile } from '../../src/files/watched-file.ts'
import { parseLimits } from '../../src/parsing/parse-limits.ts'
import { createParser } from '../../src/parsing/parser.ts'
import type { StoredRecord } from '../../src/operations/authorization-record.ts'
import { indexRecords } from '../../src/policy/authz/records/records.ts'

const HASH = '$2b$10$d/gyW6JQo2kkmkWcvar66.JXI0epwefiOKAsBT2lKepdZugPsKBOy'
/** More records than one piece and one step have. */
const COUNT = 2_500

const RECORDS: readonly StoredRecord[] = Array.from({ length: COUNT }, (_, at) => ({
  type: at % 50 === 0 ? 0 : at % 7 === 0 ? 2 : 1,
  permissions: at % 3 === 0 ? ['ALL'] : ['READ', 'UPDATE'],
  userId: at % 50 === 0 ? '*' : at % 2 === 0 ? `user ${at % 90}` : null,
  groupId: at % 50 !== 0 && at % 2 === 1 ? `gröup ${at % 11}` : null,
  resourceType: at % 4 === 0 ? 7 : 8,
  resourceId: at % 10 === 0 ? `𝒾d-${at}` : `id-${at}`,
}))

function open(t: Test, limits: Partial<ReturnType<typeof parseLimits>> = {}) {
  const parser = createParser({ ...parseLimits(), ...limits })
  t.teardown(() => parser.close())
  return parser
}

/** Opens a parser that uses a thread for every content. */
const openThreaded = (t: Test, limits: Partial<ReturnType<typeof parseLimits>> = {}) =>
  open(t, { inlineBytes: 0, inlineBytesAtStart: 0, inlineBytesOfJson: 0, ...limits })

const jsonOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

t.test('the records of a file are the same with and without a thread', async (t) => {
  const { rights, named, revoking } = indexRecords(RECORDS)
  const inline = await open(t).records(jsonOf(RECORDS), 'records.json')
  const threaded = await openThreaded(t).records(jsonOf(RECORDS), 'records.json')
  t.strictSame(inline.index, { rights, named, revoking })
  t.strictSame(threaded, inline)
})

t.test(
  'the records of an engine are the same with and without a thread, also what this gateway does not know',
  async (t) => {
    const unknown: readonly StoredRecord[] = [
      { type: 2, permissions: ['FLY'], userId: '\ud800', resourceType: 7, resourceId: null },
      { type: 1, permissions: ['READ'], userId: '\ud801', resourceType: 99.5, resourceId: 'x' },
      { type: 1, permissions: ['READ'], groupId: '', resourceType: -3, resourceId: '' },
    ]
    const list = [...RECORDS, ...unknown]
    const { rights, named, revoking } = indexRecords(list)
    for (const parser of [open(t), openThreaded(t)]) {
      const { index, partlyRead } = await parser.stored(jsonOf(list))
      t.strictSame({ index, partlyRead }, { index: { rights, named, revoking }, partlyRead: 3 })
    }
  },
)

t.test('the users of a file are the same with and without a thread', async (t) => {
  const users = Array.from({ length: COUNT }, (_, at) => ({
    id: `user ${at}`,
    passwordHash: HASH,
    groups: at % 2 === 0 ? ['clerks'] : [],
    tenants: [],
  }))
  for (const parser of [open(t), openThreaded(t)]) {
    const { all, size, find, dummyHash } = await parser.users(jsonOf({ users }), 'users.yaml')
    t.strictSame(all, users)
    t.equal(size, COUNT)
    t.same(find(`user ${COUNT - 1}`), users.at(-1))
    t.equal(find('nobody'), undefined)
    t.match(dummyHash, /^\$2b\$10\$/)
  }
})

t.test('an htpasswd file and its groups are the same with and without a thread', async (t) => {
  const ids = Array.from({ length: COUNT }, (_, at) => `user ${at}`)
  const users = ids.map((id) => ({ id, groups: ['clerks'], tenants: [] }))
  for (const parser of [open(t), openThreaded(t)]) {
    const text = ids.map((id) => `${id}:${HASH}\n`).join('')
    const { all, dummyHash } = await parser.htpasswd(Buffer.from(text), 'htpasswd')
    t.strictSame(
      all,
      ids.map((id) => ({ id, passwordHash: HASH, groups: [], tenants: [] })),
    )
    t.match(dummyHash, /^\$2b\$10\$/)
    const groups = await parser.groups(jsonOf({ users }), 'groups.yaml')
    t.strictSame([...groups.values()], users)
    await t.rejects(parser.htpasswd(Buffer.from('x'), 'htpasswd'), {
      message: 'htpasswd has 1 problem',
    })
  }
})

t.test('a thread reports every problem of a file, with the position and without the content', async (t) => {
  const parser = openThreaded(t)
  const cases: readonly (readonly [text: string, problems: readonly RegExp[]])[] = [
    ['authorizations: { hunter2 ]\n', [/^line 1, column \d+: Flow map/]],
    ['[{"type": 1}]', [/^\[0\]\.permissions: /, /^\[0\]\.resourceType: /, /^\[0\]\.resourceId: /]],
  ]
  for (const [text, problems] of cases) {
    const error = await parser.records(Buffer.from(text), 'records.yaml').then(
      () => null,
      (thrown: unknown) => thrown,
    )
    t.ok(error instanceof ConfigError)
    t.match(error, { message: /^records\.yaml has \d problems?$/, problems })
    t.notMatch(JSON.stringify(error), 'hunter2')
  }
  await t.rejects(parser.stored(Buffer.from('{}')), {
    message: "The engine's response to /authorization is not a list of authorization records",
  })
})

t.test('a thread that needs too much memory or time fails, and the next one works', async (t) => {
  const text = `a: ${'&a [ '.repeat(20)}${'x, '.repeat(60_000)}`
  const small = openThreaded(t, { heapMiB: () => 24 })
  await t.rejects(small.records(Buffer.from(text), 'records.yaml'), {
    message: 'parsing needs more than 24 MiB of memory',
  })
  await t.resolves(small.records(jsonOf([]), 'records.yaml'))
  await t.rejects(openThreaded(t, { threadMs: 1 }).records(Buffer.from(text), 'records.yaml'), {
    message: 'parsing takes more than 0.001 s',
  })
})

t.test('the end of the parser stops its threads, and no other thread starts', async (t) => {
  const parser = openThreaded(t)
  const running = ['one', 'two'].map((file) => parser.records(jsonOf(RECORDS), file))
  const results = Promise.allSettled(running)
  await new Promise((resolve) => setImmediate(resolve))
  parser.close()
  t.match(await results, [
    { status: 'rejected', reason: { message: /^the parsing thread ended with exit code \d$/ } },
    { status: 'rejected', reason: { message: 'parsing was stopped' } },
  ])
})

t.test('a content that shares its memory with others is copied for the thread', async (t) => {
  const shared = Buffer.concat([jsonOf([RECORDS[1]]), Buffer.from('others')])
  const content = shared.subarray(0, shared.length - 6)
  const { index } = await openThreaded(t).records(content, 'records.json')
  t.same([...index.named.groups.keys()], ['gröup 1'])
  t.equal(shared.toString('utf8').slice(-6), 'others')
})

t.test('long contents are parsed without a thread only before the first request', async (t) => {
  const parser = open(t, { inlineBytes: 0, threadMs: 0 })
  await t.resolves(parser.records(jsonOf(RECORDS), 'records.json'))
  parser.startServing()
  await t.rejects(parser.records(jsonOf(RECORDS), 'records.json'), { message: /^parsing takes more/ })
})

t.test('if the thread fails, the last content of the file stays in force', async (t) => {
  const path = join(t.testdir({ 'records.json': '[]' }), 'records.json')
  const parser = open(t, { inlineBytes: 0, threadMs: 0 })
  const problems: (string | null)[] = []
  const file = await openWatchedFile({
    path,
    parse: (content) => parser.records(content, path),
    staleAfterMs: 60_000,
    settleMs: 0,
    onLook: (problem) => void problems.push(problem),
  })
  t.teardown(() => file.close())
  parser.startServing()
  const before = file.current()
  await writeFile(path, `${JSON.stringify(RECORDS)}\n`)
  await file.look()
  t.equal(file.current(), before)
  t.same(problems, ['parsing takes more than 0 s'])
})
