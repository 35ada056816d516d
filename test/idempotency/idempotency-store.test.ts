import net from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { MAX_KEPT_BYTES } from '../../src/idempotency/record.ts'
import { IdempotencyStore } from '../../src/idempotency/idempotency-store.ts'
import { createSigner } from '../../src/redis/signature.ts'
import { startRedis } from '../support/redis.ts'
import { redisSkip } from '../support/requirements.ts'
import { ADDRESS, firstOf, KEEP_MS, ONCE, openControl, openNextReplays, openReplays } from './claims.ts'
import { answerOf, until } from '../support/cache-harness.ts'

t.test('the idempotency store with Redis', { skip: redisSkip }, async (t) => {
  const server = await startRedis()
  t.teardown(() => server.stop())
  const control = openControl(t, server.url)
  const nameIn = async (t: Test): Promise<string> =>
    (await control.keys(`engine-gateway:${t.name}:once:*`))[0] ?? ''

  t.test('exactly one of many concurrent claims of a key at two gateways is the first', async (t) => {
    const [one, other] = [openReplays(t, server.url), openReplays(t, server.url)]
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? one : other).claim(ONCE)),
    )
    const first = claims.filter(({ state }) => state === 'first')
    t.equal(first.length, 1)
    t.equal(claims.filter(({ state }) => state === 'in progress').length, 39)
    for (const claiming of first) await firstOf(claiming).release()
  })

  t.test('a kept response is replayed byte for byte, with status, headers and address', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    const body = Buffer.from([0, 10, 13, 255, 34])
    const answer = { ...answerOf(body, { 'cache-control': ['no-cache', 'no-transform'] }), status: 400 }
    t.equal(await firstOf(await idempotencyStore.claim(ONCE)).keep({ answer, address: ADDRESS }), true)
    t.match(await idempotencyStore.claim(ONCE), { state: 'done', answer, address: ADDRESS })
    t.ok(Math.abs((await control.pttl(await nameIn(t))) - KEEP_MS) < 5000)
  })

  t.test('cookies and headers that do not describe the body are not replayed', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    const answer = answerOf('{}', { 'set-cookie': 'JSESSIONID=1', 'x-cookie': '1', via: 'a' })
    await firstOf(await idempotencyStore.claim(ONCE)).keep({ answer, address: ADDRESS })
    const found = await idempotencyStore.claim(ONCE)
    t.equal(found.state, 'done')
    t.notMatch(JSON.stringify(found), /cookie|via/)
  })

  t.test('a different request with the same key is reported in every state', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    const claim = firstOf(await idempotencyStore.claim(ONCE))
    const other = { ...ONCE, fingerprint: 'start invoice' }
    t.same(await idempotencyStore.claim(other), { state: 'reused' })
    await claim.keep({ answer: answerOf('{}'), address: ADDRESS })
    t.same(await idempotencyStore.claim(other), { state: 'reused' })
    await firstOf(await idempotencyStore.claim({ ...other, key: 'mary 2' })).release()
  })

  t.test('a released key can be claimed again', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    await firstOf(await idempotencyStore.claim(ONCE)).release()
    const next = await idempotencyStore.claim(ONCE)
    t.equal(next.state, 'first')
    await firstOf(next).release()
  })

  t.test('a claim whose request may have taken effect is unknown from then on', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    await firstOf(await idempotencyStore.claim(ONCE)).leaveUnknown()
    t.same(await idempotencyStore.claim(ONCE), { state: 'unknown' })
  })

  t.test('a claim older than its request can be is unknown, and a late response is still kept', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    const claim = firstOf(await idempotencyStore.claim(ONCE))
    const name = await nameIn(t)
    await control.pexpire(name, KEEP_MS - ONCE.underWayMs + 1000)
    t.same(await idempotencyStore.claim(ONCE), { state: 'in progress' })
    await control.pexpire(name, KEEP_MS - ONCE.underWayMs - 1000)
    t.same(await idempotencyStore.claim(ONCE), { state: 'unknown' })
    await claim.keep({ answer: answerOf('late'), address: ADDRESS })
    t.match(await idempotencyStore.claim(ONCE), { state: 'done' }, 'and its late answer counts')
  })

  t.test('a claim outlives the longest request, however short `keep` is', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    const underWayMs = 10 * KEEP_MS
    const claim = firstOf(await idempotencyStore.claim({ ...ONCE, underWayMs }))
    t.ok((await control.pttl(await nameIn(t))) > underWayMs)
    await claim.release()
  })

  t.test('a claim of another gateway is not changed', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    const late = firstOf(await idempotencyStore.claim(ONCE))
    await control.del(await nameIn(t))
    const other = openReplays(t, server.url)
    const next = firstOf(await other.claim(ONCE))
    await late.keep({ answer: answerOf('late'), address: ADDRESS })
    await late.release()
    t.same(await idempotencyStore.claim(ONCE), { state: 'in progress' })
    await next.release()
  })

  t.test('after Redis has lost its data, an open claim of this process still blocks its key', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    const claim = firstOf(await idempotencyStore.claim(ONCE))
    await control.flushall()
    t.same(await idempotencyStore.claim(ONCE), { state: 'in progress' })
    t.same(
      await openReplays(t, server.url).claim(ONCE),
      { state: 'in progress' },
      'the claim is stored again',
    )
    await control.flushall()
    t.same(await idempotencyStore.claim({ ...ONCE, fingerprint: 'start invoice' }), { state: 'reused' })
    await claim.keep({ answer: answerOf('done'), address: ADDRESS })
    t.match(await idempotencyStore.claim(ONCE), { state: 'done' })
    t.equal(idempotencyStore.openClaims.size, 0)
  })

  t.test('exactly one of many claims of a process is first, even if Redis loses its data', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    const claims = Array.from({ length: 20 }, async (_, at) => {
      if (at === 10) await control.flushall()
      return idempotencyStore.claim(ONCE)
    })
    const first = (await Promise.all(claims)).filter(({ state }) => state === 'first')
    t.equal(first.length, 1)
    for (const claiming of first) await firstOf(claiming).release()
    t.equal(idempotencyStore.openClaims.size, 0)
  })

  t.test('the store of the next configuration knows the open claims', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    const claim = firstOf(await idempotencyStore.claim(ONCE))
    await control.flushall()
    const next = openNextReplays(t, server.url, idempotencyStore.openClaims)
    t.same(await next.claim(ONCE), { state: 'in progress' })
    await claim.release()
    await firstOf(await next.claim(ONCE)).release()
  })

  t.test('a response is kept even if Redis has lost the claim', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    const claim = firstOf(await idempotencyStore.claim(ONCE))
    await control.del(await nameIn(t))
    await claim.keep({ answer: answerOf('done'), address: ADDRESS })
    t.match(await idempotencyStore.claim(ONCE), { state: 'done' })
  })

  t.test('a response that is too large is recorded with its status and not kept', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    const keep = async (key: string, bytes: number): Promise<string> => {
      const claim = firstOf(await idempotencyStore.claim({ ...ONCE, key }))
      await claim.keep({ answer: answerOf(Buffer.alloc(bytes)), address: ADDRESS })
      return (await idempotencyStore.claim({ ...ONCE, key })).state
    }
    t.equal(await keep('a', MAX_KEPT_BYTES), 'done')
    t.equal(await keep('b', MAX_KEPT_BYTES + 1), 'not kept')
    t.match(await idempotencyStore.claim({ ...ONCE, key: 'b' }), { status: 200 })
  })

  t.test('an invalid record does not allow the request', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    await firstOf(await idempotencyStore.claim(ONCE)).leaveUnknown()
    const name = await nameIn(t)
    const { fingerprint } = ONCE
    const head = { state: 'done', fingerprint, address: ADDRESS, length: 0 }
    const claim = { state: 'claimed', fingerprint, owner: 'x', keepMs: 60_000, underWayMs: 60_000 }
    const done = (answer: object, more = {}) => ({ ...head, answer: { status: 200, ...answer }, ...more })
    for (const garbage of [
      '',
      'x',
      '{"state":"unknown"}',
      'null\n',
      `${' '.repeat(65 * 1024)}{"state":"unknown","fingerprint":"start review"}\n`,
      '{"state":"toString","fingerprint":"start review"}\n',
      ...[
        done({ headers: { 'content-type': 'b\nc' } }),
        done({ headers: [] }),
        done({ headers: { 'set-cookie': 'a=b' } }),
        done({ headers: { connection: 'close' } }),
        done({ headers: { 'transfer-encoding': 'chunked' } }),
        done({ headers: { 'content-length': '7' } }),
        done({ headers: { 'access-control-allow-origin': '*' } }),
        done({ headers: { 'content-type': 'x'.repeat(17_000) } }),
        done({ headers: { allow: Array.from({ length: 17 }, () => 'GET') } }),
        ...[99, 199, 200.5, 302, 401, 429, 502, 503, 504, 600, '200'].map((status) =>
          done({ status, headers: {} }),
        ),
        done({ headers: {} }, { length: -1 }),
        done({ headers: {} }, { address: '' }),
        done({ headers: {} }, { address: 'x'.repeat(1025) }),
        { state: 'not kept', fingerprint, status: 302 },
        { ...claim, keepMs: -1 },
        { ...claim, underWayMs: '1' },
      ].map((line) => `${JSON.stringify(line)}\n`),
      `${JSON.stringify(claim).replace('"underWayMs":60000', '"underWayMs":1e999')}\n`,
      `${JSON.stringify(done({ headers: {} }))}\nbody`,
      `${JSON.stringify(done({ status: 204, headers: {} }, { length: 4 }))}\nbody`,
      `${JSON.stringify(done({ headers: {} }, { length: 400_000 }))}\n${'x'.repeat(400_000)}`,
    ]) {
      await control.set(name, garbage)
      t.same(await idempotencyStore.claim(ONCE), { state: 'unreadable' }, garbage.slice(0, 200))
      t.same(await idempotencyStore.find(ONCE), { state: 'unreadable' })
    }
    await control.del(name)
    await control.lpush(name, 'x')
    t.same(await idempotencyStore.claim(ONCE), { state: 'unreadable' })
  })

  t.test('a claim without an expiry or with a longer one than it was given is unknown', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    const claim = firstOf(await idempotencyStore.claim(ONCE))
    const name = await nameIn(t)
    await control.persist(name)
    t.same(await idempotencyStore.claim(ONCE), { state: 'unknown' })
    await control.pexpire(name, 2 * KEEP_MS)
    t.same(await idempotencyStore.claim(ONCE), { state: 'unknown' })
    await claim.release()
  })

  t.test('a claim that no gateway would have written is unknown', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    await firstOf(await idempotencyStore.claim(ONCE)).leaveUnknown()
    const claim = {
      state: 'claimed',
      fingerprint: ONCE.fingerprint,
      owner: 'x',
      keepMs: 1,
      underWayMs: 60_000,
    }
    await control.set(await nameIn(t), `${JSON.stringify(claim)}\n`)
    t.same(await idempotencyStore.claim(ONCE), { state: 'unknown' })
  })

  t.test('a claim written between the reads of its expiry and its record is in progress', async (t) => {
    const claim = firstOf(await openReplays(t, server.url).claim(ONCE))
    const late = openReplays(t, await startLate(t, server.url))
    t.same(await late.find(ONCE), { state: 'in progress' })
    await claim.release()
  })

  const [KEY, NEXT, FOREIGN] = ['k'.repeat(32), 'n'.repeat(32), 'f'.repeat(32)]

  t.test('with a signing key a record without its signature is unreadable', async (t) => {
    const signed = openReplays(t, server.url, t.name, [KEY])
    const keep = async (idempotencyStore: typeof signed, key: string) =>
      firstOf(await idempotencyStore.claim({ ...ONCE, key })).keep({
        answer: answerOf('{}'),
        address: ADDRESS,
      })
    const others = [openReplays(t, server.url, t.name), openReplays(t, server.url, t.name, [FOREIGN])]
    for (const [index, other] of others.entries()) {
      await keep(other, `other ${index}`)
      t.same(await signed.claim({ ...ONCE, key: `other ${index}` }), { state: 'unreadable' })
    }
    await keep(signed, 'own')
    t.match(await signed.claim({ ...ONCE, key: 'own' }), { state: 'done' })
    for (const other of others) t.same(await other.claim({ ...ONCE, key: 'own' }), { state: 'unreadable' })
  })

  t.test('a signed record is valid only under its own name', async (t) => {
    const idempotencyStore = openReplays(t, server.url, t.name, [KEY])
    await firstOf(await idempotencyStore.claim(ONCE)).keep({ answer: answerOf('{}'), address: ADDRESS })
    const name = await nameIn(t)
    const other = { ...ONCE, key: 'mary 2' }
    await firstOf(await idempotencyStore.claim(other)).leaveUnknown()
    const names = await control.keys(`engine-gateway:${t.name}:once:*`)
    for (const one of names) if (one !== name) await control.copy(name, one, 'REPLACE')
    t.same(await idempotencyStore.claim(other), { state: 'unreadable' })
  })

  t.test('a signing key is changed in three steps without losing a record', async (t) => {
    const open = (keys: readonly string[]) => openReplays(t, server.url, t.name, keys)
    const steps = [[KEY], [KEY, NEXT], [NEXT, KEY], [NEXT]].map(open)
    for (const [index, step] of steps.entries()) {
      const once = { ...ONCE, key: `step ${index}` }
      await firstOf(await step.claim(once)).keep({ answer: answerOf('{}'), address: ADDRESS })
      const beside = [steps[index - 1], steps[index + 1]].filter((one) => one !== undefined)
      for (const one of beside) t.match(await one.claim(once), { state: 'done' }, `${index}`)
    }
  })

  t.test('a lookup returns the state of a key and claims nothing', async (t) => {
    const idempotencyStore = openReplays(t, server.url)
    t.equal(await idempotencyStore.find(ONCE), null)
    t.equal(await idempotencyStore.find(ONCE), null)
    const claim = firstOf(await idempotencyStore.claim(ONCE))
    t.same(await idempotencyStore.find(ONCE), { state: 'in progress' })
    await claim.leaveUnknown()
    t.same(await idempotencyStore.find(ONCE), { state: 'unknown' })
  })

  t.test('another namespace has separate keys', async (t) => {
    const [one, other] = [openReplays(t, server.url, 'one'), openReplays(t, server.url, 'other')]
    await firstOf(await one.claim(ONCE)).leaveUnknown()
    const claiming = await other.claim(ONCE)
    t.equal(claiming.state, 'first')
    await firstOf(claiming).release()
  })

  t.test('the store closes after all claims have an outcome', async (t) => {
    const signer = createSigner([])
    const idempotencyStore = new IdempotencyStore({
      redis: { url: server.url },
      namespace: t.name,
      signer,
      keepMs: KEEP_MS,
      now: () => 0,
    })
    const claim = firstOf(await idempotencyStore.claim(ONCE))
    let isClosed = false
    const closed = idempotencyStore.close().then(() => (isClosed = true))
    await control.ping()
    t.equal(isClosed, false)
    await claim.keep({ answer: answerOf('{}'), address: ADDRESS })
    await closed
    t.match(await openReplays(t, server.url).claim(ONCE), { state: 'done' })
  })

  t.test('an outcome that Redis could not receive is sent again once it responds', async (t) => {
    const own = await startRedis()
    t.teardown(() => own.stop())
    const idempotencyStore = openReplays(t, own.url)
    const released = { ...ONCE, key: 'mary 2' }
    const [claim, other] = [
      firstOf(await idempotencyStore.claim(ONCE)),
      firstOf(await idempotencyStore.claim(released)),
    ]
    own.pause()
    t.same(await Promise.all([claim.keep({ answer: answerOf('{}'), address: ADDRESS }), other.release()]), [
      false,
      false,
    ])
    own.resume()
    const later = openReplays(t, own.url)
    const tellsAgain = async () => {
      const claiming = await idempotencyStore.claim({ ...ONCE, key: 'mary 3' })
      if (claiming.state === 'first') await claiming.claim.release()
      return (await later.claim(ONCE)).state === 'done'
    }
    await until(tellsAgain)
    await firstOf(await later.claim(released)).release()
  })

  t.test('a claim that timed out at Redis is released once Redis responds', async (t) => {
    const own = await startRedis()
    t.teardown(() => own.stop())
    const idempotencyStore = openReplays(t, own.url)
    await firstOf(await idempotencyStore.claim({ ...ONCE, key: 'mary 2' })).release()
    own.pause()
    t.same(await idempotencyStore.claim(ONCE), { state: 'unavailable' })
    own.resume()
    const later = openReplays(t, own.url)
    await until(async () => {
      const other = await idempotencyStore.claim({ ...ONCE, key: 'mary 2' })
      if (other.state === 'first') await other.claim.release()
      const again = await later.claim(ONCE)
      if (again.state === 'first') await again.claim.release()
      return again.state === 'first'
    }, 10_000)
  })
})

/** Starts a proxy to Redis. It replaces each time to live with -2, as for a key that does not exist. */
async function startLate(t: Test, url: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const proxy = net.createServer((client) => {
    const redis = net.connect(Number(port), hostname)
    client.on('error', () => redis.destroy()).on('data', (bytes) => redis.write(bytes))
    client.on('close', () => redis.destroy())
    redis.on('error', () => client.destroy()).on('close', () => client.destroy())
    redis.on('data', (bytes) => {
      const told = bytes.toString('latin1').replace(/(^|\n):\d{4,}\r\n/, '$1:-2\r\n')
      client.write(Buffer.from(told, 'latin1'))
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => proxy.close())
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `redis://127.0.0.1:${address.port}`
}
