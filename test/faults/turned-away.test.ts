import t from 'tap'
import { openUpstream, READ, startNode, WRITE } from '../support/fake-engine.ts'

const LIMIT = 1_000_000
const TURNED_AWAY = [429, 502, 503, 504]

t.test('a read that gets 429, 502, 503 or 504 is retried once on another node', async (t) => {
  for (const status of TURNED_AWAY) {
    const away = await startNode(t, (_request, response) =>
      response.writeHead(status, { 'Retry-After': '7' }).end('away'),
    )
    const up = await startNode(t)
    const { upstream, attempts } = openUpstream(t, [away.url, up.url])
    t.match(await upstream.fetch(READ, LIMIT), { status: 200 })
    t.match(attempts, [
      { result: 'ok', status },
      { result: 'ok', status: 200 },
    ])
    const { upstream: allAway } = openUpstream(t, [away.url, away.url, away.url])
    away.seen.length = 0
    t.match(await allAway.fetch(READ, LIMIT), { status, headers: { 'retry-after': '7' } })
    t.equal(away.seen.length, 2)
  }
})

t.test('a write, or a read without another node, gets 429, 502, 503 or 504 unchanged', async (t) => {
  for (const status of TURNED_AWAY) {
    const away = await startNode(t, (_request, response) =>
      response.writeHead(status, { 'Retry-After': '7' }).end('away'),
    )
    const up = await startNode(t)
    const { upstream } = openUpstream(t, [away.url, up.url])
    const answer = await upstream.fetch(WRITE, LIMIT)
    t.match(answer, { status, headers: { 'retry-after': '7' } })
    t.equal(answer.body.toString(), 'away')
    t.same(up.seen, [])
    const { upstream: alone } = openUpstream(t, [away.url])
    t.match(await alone.fetch(READ, LIMIT), { status, headers: { 'retry-after': '7' } })
    t.equal(away.seen.length, 2)
  }
})
