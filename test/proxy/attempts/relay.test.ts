import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'
import t from 'tap'
import {
  ask,
  listenAndRelay,
  openUpstream,
  READ,
  startNode,
  startRawNode,
  WRITE,
} from '../../support/fake-engine.ts'

t.test('a small response arrives complete, with headers of the node and of the gateway', async (t) => {
  const node = await startRawNode(t, (socket) =>
    socket.write(
      'HTTP/1.1 200 OK\r\nContent-Type: application/json;charset=UTF-8\r\nContent-Length: 4\r\nCache-Control: no-cache\r\n' +
        'Set-Cookie: a=1\r\nset-cookie: b=2\r\nX-Request-Id: its own\r\n' +
        'Content-Disposition: attachment; filename="\u00e9.bpmn"\r\n\r\n[12]',
      'latin1',
    ),
  )
  const { upstream } = openUpstream(t, [node.url])
  const listener = await listenAndRelay(t, upstream, READ)
  const heard = await ask(listener.port)
  t.match(heard, {
    status: 200,
    headers: {
      'content-type': 'application/json;charset=UTF-8',
      'content-length': '4',
      'cache-control': 'no-cache',
      'x-request-id': 'r-1',
      'content-disposition': 'attachment; filename="\u00e9.bpmn"',
    },
  })
  t.notOk('set-cookie' in heard.headers, 'a cookie of the node stays here')
  t.equal(heard.body.toString(), '[12]')
  t.same(listener.relayed, [{ status: 200, node: node.url, bytes: 4, ended: 'whole' }])
})

t.test('a request may also receive the body of a successful, unencoded response up to 64 KiB', async (t) => {
  const node = await startNode(t, ({ url }, response) => {
    if (url.startsWith('/encoded')) response.setHeader('content-encoding', 'gzip')
    if (url.startsWith('/refused')) response.statusCode = 400
    const bytes = Number(new URL(url, 'http://a').searchParams.get('bytes') ?? 3)
    if (url.startsWith('/pieces')) response.write('[')
    response.end('x'.repeat(bytes))
  })
  const { upstream } = openUpstream(t, [node.url])
  const bodyOf = async (path: string, keepsResponse = true) => {
    const listener = await listenAndRelay(t, upstream, { ...WRITE, path, keepsResponse })
    const over = listener.over()
    await ask(listener.port, 'POST')
    const relayed = await over
    return 'body' in relayed && Buffer.isBuffer(relayed.body) ? relayed.body.toString() : null
  }
  t.equal(await bodyOf('/one'), 'xxx')
  t.equal(await bodyOf('/pieces'), '[xxx')
  t.equal((await bodyOf('/one?bytes=65536'))?.length, 65_536)
  t.equal(await bodyOf('/one?bytes=65537'), null)
  t.equal(await bodyOf('/pieces?bytes=65536'), null)
  t.equal(await bodyOf('/encoded'), null)
  t.equal(await bodyOf('/refused'), null)
  t.equal(await bodyOf('/one', false), null)
})

t.test('hop-by-hop headers are removed, including those that Connection names', async (t) => {
  const node = await startRawNode(t, (socket) =>
    socket.write(
      'HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Secret\r\nKeep-Alive: timeout=5\r\nX-Secret: 1\r\nX-Open: 2\r\nETag: "x"\r\n' +
        'Proxy-Authenticate: Basic\r\nTrailer: X-T\r\nUpgrade: h2c\r\nContext-User-ID: a\r\nContent-Length: 0\r\n\r\n',
    ),
  )
  const { upstream } = openUpstream(t, [node.url])
  const listener = await listenAndRelay(t, upstream, READ)
  const { headers } = await ask(listener.port)
  t.same(Object.keys(headers).sort(), ['connection', 'content-length', 'date', 'etag', 'x-request-id'])
  t.equal(headers.connection, 'close', 'our own, not the node’s')
})

t.test('a 204 has no body and no length', async (t) => {
  const node = await startRawNode(t, (socket) =>
    socket.write('HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nETag: b\r\n\r\n'),
  )
  const { upstream } = openUpstream(t, [node.url])
  const listener = await listenAndRelay(t, upstream, WRITE)
  const heard = await ask(listener.port, 'POST')
  t.match(heard, { status: 204, headers: { etag: 'b', 'content-length': undefined } })
  t.equal(heard.body.length, 0)
})

t.test('HEAD is forwarded as HEAD, and its response keeps the announced length', async (t) => {
  const node = await startNode(t, (_request, response) =>
    response.writeHead(200, { 'Content-Length': 300_000 }).end(),
  )
  const { upstream } = openUpstream(t, [node.url])
  const listener = await listenAndRelay(t, upstream, { ...READ, method: 'HEAD' })
  const heard = await ask(listener.port, 'HEAD')
  t.match(heard, { status: 200, headers: { 'content-length': '300000' } })
  t.equal(heard.body.length, 0)
  t.equal(node.seen[0]?.method, 'HEAD')
})

t.test('a 304 is passed to the client', async (t) => {
  const node = await startNode(t, (_request, response) => response.writeHead(304, { ETag: '"a"' }).end())
  const { upstream } = openUpstream(t, [node.url])
  const listener = await listenAndRelay(t, upstream, READ)
  t.match(await ask(listener.port), { status: 304, headers: { etag: '"a"' } })
})

t.test('responses of every length and framing arrive byte for byte', async (t) => {
  for (const bytes of [0, 1, 64 * 1024, 64 * 1024 + 1, 3_000_000]) {
    for (const known of [true, false]) {
      const body = randomBytes(bytes)
      const node = await startNode(t, (_request, response) => {
        if (known) response.setHeader('Content-Length', bytes)
        response.write(body.subarray(0, bytes / 2))
        response.end(body.subarray(bytes / 2))
      })
      const { upstream } = openUpstream(t, [node.url])
      const listener = await listenAndRelay(t, upstream, READ)
      const heard = await ask(listener.port)
      t.ok(heard.body.equals(body), `${bytes} bytes, length ${known ? 'known' : 'unknown'}`)
      t.equal(heard.headers['content-length'], known ? String(bytes) : undefined)
      t.match(listener.relayed, [{ bytes, ended: 'whole' }])
    }
  }
})

t.test('a break in a streamed response breaks the connection of the client', async (t) => {
  const heads = ['Content-Length: 200000\r\n', 'Transfer-Encoding: chunked\r\n']
  for (const head of heads) {
    const node = await startRawNode(t, (socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\n${head}\r\n${head.startsWith('T') ? 'fffff\r\n' : ''}${'a'.repeat(90_000)}`,
      )
      setTimeout(() => socket.resetAndDestroy(), 30)
    })
    const { upstream, attempts } = openUpstream(t, [node.url, node.url])
    const listener = await listenAndRelay(t, upstream, READ)
    await t.rejects(ask(listener.port), { code: 'ECONNRESET' })
    t.match(listener.relayed, [{ status: 200, ended: 'broken' }])
    t.match(attempts, [{ result: 'reset', status: 200 }])
    t.equal(node.heard.length, 1)
  }
})

t.test('a client of HTTP/1.0 sees a reset instead of a regular end if the response breaks off', async (t) => {
  const node = await startRawNode(t, (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n${'a'.repeat(90_000)}`)
    setTimeout(() => socket.resetAndDestroy(), 30)
  })
  const { upstream } = openUpstream(t, [node.url])
  const listener = await listenAndRelay(t, upstream, READ)
  const client = net.connect(listener.port, '127.0.0.1')
  client.write('GET / HTTP/1.0\r\n\r\n')
  client.resume()
  await t.rejects(once(client, 'close'), { code: 'ECONNRESET' })
})

t.test('a break in a small response becomes an error response', async (t) => {
  for (const [upstreamRequest, code, tries] of [
    [READ, 'GW_UPSTREAM_FAILED', 2],
    [WRITE, 'GW_OUTCOME_UNKNOWN', 1],
  ] as const) {
    const node = await startRawNode(t, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
      setTimeout(() => socket.resetAndDestroy(), 20)
    })
    const { upstream } = openUpstream(t, [node.url, node.url])
    const listener = await listenAndRelay(t, upstream, upstreamRequest)
    t.match(await ask(listener.port), { status: 502, headers: { 'x-gateway-error': code } })
    t.equal(node.heard.length, tries)
  }
})

const UNGIVEN = {
  'a collected one': 'Content-Length: 100\r\n\r\nhalf',
  'a long one, before its body': 'Content-Length: 200000\r\n\r\n',
  'one of unknown length, before its body': 'Transfer-Encoding: chunked\r\n\r\n',
  'one that is framed wrongly': 'Transfer-Encoding: chunked\r\n\r\nzz\r\n',
}
for (const [what, rest] of Object.entries(UNGIVEN)) {
  t.test(`a response that breaks before any of it was relayed is retried elsewhere: ${what}`, async (t) => {
    const breaking = await startRawNode(t, (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nX-From: broken\r\n${rest}`)
      setTimeout(() => socket.resetAndDestroy(), 20)
    })
    const up = await startNode(t)
    const { upstream, attempts } = openUpstream(t, [breaking.url, up.url])
    const listener = await listenAndRelay(t, upstream, READ)
    const heard = await ask(listener.port)
    t.match(heard, { status: 200, headers: { 'x-from': undefined, 'content-length': '2' } })
    t.equal(heard.body.toString(), '{}')
    t.match(listener.relayed, [{ node: up.url, bytes: 2, ended: 'whole' }])
    t.match(attempts, [{ status: 200 }, { result: 'ok', status: 200 }])
    const written = await listenAndRelay(t, openUpstream(t, [breaking.url, up.url]).upstream, WRITE)
    t.match(await ask(written.port, 'POST'), { status: 502 }, 'a write is not repeated')
    t.same([breaking.heard.length, up.seen.length], [2, 1])
  })
}

t.test('a read is retried on the only node', async (t) => {
  const node = await startRawNode(t, (socket, count) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n${count === 1 ? '12' : '1234'}`)
    if (count === 1) setTimeout(() => socket.resetAndDestroy(), 20)
  })
  const { upstream } = openUpstream(t, [node.url])
  const listener = await listenAndRelay(t, upstream, READ)
  t.equal((await ask(listener.port)).body.toString(), '1234')
  t.match(listener.relayed, [{ bytes: 4, ended: 'whole' }])
})

t.test('no read fails if one of two nodes breaks off a quarter of its responses', async (t) => {
  const breaking = await startRawNode(t, (socket, count) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${count % 4 === 0 ? '{' : '{}'}`)
    if (count % 4 === 0) socket.destroySoon()
  })
  const up = await startNode(t)
  // The weight is so high that the node is chosen although each break makes it look slow.
  const nodes = [{ url: breaking.url, weight: 40 }, { url: up.url }]
  const { upstream, attempts } = openUpstream(t, nodes, { random: Math.random })
  const listener = await listenAndRelay(t, upstream, READ)
  const statuses: number[] = []
  const brokenOnes = (): number => attempts.filter(({ result }) => result === 'reset').length
  // How often the node is chosen depends on its measured latency, which depends on the other load of the machine.
  const isEnough = (): boolean => statuses.length >= 4000 || (statuses.length >= 400 && brokenOnes() >= 10)
  const askAll = async (): Promise<void> => {
    while (!isEnough()) statuses.push((await ask(listener.port)).status)
  }
  await Promise.all(Array.from({ length: 8 }, askAll))
  t.same(
    statuses.filter((status) => status !== 200),
    [],
  )
  t.ok(brokenOnes() >= 10, `${brokenOnes()} broke off`)
})

t.test('a response that stops in the middle is a timeout', async (t) => {
  const node = await startRawNode(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'),
  )
  const { upstream } = openUpstream(t, [node.url], {
    timeouts: { connectMs: 500, headersMs: 5000, bodyMs: 100 },
  })
  // A poll has no time limit for its response head, but it has one for its body.
  for (const headersMs of [5000, Infinity]) {
    const listener = await listenAndRelay(t, upstream, { ...READ, headersMs })
    t.match(await ask(listener.port), { status: 504, headers: { 'x-gateway-error': 'GW_UPSTREAM_TIMEOUT' } })
  }
})

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
}

t.test('no timer remains after a complete response', async (t) => {
  const node = await startNode(t, (_request, response) => response.end('{}'))
  const { upstream } = openUpstream(t, [node.url], {
    timeouts: { connectMs: 500, headersMs: 60_000, bodyMs: 60_000 },
  })
  await upstream.fetch(READ, 1000)
  const before = countTimers()
  for (let count = 0; count < 20; count += 1) await upstream.fetch(READ, 1000)
  t.ok(countTimers() - before < 10, 'those of the connection may be there')
})

t.test('a response without framing ends with its connection', async (t) => {
  const node = await startRawNode(t, (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'))
  const { upstream } = openUpstream(t, [node.url])
  const listener = await listenAndRelay(t, upstream, READ)
  t.equal((await ask(listener.port)).body.toString(), 'all of it')
})

t.test('a relay that fails before the response lets the gateway send an error response', async (t) => {
  const node = await startRawNode(t, (socket) => socket.resetAndDestroy())
  const { upstream } = openUpstream(t, [node.url])
  const listener = await listenAndRelay(t, upstream, WRITE)
  t.match(await ask(listener.port, 'POST'), {
    status: 502,
    headers: { 'x-gateway-error': 'GW_OUTCOME_UNKNOWN' },
  })
  t.equal(node.heard.length, 1)
})

t.test('concurrent clients of a relay receive their own responses', async (t) => {
  let count = 0
  const node = await startNode(t, (_request, response) => {
    const body = Buffer.alloc((count % 4) * 40_000 + 8, String(count).padStart(8, '0'))
    count += 1
    response.end(body)
  })
  const { upstream } = openUpstream(t, [node.url], { connections: 4 })
  const listener = await listenAndRelay(t, upstream, READ)
  const heard = await Promise.all(Array.from({ length: 100 }, () => ask(listener.port)))
  const marks = heard.map(({ body }) => {
    const mark = body.subarray(0, 8).toString()
    t.equal(body.length, (Number(mark) % 4) * 40_000 + 8)
    t.ok(body.equals(Buffer.alloc(body.length, mark)))
    return mark
  })
  t.equal(new Set(marks).size, 100)
})
