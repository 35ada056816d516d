import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { until } from '../../support/cache-harness.ts'
import { freePort } from '../../support/free-port.ts'
import { startNode } from '../../support/fake-engine.ts'
import { openGateway } from '../../support/open-gateway.ts'
import { openShifted } from '../../support/open-shifted.ts'

const CLAIM = ['POST /task/a1/unclaim', 'POST /task/b2/unclaim'] as const

t.test('reads and writes go to the groups by their shares', async (t) => {
  const { ask, received } = await openShifted(t, { reads: '100%', writes: '0%' })
  await ask('demo', 'GET /version')
  for (const route of CLAIM) await ask('demo', route, { body: {} })
  t.same(received, ['new', 'old', 'old'])
})

t.test('without shares, the other group gets all requests', async (t) => {
  const { ask, received } = await openShifted(t, {})
  await ask('demo', 'GET /version')
  for (const route of CLAIM) await ask('demo', route, { body: {} })
  t.same(received, ['old', 'old', 'old'])
})

t.test('a group that cannot be reached loses no request', async (t) => {
  const old = await startNode(t, (_request, response) => response.end('{}'))
  const nodes = [
    { url: old.url, group: 'old' },
    { url: `http://127.0.0.1:${await freePort()}/engine-rest`, group: 'new' },
  ]
  const shift = { to: 'new', reads: '100%', writes: '100%' }
  const { ask } = await openGateway(t, { engines: { default: { nodes, shift } } })
  for (let count = 0; count < 4; count += 1) {
    t.equal((await ask('demo', 'GET /version')).status, 200)
    t.equal((await ask('demo', CLAIM[0], { body: {} })).status, 200)
  }
})

t.test('if the only node of the group is down, no read fails, and all requests return', async (t) => {
  const old = await startNode(t, (_request, response) => response.end('{}'))
  const server = createServer((_request, response) => void response.end('{}'))
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const nodes = [
    { url: old.url, group: 'old' },
    { url: `http://127.0.0.1:${port}`, group: 'new' },
  ]
  const { ask, log } = await openGateway(t, {
    engines: { default: { nodes, shift: { to: 'new', reads: '100%' } } },
  })
  for (let count = 0; count < 60; count += 1) await ask('demo', 'GET /version')
  server.close()
  server.closeAllConnections()
  for (let count = 0; count < 10; count += 1) t.equal((await ask('demo', 'GET /version')).status, 200)
  // The node itself is tried once or twice. Then it cannot be used for half a second.
  await wait(550)
  t.equal((await ask('demo', 'GET /version')).status, 200)
  t.match(
    log.filter(({ msg }) => msg === 'all requests return to the other group'),
    [{ engine: 'default', group: 'new', other: 'old', reason: 'down' }],
  )
})

t.test(
  'a group whose nodes are drained has not failed, so its requests do not return to the other group permanently',
  async (t) => {
    const [old, other] = [await startNode(t), await startNode(t)]
    const nodes = [
      { url: old.url, group: 'old' },
      { url: other.url, group: 'new', drain: true },
    ]
    const { ask, log } = await openGateway(t, {
      engines: { default: { nodes, shift: { to: 'new', reads: '100%' } } },
    })
    for (let count = 0; count < 30; count += 1) t.equal((await ask('demo', 'GET /version')).status, 200)
    t.same(
      log.filter(({ msg }) => msg === 'all requests return to the other group'),
      [],
    )
  },
)

t.test('if the group fails, all requests return, with a log line and a metric', async (t) => {
  const { ask, received, responses, log, dependencies } = await openShifted(t, {
    reads: '100%',
    writes: '100%',
  })
  responses['new'] = { status: 500, body: '{"type":"RestException","message":"schema","code":0}' }
  const statuses: number[] = []
  for (let count = 0; count < 30; count += 1)
    statuses.push((await ask('demo', CLAIM[0], { body: {} })).status)
  t.same(statuses.slice(0, 5), Array(5).fill(500), 'all of five requests of the only caller')
  t.same(statuses.slice(5), Array(25).fill(200))
  t.equal(received.filter((group) => group === 'new').length, 5, 'no write is sent again')
  t.match(
    log.filter(({ msg }) => msg === 'all requests return to the other group'),
    [
      {
        engine: 'default',
        group: 'new',
        to: { attempts: 5, failures: 5 },
        reason: 'errors',
        operation: 'unclaim',
        caller: 'demo',
        finding: /^unclaim: 5 of 5 requests failed in 60 s, .*user demo$/,
      },
    ],
  )
  const text = await dependencies.metrics.text()
  t.match(text, 'gateway_shift_returns_total{engine="default",reason="errors",operation="unclaim"} 1')
})

t.test('with return: null, requests do not return', async (t) => {
  const { ask, responses } = await openShifted(t, { writes: '100%', return: null })
  responses['new'] = { status: 500, body: '{}' }
  for (let count = 0; count < 30; count += 1) await ask('demo', CLAIM[0], { body: {} })
  t.equal((await ask('demo', CLAIM[0], { body: {} })).status, 500)
})

t.test('one operation or one user can be shifted alone', async (t) => {
  const ofUser = await openShifted(t, { writes: '100%', callers: ['demo'] })
  await ofUser.ask('demo', CLAIM[0], { body: {} })
  t.same(ofUser.received.at(-1), 'new')
  const ofOperation = await openShifted(t, { writes: '100%', operations: ['claim'] })
  await ofOperation.ask('demo', CLAIM[0], { body: {} })
  t.same(ofOperation.received.at(-1), 'old')
})

t.test('a request that waits for one group does not delay those of the other group', async (t) => {
  const held: (() => void)[] = []
  const received: string[] = []
  const startGroup = (group: string) =>
    startNode(t, (_request, response) => {
      received.push(group)
      if (group === 'old') response.end()
      else held.push(() => response.end())
    })
  const nodes = [
    { url: (await startGroup('old')).url, group: 'old' },
    { url: (await startGroup('new')).url, group: 'new' },
  ]
  const shift = { to: 'new', writes: '100%' }
  const { ask } = await openGateway(t, {
    settings: { limits: { connections: 1, slowShare: '100%' } },
    engines: { default: { nodes, shift } },
  })
  const waiting = CLAIM.map((route) => ask('demo', route, { body: {} }))
  await until(() => held.length === 1)
  t.equal((await ask('demo', 'GET /version')).status, 200)
  t.same(received, ['new', 'old'])
  held[0]?.()
  await until(() => held.length === 2)
  held[1]?.()
  for (const { status } of await Promise.all(waiting)) t.equal(status, 200)
})

t.test('mistakes in groups are errors with their path', async (t) => {
  const of = (nodes: readonly unknown[], shift?: unknown) =>
    openGateway(t, { engines: { default: { nodes, ...(shift === undefined ? {} : { shift }) } } })
  const [old, other, third] = ['old', 'new', 'third'].map((group, at) => ({ url: `http://n${at}/e`, group }))
  for (const [nodes, shift, problem] of [
    [['http://n0/e'], { to: 'new' }, 'engines.default.shift: needs nodes with a group'],
    [[old, other], undefined, 'engines.default.shift: is required because nodes have a group'],
    [
      [old, 'http://n1/e'],
      { to: 'old' },
      'engines.default.nodes[1].group: is required because other nodes have a group',
    ],
    [
      [old, other, third],
      { to: 'new' },
      'engines.default.nodes: must have exactly two groups, not 3 (old, new, third)',
    ],
    [[old, other], { to: 'newer' }, 'engines.default.shift.to: must be one of old, new'],
    [
      [old, other],
      { to: 'new', operations: ['nosuch'] },
      'engines.default.shift.operations[0]: there is no operation nosuch',
    ],
    [
      [old, other],
      { to: 'new', return: { differences: 3 } },
      'engines.default.shift.return.differences: needs compare, which finds differences',
    ],
    [
      [old, other],
      { to: 'new', reads: 0.5 },
      'engines.default.shift.reads: a share from 0% to 100% is needed, for example 25%',
    ],
  ] as const)
    t.same(await of(nodes, shift).catch((error: unknown) => Object(error).problems), [problem])
})

const COUNT = 'GET /task/count'

t.test('a compared group that fails or hangs has no influence on clients', async (t) => {
  const { ask, received, responses, dependencies } = await openShifted(t, {}, { compare: { rate: '100%' } })
  responses['old'] = { status: 200, body: '{"count":3}' }
  responses['new'] = { status: 503, body: '{}' }
  for (let count = 0; count < 20; count += 1) t.same((await ask('demo', COUNT)).body, { count: 3 })
  await until(() => received.includes('new'))
  const [old, other] = dependencies.engines.get('default')?.upstream.nodes() ?? []
  t.match([old, other], [{ reason: null }, { reason: null }], 'no node is ejected')
})
