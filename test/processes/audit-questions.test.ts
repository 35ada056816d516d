import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../support/cache-harness.ts'
import { type Seen, startNode } from '../support/fake-engine.ts'
import { BASE } from '../support/open-gateway.ts'
import { recordsOf, USERS } from '../support/people.ts'
import { jqSkip } from '../support/requirements.ts'
import { askToReload, type Reloadable, startReloadable } from '../support/reloadable.ts'
import { startWorkers } from '../support/started-workers.ts'
import { runInProcess } from '../support/run-command.ts'

// The questions of docs/audit.md, answered with the commands of the page from the files of a gateway alone.

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/audit.md'), 'utf8')
type Line = Readonly<Record<string, unknown>>

/** Returns the jq program of the page that contains a text, with other values. */
function programWith(text: string, values: Readonly<Record<string, string>> = {}): readonly string[] {
  const programs = [...PAGE.matchAll(/^jq (.*) '(.*)' audit\.jsonl$/gm)]
  const [, flags = '', program = ''] = programs.find(([line]) => line.includes(text)) ?? []
  const replaced = Object.entries(values).reduce((to, [from, value]) => to.replaceAll(from, value), program)
  return [...flags.split(' '), replaced]
}

function ask(file: string, ...of: Parameters<typeof programWith>): readonly Line[] {
  const out = execFileSync('jq', [...programWith(...of), file], { encoding: 'utf8' })
  return out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

const GRANTED = recordsOf([]).map((record, at) => ({ id: `r-${at}`, ...record }))

/** Responds with records, and accepts every write. */
function answerAsEngine({ method, url }: Seen, response: ServerResponse): void {
  response.setHeader('content-type', 'application/json')
  if (url === `${BASE}/authorization`) return void response.end(JSON.stringify(GRANTED))
  if (url.endsWith('/authorization/create')) return void response.end('{"id":"a-1","links":[]}')
  if (method === 'GET') return void response.end('{"id":"i-1","definitionId":"d","tenantId":null}')
  response.writeHead(204).end()
}

async function openAudited(t: Test, records: object) {
  const node = await startNode(t, answerAsEngine)
  const file = join(t.testdir({}), 'audit.jsonl')
  const gateway = await startReloadable(t, {
    engines: { default: { nodes: [node.url + BASE] } },
    log: { audit: file },
    audit: { reads: ['getProcessInstanceVariables'], reasons: true },
    authorization: { records },
  })
  const lines = (): readonly Line[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line) => (line.endsWith('}') ? [JSON.parse(line)] : []))
  const written = (event: string, count = 1) =>
    until(() => lines().filter((line) => line['event'] === event).length >= count)
  return { gateway, file, lines, written }
}

async function send(
  { ask: request }: Reloadable,
  method: string,
  path: string,
  body?: unknown,
): Promise<void> {
  const response = await request('demo', path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  await response.arrayBuffer()
}

const GRANT = { type: 1, userId: 'mary', resourceType: 7, resourceId: '*', permissions: ['READ'] }

t.test(
  'the lines of requests show who granted what to whom, and who read what',
  { skip: jqSkip },
  async (t) => {
    const { gateway, file, lines } = await openAudited(t, { source: 'engine' })
    await send(gateway, 'POST', '/authorization/create', GRANT)
    await send(gateway, 'PUT', '/group/accounting/members/mary')
    await send(gateway, 'POST', '/authorization/create', { ...GRANT, userId: 'ben' })
    await send(gateway, 'GET', '/process-instance/i-1/variables')
    await send(gateway, 'GET', '/process-instance/i-2/variables')
    await until(() => lines().filter(({ operation }) => operation !== undefined).length === 5)
    const granted = ask(file, '.change.after.userId == "mary"')
    t.match(granted, [
      { user: 'demo', client: '127.0.0.1', status: 200, change: { action: 'create', authorization: 'a-1' } },
      { user: 'demo', status: 204, change: { action: 'add', user: 'mary', group: 'accounting' } },
    ])
    for (const { requestId, time } of granted) {
      t.ok(lines().some((line) => line['requestId'] === requestId))
      t.match(time, /^\d{4}-/)
    }
    t.match(ask(file, '.change.after.groupId == "accounting"'), [{ change: { user: 'mary' } }])
    const reads = ask(file, 'getProcessInstanceVariables', { '7c2d11aa': 'i-1' })
    t.match(reads, [
      {
        user: 'demo',
        status: 200,
        permittedBy: [{ by: 'record', record: { groupId: 'camunda-admin', id: /^r-\d+$/ } }],
      },
    ])
    t.equal(reads.length, 1)
  },
)

t.test(
  'the lines of policies show which policy was in force, and what changed it',
  { skip: jqSkip },
  async (t) => {
    const { gateway, file, lines, written } = await openAudited(t, { source: 'file', file: 'records.yaml' })
    await written('policy')
    const first = lines().find(({ event }) => event === 'policy')
    const between = String(first?.['time'])
    const records = join(dirname(gateway.file), 'records.yaml')
    await writeFile(
      `${records}.new`,
      `${JSON.stringify({ authorizations: recordsOf(['grant mary TASK:* READ']) })}\n`,
    )
    await rename(`${records}.new`, records)
    await written('policy', 2)
    const last = lines().findLast(({ event }) => event === 'policy')
    t.match(ask(file, '.records.before'), [
      {
        engine: 'default',
        previous: first?.['policy'],
        policy: last?.['policy'],
        records: {
          source: records,
          added: 1,
          removed: 0,
          changed: 0,
          examples: [{ after: { userId: 'mary' } }],
        },
      },
    ])
    const digest = execFileSync('sha256sum', [records], { encoding: 'utf8' }).split(' ')[0]
    t.match(last, { records: { digest } }, 'the digest of sha256sum')
    const at = (time: string) => ask(file, '.time <= ', { '2026-01-31T12:00:00.000Z': time })
    t.match(at(between), [{ policy: first?.['policy'] }])
    t.match(at('2999-01-01T00:00:00.000Z'), [{ policy: last?.['policy'] }])
    t.same(at('1999-01-01T00:00:00.000Z'), [])
    await send(gateway, 'DELETE', '/task/x')
    await until(() => lines().some(({ operation }) => operation !== undefined))
    t.match(lines().at(-1), { operation: 'deleteTask', policy: last?.['policy'] })
  },
)

t.test('the files show who reloaded, and whether a line is missing', { skip: jqSkip }, async (t) => {
  const { gateway, file, written } = await openAudited(t, { source: 'file', file: 'records.yaml' })
  await written('start')
  const basic = `Basic ${Buffer.from('olga:any').toString('base64')}`
  await askToReload(gateway.running, { authorization: basic })
  await written('admin')
  const users = join(dirname(gateway.file), 'users.yaml')
  await writeFile(`${users}.new`, `${JSON.stringify({ users: USERS.slice(0, 2) })}\n`)
  await rename(`${users}.new`, users)
  await written('policy', 2)
  t.match(
    ask(file, '.event == "admin"').toSorted((one) => (one['event'] === 'admin' ? 1 : -1)),
    [
      { event: 'reload', cause: 'request', result: 'applied', before: /^[\da-f]{64}$/ },
      {
        event: 'admin',
        client: '127.0.0.1',
        administrator: 'olga',
        path: '/reload',
        decision: 'permitted',
      },
    ],
  )
  t.equal((await runInProcess(['audit', 'verify', file])).code, 0)
  const lines = readFileSync(file, 'utf8').split('\n')
  await writeFile(file, lines.filter((line) => !line.includes('"event":"admin"')).join('\n'))
  const { code, out } = await runInProcess(['audit', 'verify', file])
  t.equal(code, 1)
  t.match(out, /is missing/)
})

t.test(
  'with several workers, one of them writes starts, reloads and requests of administrators',
  async (t) => {
    const node = await startNode(t, answerAsEngine)
    const file = join(t.testdir({}), 'audit.jsonl')
    const engines = { default: { nodes: [node.url + BASE] } }
    const gateway = await startWorkers(t, { engines, log: { audit: file } })
    const { status } = await gateway.admin('/reload', {
      method: 'POST',
      headers: { 'x-requested-by': 'a test' },
    })
    t.equal(status, 200)
    const eventsOf = () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line) => (line.endsWith('}') ? [String(JSON.parse(line).event)] : []))
    await until(() => eventsOf().includes('admin'))
    const counted = (event: string) => eventsOf().filter((one) => one === event).length
    t.same(['start', 'reload', 'admin'].map(counted), [1, 1, 1])
    t.ok(counted('policy') >= 1, 'each worker writes its policies')
    t.equal((await runInProcess(['audit', 'verify', file])).code, 0)
  },
)

/** Writes the lines of all writers, or of all except one, to a file, and verifies it. */
async function verifyLines(lines: readonly Line[], without: unknown, ...options: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'audit-lines-'))
  const file = join(folder, 'audit.jsonl')
  const rest = lines.filter(({ writer }) => writer !== without).map((line) => JSON.stringify(line))
  await writeFile(file, `${rest.join('\n')}\n`)
  const ran = await runInProcess(['audit', 'verify', ...options, file])
  await rm(folder, { recursive: true })
  return ran
}

const linesIn = (file: string): readonly Line[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line.endsWith('}') ? [JSON.parse(line)] : []))

const writersOf = (lines: readonly Line[]) => [...new Set(lines.map(({ writer }) => writer))]

t.test('the lines before a reload and before a restart cannot be removed unnoticed', async (t) => {
  const node = await startNode(t, answerAsEngine)
  const file = join(t.testdir({ audit: {} }), 'audit', 'audit.jsonl')
  const settings = { engines: { default: { nodes: [node.url + BASE] } }, log: { audit: file } }
  for (const number of [1, 2])
    await t.test(`process ${number}`, async (t) => {
      const gateway = await startReloadable(t, settings)
      await send(gateway, 'DELETE', '/user/mary')
      t.equal((await gateway.reload({ ...settings, audit: { logins: true } })).status, 200)
      await send(gateway, 'DELETE', '/user/john')
    })
  const lines = linesIn(file)
  const writers = writersOf(lines)
  t.equal(writers.length, 4, 'each process has a writer before and after the reload')
  t.equal(lines.filter(({ event }) => event === 'end').length, 4)
  t.match(await verifyLines(lines, null, '--expect-end'), { code: 0 })
  for (const writer of writers.slice(0, -1)) {
    const { code, out } = await verifyLines(lines, writer)
    t.equal(code, 1)
    t.match(out, `all lines of writer ${String(writer)} are missing`)
  }
  const cut = lines.filter(({ event, writer }) => event !== 'end' || writer !== writers.at(-1))
  t.match(await verifyLines(cut, null), {
    code: 0,
    out: `not proved: that no line follows the last line of ${String(writers.at(-1))}`,
  })
  t.match(await verifyLines(cut, null, '--expect-end'), { code: 1, out: 'has no end line' })
})

t.test('after a restart, no writer of several workers can be removed unnoticed', async (t) => {
  const node = await startNode(t, answerAsEngine)
  const file = join(t.testdir({ audit: {}, key: 'k'.repeat(44) }), 'audit', 'audit.jsonl')
  const engines = { default: { nodes: [node.url + BASE] } }
  const settings = { engines, log: { audit: file }, audit: { key: 'k'.repeat(44) } }
  const first = await startWorkers(t, settings)
  first.kill('SIGTERM')
  t.equal(await first.exit, 0)
  const writers = writersOf(linesIn(file))
  const next = await startWorkers(t, settings)
  await until(() => writersOf(linesIn(file)).length > writers.length)
  const lines = linesIn(file)
  const keyed = ['--key-file', join(dirname(file), '..', 'key')]
  t.equal(writers.length, 2)
  t.notMatch(readFileSync(file, 'utf8'), 'kkkk')
  t.match(await verifyLines(lines, null, ...keyed), { code: 0 })
  for (const writer of writers)
    t.match(await verifyLines(lines, writer, ...keyed), { code: 1, out: String(writer) })
  next.kill('SIGTERM')
  t.equal(await next.exit, 0)
})
