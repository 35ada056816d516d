import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { until } from '../../support/cache-harness.ts'
import { type Answer, BASE } from '../../support/open-gateway.ts'
import { openParked, type ParkedGateway, sendJson, UNRELATED } from '../../support/parked-worker.ts'

const GRANT = 'grant anna GROUP:clerks READ,UPDATE'

interface Queued {
  readonly gateway: ParkedGateway
  /** The response to a request of `anna` that waits for a free connection. */
  readonly answer: Promise<Answer>
  /** Lets the request start. */
  readonly release: () => void
  /** Returns the paths of the requests of `anna` that reached the engine. */
  readonly reached: () => readonly string[]
}

/** Opens a gateway whose engine has one connection, which a request of another user holds. */
async function openQueued(t: Test, route: string, body?: object): Promise<Queued> {
  const held: ServerResponse[] = []
  const gateway = await openParked(t, {
    records: [GRANT],
    settings: {
      limits: {
        connections: 1,
        // The operation of the waiting request has no queue of its own.
        slowShare: '100%',
        pressure: { eventLoopDelay: null },
        queue: { wait: '30s', target: '30s' },
      },
    },
    answer: (path, response) => {
      if (path === '/group/held') held.push(response)
      else sendJson(response, {})
      return true
    },
  })
  const first = gateway.ask('demo', 'GET /group/held')
  await until(() => held.length === 1, 10_000)
  const answer = gateway.ask('anna', route, body === undefined ? {} : { body })
  const upstream = gateway.dependencies.engines.get('default')?.upstream
  await until(() => upstream?.waiting() === 1, 10_000)
  t.teardown(() => first)
  return {
    gateway,
    answer,
    release: () => held.forEach((response) => sendJson(response, {})),
    reached: () =>
      gateway.engine.seen.map(({ url }) => url.slice(BASE.length)).filter((path) => path === '/group/clerks'),
  }
}

const ROUTES = [
  ['GET /group/clerks', undefined],
  ['PUT /group/clerks', { id: 'clerks', name: 'Clerks', type: 'WORKFLOW' }],
] as const

for (const [route, body] of ROUTES) {
  t.test(`${route} that waited in the queue is refused if its record was removed meanwhile`, async (t) => {
    const { gateway, answer, release, reached } = await openQueued(t, route, body)
    await gateway.setRecords([UNRELATED])
    release()
    const refused = await answer
    const next = await gateway.ask('anna', route, body === undefined ? {} : { body })
    t.ok([403, 404].includes(refused.status))
    t.same([refused.status, refused.body], [next.status, next.body], 'as a new request is')
    t.same(reached(), [])
  })

  t.test(`${route} that waited in the queue is sent once if only other records changed`, async (t) => {
    const { gateway, answer, release, reached } = await openQueued(t, route, body)
    await gateway.setRecords([GRANT, UNRELATED])
    release()
    t.match(await answer, { status: 200 })
    t.same(reached(), ['/group/clerks'])
  })
}

t.test('a request that waited in the queue gets 401 if its user was removed meanwhile', async (t) => {
  const { gateway, answer, release, reached } = await openQueued(t, 'GET /group/clerks')
  gateway.setUsers((users) => users.filter(({ id }) => id !== 'anna'))
  await until(() => !gateway.isUserCurrent(), 10_000)
  release()
  t.match(await answer, { status: 401 })
  t.same(reached(), [])
})
