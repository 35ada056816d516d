import t, { type Test } from 'tap'
import { Client } from 'undici'
import { type ProbeReport, type ProbeRequest, probe } from '../../../src/proxy/nodes/probe.ts'
import { refusingUrl, startNode, startRawNode } from '../../support/fake-engine.ts'

function ask(
  t: Test,
  url: string,
  timeoutMs = 5000,
  own: Partial<ProbeRequest> = { engine: 'orders' },
): Promise<ProbeReport> {
  const client = new Client(url)
  t.teardown(() => client.destroy())
  return probe(client, {
    path: '/engine-rest/engine',
    headers: ['authorization', 'Basic x'],
    engine: null,
    timeoutMs,
    ...own,
  })
}

const askApplication = (t: Test, url: string, timeoutMs?: number): Promise<ProbeReport> =>
  ask(t, url, timeoutMs, { path: '/app/health', headers: [] })

async function asked(t: Test, status: number, body: string): Promise<ProbeReport> {
  const node = await startNode(t, (_request, response) => response.writeHead(status).end(body))
  return ask(t, node.url)
}

t.test('a node that lists the engine is healthy', async (t) => {
  const node = await startNode(t, (_request, response) =>
    response.end('[{"name":"default"},{"name":"orders"}]'),
  )
  t.same(await ask(t, node.url), { result: 'ok', detail: '' })
  t.match(node.seen, [
    {
      method: 'GET',
      url: '/engine-rest/engine',
      headers: { authorization: 'Basic x', connection: 'close' },
    },
  ])
})

t.test('a node that lists only other engines is a wrong engine', async (t) => {
  t.same(await asked(t, 200, '[{"name":"default"}]'), {
    result: 'wrong-engine',
    detail: 'the node does not have the engine orders; it has default',
  })
  t.same(await asked(t, 200, '[]'), {
    result: 'wrong-engine',
    detail: 'the node does not have the engine orders; it has no engine',
  })
})

t.test('any status other than 200 fails the probe of an engine', async (t) => {
  t.same(await asked(t, 404, '[]'), {
    result: 'probe',
    detail: 'response status 404 for /engine-rest/engine',
    isMissing: true,
  })
  for (const status of [204, 302, 401, 500, 503])
    t.same(await asked(t, status, status === 204 ? '' : '[{"name":"orders"}]'), {
      result: 'probe',
      detail: `response status ${status}`,
    })
})

t.test('a body that is not a list of engines fails the probe', async (t) => {
  for (const body of ['<html>', '', '{"name":"orders"}', 'null'])
    t.match(await asked(t, 200, body), { result: 'probe' }, body)
  t.match(await asked(t, 200, '[null,1,"orders"]'), { result: 'wrong-engine' })
})

t.test('a probe reads at most 64 KiB', async (t) => {
  t.match(await asked(t, 200, ' '.repeat(70_000)), {
    result: 'probe',
    detail: 'the response is longer than 65536 bytes',
  })
})

t.test('a node that refuses connections is distinguished from a silent one', async (t) => {
  t.match(await ask(t, await refusingUrl()), { result: 'refused' })
  const frozen = await startRawNode(t, () => {})
  t.match(await ask(t, frozen.url, 30), { result: 'probe' })
  const slow = await startRawNode(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n['),
  )
  t.match(await ask(t, slow.url, 100), { result: 'probe' })
  t.match(await ask(t, 'http://engine.invalid'), { result: 'refused' })
})

t.test('a long response cannot fill the log', async (t) => {
  const { detail } = await asked(t, 200, JSON.stringify([{ name: 'x'.repeat(10_000) }]))
  t.ok(detail.length <= 200)
})

t.test('an application is healthy with any 2xx or 3xx response; redirects are not followed', async (t) => {
  for (const status of [200, 204, 301, 302, 303, 307, 308]) {
    const node = await startNode(t, (_request, response) =>
      response.writeHead(status, { Location: '/app/login' }).end(status === 204 ? '' : '<html>'),
    )
    t.same(await askApplication(t, node.url), { result: 'ok', detail: '' }, String(status))
    t.match(node.seen, [{ method: 'GET', url: '/app/health', headers: { connection: 'close' } }])
    t.equal(node.seen.length, 1)
  }
})

t.test('a 4xx or 5xx response fails the probe of an application', async (t) => {
  for (const status of [400, 401, 404, 429, 500, 503]) {
    const node = await startNode(t, (_request, response) => response.writeHead(status).end())
    t.same(await askApplication(t, node.url), { result: 'probe', detail: `response status ${status}` })
  }
})

t.test('the beginning of a long page is enough for a probe, but a broken page fails it', async (t) => {
  const long = await startNode(t, (_request, response) => response.end('x'.repeat(1_000_000)))
  t.match(await askApplication(t, long.url), { result: 'ok' })
  const endless = await startNode(t, (_request, response) => {
    response.write('x'.repeat(100_000))
  })
  t.match(await askApplication(t, endless.url), { result: 'ok' })
  const broken = await startRawNode(t, (socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'),
  )
  t.match(await askApplication(t, broken.url), { result: 'probe' })
  const late = await startRawNode(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'),
  )
  t.match(await askApplication(t, late.url, 100), { result: 'probe' })
  t.match(await askApplication(t, await refusingUrl()), { result: 'refused' })
})
