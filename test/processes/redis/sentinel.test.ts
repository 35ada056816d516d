import { connect, createServer } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { Redis } from 'ioredis'
import {
  acceptAll,
  answerOf,
  fillOf,
  openCache,
  openSharedCache,
  until,
  loadShared,
} from '../../support/cache-harness.ts'
import { writeCertificates } from '../../support/certificates.ts'
import { MASTER, startSentinel } from '../../support/redis-sentinel.ts'
import { redisSkip } from '../../support/requirements.ts'
import { freePort } from '../../support/free-port.ts'

const rule = { seconds: 60, tags: ['deployment'], accepts: acceptAll }

t.test('Redis with Sentinel', { skip: redisSkip }, async (t) => {
  t.test('entries are stored at the master of the sentinels, even if one sentinel is silent', async (t) => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    t.teardown(() => silent.close())
    const at = silent.address()
    const { master, nodes } = await startSentinel(t, { sentinels: 1 })
    const port = typeof at === 'object' && at !== null ? at.port : 0
    const sentinel = { nodes: [{ host: '127.0.0.1', port }, ...nodes], master: MASTER }
    const one = await openSharedCache(t, { redisSettings: { sentinel, database: 3 } })
    const other = await openSharedCache(t, { redisSettings: { sentinel, database: 3 } })
    await loadShared(one, { key: 'k', rule, answer: answerOf('x') })
    t.match(await other.cache.load('k', rule, fillOf(answerOf('y'))), { from: 'redis' })
    const control = new Redis(`${master.url}/3`)
    t.teardown(() => control.disconnect())
    t.ok((await control.dbsize()) > 0, 'in the database that was asked for')
    await one.cache.evict(['deployment'])
    await until(() => other.cache.peek('k') === null)
  })

  t.test('sentinels and servers have separate credentials, each over TLS', async (t) => {
    const files = writeCertificates(t)
    const server = [
      '--tls-cert-file',
      files['server.crt'],
      '--tls-key-file',
      files['server.key'],
      '--tls-ca-cert-file',
      files['ca.crt'],
    ]
    const { nodes } = await startSentinel(t, {
      sentinels: 1,
      hasTls: true,
      args: [
        ...server,
        '--user',
        'default',
        'off',
        '--user',
        'gateway',
        'on',
        '>of-servers',
        '~*',
        '&*',
        '+@all',
        '--masteruser',
        'gateway',
        '--masterauth',
        'of-servers',
      ],
      lines: [
        ...pairsOf(server),
        'requirepass of-sentinels',
        'tls-replication yes',
        `sentinel auth-user ${MASTER} gateway`,
        `sentinel auth-pass ${MASTER} of-servers`,
      ],
    })
    const tls = {
      ca: files['ca.crt'],
      cert: files['client.crt'],
      key: files['client.key'],
      serverName: 'localhost',
    }
    const sentinel = { nodes, master: MASTER, username: 'default', password: 'of-sentinels', tls }
    const account = { username: 'gateway', password: 'of-servers', tls }
    const opened = await openSharedCache(t, { redisSettings: { sentinel, ...account } })
    t.match(opened.lines, [/^info/])
    const refused = [
      { sentinel: { ...sentinel, password: 'hidden-1' }, ...account },
      { sentinel, ...account, password: 'hidden-2' },
      { sentinel: { ...sentinel, tls: { ...tls, ca: files['other.crt'] } }, ...account },
      { sentinel: { ...sentinel, master: 'nobody' }, ...account },
      { sentinel, ...account, tls: undefined },
    ].map((redisSettings) => openCache(t, { redisSettings }))
    const [wrongAtSentinel, wrongAtServer, wrongAuthority, noMaster, noTls] = refused
    for (const { lines } of refused) await until(() => lines.length > 0)
    t.match(wrongAtSentinel?.lines, [/^warn.*WRONGPASS/])
    t.match(wrongAtServer?.lines, [/^warn.*WRONGPASS/])
    t.match(wrongAuthority?.lines, [/^warn.*certificate/])
    t.match(noMaster?.lines, [/^warn.*No such master/])
    t.match(noTls?.lines, [/^warn/])
    t.notMatch(refused.flatMap(({ lines }) => lines).join(), /hidden|of-se/)
  })

  t.test('a sentinel that starts later is found', async (t) => {
    const { nodes } = await startSentinel(t, { sentinels: 1 })
    const [watching] = nodes
    if (watching === undefined) throw new Error('no sentinel')
    const port = await freePort()
    const opened = openCache(t, {
      redisSettings: { sentinel: { nodes: [{ host: '127.0.0.1', port }], master: MASTER } },
    })
    await until(() => opened.lines.length > 0)
    t.match(opened.lines, [/^warn.*ECONNREFUSED/])
    t.match(await opened.cache.load('k', rule, fillOf(answerOf('x'))), { from: 'upstream' })
    const relay = createServer((socket) => {
      const to = connect(watching.port, '127.0.0.1')
      socket.pipe(to).pipe(socket)
      for (const end of [socket, to]) end.on('error', () => end.destroy())
    }).listen(port, '127.0.0.1')
    t.teardown(() => relay.close())
    await until(() => opened.lines.length === 2)
    t.match(opened.lines, [/^warn/, /^info/])
  })
})

/** Returns arguments of a server as lines of its configuration. */
function pairsOf(args: readonly string[]): readonly string[] {
  return args.flatMap((word, at) => (at % 2 === 0 ? [`${word.replace('--', '')} ${args[at + 1] ?? ''}`] : []))
}
