import { test } from 'tap'
import { decidedAcceptOf } from '../../src/request/accept.ts'
import { ACCEPTS, AMBIGUOUS_ACCEPTS, BAD_ACCEPTS } from '../support/accepts.ts'
import { PAGES } from '../support/pages.ts'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'
import { seed } from './seed.ts'

const basic = (user: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`,
})
const DIAGRAM = { method: 'GET', path: '/decision-definition/key/discount/diagram' } as const

void test('in front of a secured engine, a cached response is served only to callers whom the engine would permit', {
  skip: javaSkip,
}, async (t) => {
  const engine = await startEngine({ secured: true })
  t.teardown(() => engine.stop())
  await seed(engine.base, basic('demo'))
  await exchange(engine.base, createUser('mary'), basic('demo'))
  const gateway = await startGateway(
    engine.base,
    `, credentials: forward, service: { username: demo, password: demo },
      identity: { source: engine },
      authorization: { mode: engine, records: { source: engine } }`,
  )
  t.teardown(() => gateway.drain())
  await exchange(gateway.base, DIAGRAM, basic('demo'))
  const hit = await exchange(gateway.base, DIAGRAM, basic('demo'))
  t.match(hit.headers.get('cache-status'), /hit/)
  const direct = await exchange(engine.base, DIAGRAM, basic('mary'))
  const refused = await exchange(gateway.base, DIAGRAM, basic('mary'))
  t.equal(direct.status, 404)
  t.same([refused.status, refused.body], [direct.status, direct.body])
  t.equal(refused.headers.get('cache-status'), null)
})

void test('the gateway reads Accept as a secured engine does', { skip: javaSkip }, async (t) => {
  const engine = await startEngine({ secured: true })
  t.teardown(() => engine.stop())
  await seed(engine.base, basic('demo'))
  const ask = async (path: string, accept: string) => {
    const answer = await fetch(engine.base + path, { headers: { ...basic('demo'), accept } })
    return { status: answer.status, type: answer.headers.get('content-type') ?? '' }
  }
  for (const [accept, ...forms] of ACCEPTS)
    for (const [index, path] of ['/task', '/task/count'].entries()) {
      const { status, type } = await ask(path, accept)
      const form = status === 406 ? 'neither' : type.startsWith(HAL) ? 'hal' : false
      t.equal(form, forms[index], `${path} ${accept}`)
    }
  for (const accept of BAD_ACCEPTS)
    for (const path of ['/task', '/task/count']) t.equal((await ask(path, accept)).status, 400, accept)
  for (const accept of AMBIGUOUS_ACCEPTS)
    t.match(await ask('/task', accept), { status: 200, type: HAL }, accept)
  // The gateway does not forward a parameter whose end two parsers may see at different places.
  for (const [accept] of ACCEPTS.filter(([one]) => !/"[^"]*[,\\]/.test(one)))
    t.same(await ask('/task', decidedAcceptOf(accept)), await ask('/task', accept), accept)
})

const HAL = 'application/hal+json'

void test('the gateway reads pages and topic flags as a secured engine does', {
  skip: javaSkip,
}, async (t) => {
  const engine = await startEngine({ secured: true })
  t.teardown(() => engine.stop())
  await seed(engine.base, basic('demo'))
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(engine.base + path, { headers: { ...basic('demo'), ...headers } })
  const ids = await rowIds(await ask('/process-definition'))
  for (const [query, paging] of PAGES) {
    const answer = await ask(`/process-definition?${query}`)
    if (paging === null) t.ok([404, 500].includes(answer.status), query)
    else t.same(await rowIds(answer), ids.slice(paging.first, paging.first + paging.max), query)
  }
  for (const [query, names] of [
    ['withLockedTasks=TRUE', []],
    ['withLockedTasks=%20true&withRetriesLeft=x', ['work']],
    ['withUnlockedTasks=True&withRetriesLeft=TRUE', ['work']],
    ['topicName=foo&locked=true&maxResults=abc&firstResult=1&sortBy=x', ['work']],
  ] as const) {
    const answer = await ask(`/external-task/topic-names?${query}`)
    t.equal(answer.headers.get('cache-control'), 'no-cache')
    t.same(await answer.json(), names, query)
  }
  const head = await fetch(`${engine.base}/task`, { method: 'HEAD', headers: basic('demo') })
  t.same([head.status, head.headers.get('cache-control')], [200, null])
})

async function rowIds(answer: Response): Promise<readonly unknown[]> {
  const rows: unknown = await answer.json()
  return Array.isArray(rows) ? rows.map((row) => Object(row).id) : []
}

function createUser(id: string) {
  const profile = { id, firstName: id, lastName: id, email: `${id}@localhost` }
  return { method: 'POST', path: '/user/create', body: { profile, credentials: { password: id } } } as const
}
