import t from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'
import { seed } from './seed.ts'

interface HostileInput {
  /** The ambiguity of the input. */
  readonly title: string
  readonly path: string
  /** Body of a POST. If absent, the request is a GET. */
  readonly body?: string
  readonly status: number
}

const QUERIES = ['/task', '/task/count'].flatMap((path): readonly HostileInput[] => [
  { title: 'or-blocks in a query string', path: `${path}?orQueries=x`, status: 500 },
  {
    title: 'a semicolon between two parameters',
    path: `${path}?processDefinitionKey=review;processDefinitionKey=external`,
    status: 200,
  },
  { title: 'an unknown order', path: `${path}?sortBy=x%27--&sortOrder=asc`, status: 400 },
  { title: 'a plus sign in a value', path: `${path}?name=Read+it`, status: 200 },
  { title: 'an encoded plus sign in a value', path: `${path}?name=Read%2Bit`, status: 200 },
  { title: 'half of a surrogate pair in a name', path, body: String.raw`{"na\ud800me":"x"}`, status: 200 },
  { title: 'half of a surrogate pair in a value', path, body: String.raw`{"name":"x\ud800"}`, status: 200 },
])

const fetchWith = (members: object): Pick<HostileInput, 'path' | 'body'> => ({
  path: '/external-task/fetchAndLock',
  body: JSON.stringify({
    workerId: 'w',
    maxTasks: 1,
    topics: [{ topicName: 'none', lockDuration: 1000 }],
    ...members,
  }),
})

const FETCHES: readonly HostileInput[] = [
  { title: 'a negative number of tasks', ...fetchWith({ maxTasks: -1 }), status: 500 },
  { title: 'a negative time to wait', ...fetchWith({ asyncResponseTimeout: -1 }), status: 200 },
  {
    title: 'a time to wait above 30 minutes',
    ...fetchWith({ asyncResponseTimeout: 1_800_001 }),
    status: 400,
  },
]

t.test('input that two parsers may read differently', { skip: javaSkip }, async (t) => {
  const engine = await startEngine()
  t.teardown(() => engine.stop())
  const ids = await seed(engine.base)
  const gateway = await startGateway(engine.base)
  t.teardown(() => gateway.drain())
  const mary = { authorization: `Basic ${Buffer.from('mary:mary').toString('base64')}` }

  for (const { title, path, body, status } of [...QUERIES, ...FETCHES])
    await t.test(`${path.split('?')[0]}: ${title} gets the response of the engine`, async (t) => {
      const there = await send(engine.base, path, body)
      t.equal(there.status, status)
      t.same(await send(gateway.base, path, body, gateway.headers), there)
      // The records of mary make the only task of the seed visible to her.
      t.same(await send(gateway.base, path, body, mary), there)
    })

  await t.test('a plus sign finds the task by the name with a space', async (t) => {
    const { body } = await send(gateway.base, '/task/count?name=Read+it', undefined, mary)
    t.same(body, { count: 1 })
  })

  for (const [title, path, body, status] of [
    ['a name of a member without quotes', '/task', '{name:"x"}', 400],
    ['overlong UTF-8 in a query string', '/task?nameLike=%c0%af', undefined, 200],
    [
      'a text of 19 digits as the number of tasks',
      '/external-task/fetchAndLock',
      fetchWith({ maxTasks: '9223372036854775807' }).body,
      400,
    ],
  ] as const)
    await t.test(`${title} is refused; the engine responds with ${status}`, async (t) => {
      t.equal((await send(engine.base, path, body)).status, status)
      const refused = { status: 400, body: { type: 'InvalidRequestException' } }
      t.match(await send(gateway.base, path, body, gateway.headers), refused)
    })

  await t.test('a duplicate topic locks no task of another definition', async (t) => {
    const work = { topicName: 'work', lockDuration: 60_000 }
    for (const topics of [
      [{ ...work, processDefinitionKey: 'external' }, work],
      [work, { ...work, processDefinitionKey: 'external' }],
    ]) {
      const { path, body } = fetchWith({ topics })
      t.match(await send(gateway.base, path, body, mary), { status: 200, body: [] })
    }
    const task = await exchange(engine.base, { method: 'GET', path: `/external-task/${ids.externalTaskId}` })
    t.match(task.body, { workerId: null })
    const { path, body } = fetchWith({ topics: [{ ...work, processDefinitionKey: 'other' }, work] })
    const unrestricted = await send(engine.base, path, body)
    t.match(unrestricted.body, [{ id: ids.externalTaskId }], 'of two such topics the engine reads the last')
  })

  for (const { title, form, tenantId, status } of FORMS)
    await t.test(`/deployment/create: ${title}`, async (t) => {
      const there = await deploy(engine.base, form)
      t.match(there, { status, tenantId })
      t.same(await deploy(gateway.base, form, gateway.headers), there)
    })
})

interface HostileForm {
  readonly title: string
  readonly form: string
  readonly tenantId: string | null
  readonly status: number
}

const file = '--b\r\nContent-Disposition: form-data; name="a"; filename="a.txt"\r\n\r\nx\r\n--b--\r\n'
const FORMS: readonly HostileForm[] = [
  {
    title: 'a transfer encoding of a part is not decoded',
    form: `--b\r\nContent-Disposition: form-data; name="tenant-id"\r\nContent-Transfer-Encoding: base64\r\n\r\ndDI=\r\n${file}`,
    tenantId: 'dDI=',
    status: 200,
  },
  {
    title: 'a part without a name is ignored',
    form: `--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n${file}`,
    tenantId: null,
    status: 200,
  },
  {
    title: 'a part in a preamble with bare line feeds is no part',
    form: `x\n--b\nContent-Disposition: form-data; name="tenant-id"\n\nt2\n${file}`,
    tenantId: null,
    status: 400,
  },
]

interface Deployed {
  readonly status: number
  readonly tenantId: unknown
}

async function deploy(base: string, form: string, headers = {}): Promise<Deployed> {
  const type = { 'content-type': 'multipart/form-data; boundary=b' }
  const { status, body } = await send(base, '/deployment/create', form, { ...headers, ...type })
  return { status, tenantId: Object(body)['tenantId'] ?? null }
}

interface Received {
  readonly status: number
  readonly body: unknown
}

/** Sends the bytes of the body unchanged. */
async function send(
  base: string,
  path: string,
  body?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Received> {
  const response = await fetch(base + path, {
    ...(body !== undefined && { method: 'POST', body }),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  return { status: response.status, body: isJson ? JSON.parse(text) : text }
}
