import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { copyFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { RedisSettings } from '../../../src/config/redis-types.ts'
import { RedisLink } from '../../../src/redis/redis-link.ts'
import { until } from '../../support/cache-harness.ts'
import { replacePem, writeCertificates } from '../../support/certificates.ts'
import { freePort } from '../../support/free-port.ts'
import { startRedis } from '../../support/redis.ts'
import { redisSkip } from '../../support/requirements.ts'
import { makeFolder } from '../../support/temporary-folder.ts'

function openLink(t: Test, redis: RedisSettings) {
  const lines: string[] = []
  const link = new RedisLink({
    redis,
    prefix: t.name,
    now: () => performance.now(),
    log: (level, _message, why) => void lines.push(`${level} ${why ?? ''}`),
  })
  t.teardown(() => link.close())
  return { link, lines }
}

/** Starts a server that requires client certificates and listens with TLS only. */
async function startTlsServer(t: Test, more: readonly string[] = []) {
  const files = writeCertificates(t)
  const tlsPort = await freePort()
  const server = await startRedis({
    args: [
      '--tls-port',
      String(tlsPort),
      '--tls-cert-file',
      files['server.crt'],
      '--tls-key-file',
      files['server.key'],
      '--tls-ca-cert-file',
      files['ca.crt'],
      ...more,
    ],
  })
  t.teardown(() => server.stop())
  const own = { cert: files['client.crt'], key: files['client.key'] }
  return {
    files,
    own,
    server,
    url: `rediss://localhost:${tlsPort}`,
    byAddress: `rediss://127.0.0.1:${tlsPort}`,
  }
}

t.test('TLS connections to Redis', { skip: redisSkip }, async (t) => {
  t.test('a server is verified by authority and name, and the gateway by its certificate', async (t) => {
    const { files, own, url, byAddress } = await startTlsServer(t)
    const known = openLink(t, { url, tls: { ca: files['ca.crt'], ...own } })
    const named = openLink(t, {
      url: byAddress,
      tls: { ca: files['ca.crt'], ...own, serverName: 'localhost' },
    })
    const refused = [
      { why: /certificate/, redis: { url, tls: { ca: files['other.crt'], ...own } } },
      { why: /certificate/, redis: { url } },
      {
        why: /127\.0\.0\.1 is not in the cert|does not match/,
        redis: { url: byAddress, tls: { ca: files['ca.crt'], ...own } },
      },
      {
        why: /certificate required|closed|alert|ECONNRESET|EPIPE/,
        redis: { url, tls: { ca: files['ca.crt'] } },
      },
    ].map((one) => ({ ...one, ...openLink(t, one.redis) }))
    await until(() => known.link.isUp === true && named.link.isUp === true)
    for (const { lines, why } of refused) {
      await until(() => lines.length > 0)
      t.match(lines, [why])
    }
    t.notOk(refused.some(({ link }) => link.isUp === true))
  })

  t.test('a server without TLS 1.2 or later is refused', async (t) => {
    const { files, own, url } = await startTlsServer(t, [
      '--tls-protocols',
      'TLSv1.1',
      '--tls-ciphers',
      'ALL:@SECLEVEL=0',
    ])
    const { link, lines } = openLink(t, { url, tls: { ca: files['ca.crt'], ...own } })
    await until(() => lines.length > 0)
    t.match(lines, [/protocol|alert/])
    t.equal(link.isUp, false)
  })

  t.test('a changed file is used for the next connection', async (t) => {
    const { files, own, url } = await startTlsServer(t)
    const ca = `${makeFolder(t)}/ca.crt`
    copyFileSync(files['other.crt'], ca)
    const { link, lines } = openLink(t, { url, tls: { ca, ...own } })
    await until(() => lines.length > 0)
    t.equal(link.isUp, false)
    replacePem(ca, 'ca.crt')
    await until(() => link.isUp === true)
  })

  t.test('a key that does not match its certificate is retried, as a change may be incomplete', async (t) => {
    const { files, url } = await startTlsServer(t)
    const key = `${makeFolder(t)}/client.key`
    copyFileSync(files['server.key'], key)
    const { link, lines } = openLink(t, { url, tls: { ca: files['ca.crt'], cert: files['client.crt'], key } })
    await until(() => lines.length > 0)
    t.match(lines, [/key values mismatch/])
    replacePem(key, 'client.key')
    await until(() => link.isUp === true)
  })

  t.test('a connection that is closed during its handshake causes no uncaught error', async (t) => {
    const { files, own, url } = await startTlsServer(t)
    const ways = [{ ca: files['ca.crt'], ...own }, { ca: files['ca.crt'] }, {}]
    const uncaught: Error[] = []
    const onUncaught = (error: Error) => void uncaught.push(error)
    process.on('uncaughtException', onUncaught)
    t.teardown(() => process.off('uncaughtException', onUncaught))
    const opened = Array.from({ length: 120 }, (_one, at) =>
      openLink(t, { url, tls: ways[at % ways.length] ?? {} }),
    )
    for (const { link } of opened) {
      link.close()
      await nextTurn()
    }
    // A connection to a responding server is established after the events of the earlier ones.
    const last = openLink(t, { url, tls: { ca: files['ca.crt'], ...own } })
    await until(() => last.link.isUp === true)
    t.same(uncaught, [])
  })
})
