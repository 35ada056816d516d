import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { CAMUNDA_PLACES } from '../../../src/operations/published/family-members.ts'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import {
  ask,
  listenAndRelay,
  openUpstream,
  READ,
  refusalOf,
  type Seen,
  startNode,
  startRawNode,
} from '../../support/fake-engine.ts'

const TASKS = '[{"id":"a","operatonFormRef":{"key":"operatonFormRef"}}]'
const RENAMED = '[{"id":"a","camundaFormRef" :{"key":"operatonFormRef"}}]'
const JSON_TYPE = { 'content-type': 'application/json' }
const GET_TASKS: UpstreamRequest = { ...READ, path: '/task', operation: 'getTasks' }

t.test('a relayed response keeps its length, and loses the headers that identify its bytes', async (t) => {
  const { upstream } = await openRenaming(t, {
    ...JSON_TYPE,
    'content-length': TASKS.length,
    etag: '"a"',
    'content-digest': 'sha-256=:x:',
    'accept-ranges': 'bytes',
    'cache-control': 'no-cache',
  })
  const { headers, body } = await ask((await listenAndRelay(t, upstream, GET_TASKS)).port)
  t.equal(body.toString(), RENAMED)
  t.match(headers, { 'content-length': `${TASKS.length}`, 'cache-control': 'no-cache' })
  for (const name of ['etag', 'content-digest', 'accept-ranges']) t.notOk(name in headers, name)
})

t.test('a fetched response is renamed, and HAL as well', async (t) => {
  for (const type of ['application/json;charset=UTF-8', 'application/hal+json']) {
    const { upstream } = await openRenaming(t, { 'content-type': type, etag: '"a"' })
    const { body, headers } = await upstream.fetch(GET_TASKS, 1024)
    t.equal(body.toString(), RENAMED)
    t.notOk('etag' in headers)
  }
})

t.test('the request asks for a complete response without content encoding', async (t) => {
  const { upstream, seen } = await openRenaming(t, JSON_TYPE)
  const headers = { 'accept-encoding': 'gzip', 'if-none-match': '"a"', range: 'bytes=0-1', accept: '*/*' }
  await ask((await listenAndRelay(t, upstream, { ...GET_TASKS, headers })).port)
  await upstream.fetch({ ...GET_TASKS, headers }, 1024)
  t.equal(seen.length, 2)
  for (const { headers: sent } of seen) {
    t.match(sent, { 'accept-encoding': 'identity', accept: '*/*' })
    t.notOk('if-none-match' in sent || 'range' in sent)
  }
})

t.test('other operations, errors and other content are not changed', async (t) => {
  const cases: readonly (readonly [string | undefined, number, string])[] = [
    ['getTaskVariables', 200, 'application/json'],
    [undefined, 200, 'application/json'],
    ['getTasks', 400, 'application/json'],
    ['getTasks', 200, 'text/plain'],
  ]
  for (const [operation, status, type] of cases) {
    const { upstream, seen } = await openRenaming(t, { 'content-type': type, etag: '"a"' }, status)
    const upstreamRequest = { ...GET_TASKS, operation, headers: { 'accept-encoding': 'gzip' } }
    const relayed = await ask((await listenAndRelay(t, upstream, upstreamRequest)).port)
    t.equal(relayed.body.toString(), TASKS, `${operation} ${status} ${type}`)
    t.equal(relayed.headers['etag'], '"a"')
    t.equal((await upstream.fetch(upstreamRequest, 1024)).body.toString(), TASKS)
    t.equal(seen[0]?.headers['accept-encoding'], operation === 'getTasks' ? 'identity' : 'gzip')
  }
})

t.test('an encoded response is refused, although an engine may ignore the request for none', async (t) => {
  const node = await startNode(t, (_request, response) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(gzipSync(TASKS))
  })
  const { upstream } = openUpstream(t, [node.url], { renamed: CAMUNDA_PLACES })
  const { code, message } = await refusalOf(upstream.fetch(GET_TASKS, 1024))
  t.equal(code, 'GW_UPSTREAM_INVALID')
  t.match(message, /content encoding/)
  const relayed = await ask((await listenAndRelay(t, upstream, GET_TASKS)).port)
  t.equal(relayed.headers['x-gateway-error'], 'GW_UPSTREAM_INVALID')
})

t.test('a response of unknown length is streamed in chunks, in which names are split', async (t) => {
  const pieces = [...TASKS.matchAll(/.{1,7}/g)].map(
    ([piece]) => `${piece.length.toString(16)}\r\n${piece}\r\n`,
  )
  const node = await startRawNode(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (const [index, piece] of pieces.entries()) setTimeout(() => socket.write(piece), 5 * index)
    setTimeout(() => socket.write('0\r\n\r\n'), 5 * pieces.length)
  })
  const { upstream } = openUpstream(t, [node.url], { renamed: CAMUNDA_PLACES })
  const { body } = await ask((await listenAndRelay(t, upstream, GET_TASKS)).port)
  t.equal(body.toString(), RENAMED)
})

t.test('a long list is streamed, and its length is unchanged', async (t) => {
  const item = TASKS.slice(1, -1)
  const list = `[${Array.from({ length: 20_000 }, () => item).join(',')}]`
  const { upstream } = await openRenaming(t, { ...JSON_TYPE, 'content-length': list.length }, 200, list)
  const { body, headers } = await ask((await listenAndRelay(t, upstream, GET_TASKS)).port)
  t.equal(headers['content-length'], `${list.length}`)
  t.equal(body.toString(), list.replaceAll('"operatonFormRef":', '"camundaFormRef" :'))
})

t.test('after a broken attempt the next response is renamed from its beginning', async (t) => {
  const broken = await startRawNode(t, (socket) => {
    socket.write(
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n[{"id":{"operat',
    )
    setTimeout(() => socket.destroy(), 20)
  })
  const node = await startNode(t, (_request, response) => response.writeHead(200, JSON_TYPE).end(TASKS))
  const { upstream, attempts } = openUpstream(t, [broken.url, node.url], { renamed: CAMUNDA_PLACES })
  const { body } = await ask((await listenAndRelay(t, upstream, GET_TASKS)).port)
  t.equal(body.toString(), RENAMED)
  t.equal(attempts.length, 2)
})

t.test('after a broken attempt a response of another kind is not renamed', async (t) => {
  const broken = await startRawNode(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n[{"operat')
    setTimeout(() => socket.destroy(), 20)
  })
  const node = await startNode(t, (_request, response) => response.writeHead(400, JSON_TYPE).end(TASKS))
  const { upstream } = openUpstream(t, [broken.url, node.url], { renamed: CAMUNDA_PLACES })
  const { status, body } = await ask((await listenAndRelay(t, upstream, GET_TASKS)).port)
  t.equal(status, 400)
  t.equal(body.toString(), TASKS)
})

t.test('a comparison gets the names that the groups send', async (t) => {
  const node = await startNode(t, (_request, response) => response.writeHead(200, JSON_TYPE).end(TASKS))
  const { upstream } = openUpstream(t, [{ url: node.url, group: 'new' }], { renamed: CAMUNDA_PLACES })
  const group = upstream.openGroup('new')
  t.teardown(() => group.close())
  t.equal((await group.fetch(GET_TASKS, 1024)).body.toString(), TASKS)
})

async function openRenaming(
  t: Test,
  headers: Readonly<Record<string, string | number>>,
  status = 200,
  body = TASKS,
) {
  const seen: Seen[] = []
  const node = await startNode(t, (request, response) => {
    seen.push(request)
    response.writeHead(status, headers).end(body)
  })
  return { ...openUpstream(t, [node.url], { renamed: CAMUNDA_PLACES }), seen }
}
