import t from 'tap'
import { until } from '../../support/cache-harness.ts'
import {
  FETCH_ROUTE,
  MORE_WORK,
  openParked,
  sendJson,
  TASK,
  UNRELATED,
  WORK,
} from '../../support/parked-worker.ts'
import { recordsOf, USERS } from '../../support/people.ts'
import { AUDIENCE, bearer, createKey, startIssuer } from '../../support/token-issuer.ts'

const NOTHING = { status: 200, body: [] }
const UNLOCKED = ['/external-task/t1/unlock']

t.test('a poll ends with no tasks when its record is removed, and later tasks are unlocked', async (t) => {
  const gateway = await openParked(t)
  const { answer, held } = await gateway.park('anna')
  await gateway.setRecords([UNRELATED])
  t.match(await answer, NOTHING)
  held.answer([TASK])
  await until(() => gateway.unlocked().length > 0, 10_000)
  t.same(gateway.unlocked(), UNLOCKED)
  t.match(
    await gateway.dependencies.metrics.text(),
    'gateway_long_polls_ended_total{engine="default",reason="withdrawn"} 1',
  )
})

t.test('a task that is locked for a poll before its review is unlocked and not delivered', async (t) => {
  const gateway = await openParked(t, { reviewMs: null })
  const { answer, held } = await gateway.park('anna')
  await gateway.setRecords([UNRELATED])
  held.answer([TASK])
  const { status, body, bytes } = await answer
  t.same({ status, body }, NOTHING)
  t.notMatch(bytes.toString(), /secret/)
  t.same(gateway.unlocked(), UNLOCKED)
})

t.test('a poll gets its tasks after the records of other users changed', async (t) => {
  const gateway = await openParked(t, { reviewMs: null })
  const { answer, held } = await gateway.park('anna')
  await gateway.setRecords([WORK, UNRELATED])
  held.answer([TASK])
  t.match(await answer, { status: 200, body: [{ id: 't1' }] })
  t.same(gateway.unlocked(), [])
})

t.test('a poll gets its tasks after a review with the same decision', async (t) => {
  const gateway = await openParked(t, { records: [WORK, WORK.replace('anna', 'ben')] })
  const { answer, held } = await gateway.park('anna')
  const other = await gateway.park('ben')
  await gateway.setRecords([WORK])
  t.match(await other.answer, NOTHING, 'the poll of another user ends in the same review')
  held.answer([TASK])
  t.match(await answer, { status: 200, body: [{ id: 't1' }] })
})

t.test(
  'a poll ends if it would now request other definitions, and the next poll requests them',
  async (t) => {
    const gateway = await openParked(t)
    const { answer, held } = await gateway.park('anna')
    t.match(held.body, { topics: [{ processDefinitionKeyIn: ['work'] }] })
    await gateway.setRecords([WORK, MORE_WORK])
    t.match(await answer, NOTHING)
    const next = await gateway.park('anna')
    t.match(next.held.body, { topics: [{ processDefinitionKeyIn: ['work', 'more'] }] })
  },
)

type Users = readonly Readonly<Record<string, unknown>>[]

const CHANGES: Readonly<Record<string, (users: Users) => Users>> = {
  'was removed': (users) => users.filter(({ id }) => id !== 'anna'),
  'has another password': (users) => changed(users, { passwordHash: USERS[0]?.passwordHash }),
  'became a member of a tenant': (users) => changed(users, { tenants: ['acme'] }),
}

function changed(users: Users, change: object): Users {
  return users.map((user) => (user['id'] === 'anna' ? { ...user, ...change } : user))
}

for (const [what, change] of Object.entries(CHANGES))
  for (const reviewMs of [20, null])
    t.test(
      `a user who ${what} gets no task, ${reviewMs === null ? 'without' : 'with'} a review`,
      async (t) => {
        const gateway = await openParked(t, { reviewMs })
        const { answer, held } = await gateway.park('anna')
        gateway.setUsers(change)
        await until(() => !gateway.isUserCurrent() || reviewMs !== null, 10_000)
        if (reviewMs !== null) t.match(await answer, NOTHING)
        held.answer([TASK])
        await until(() => gateway.unlocked().length > 0, 10_000)
        t.match(await answer, NOTHING)
        t.same(gateway.unlocked(), UNLOCKED)
      },
    )

for (const reviewMs of [20, null])
  t.test(
    `a user whose new group has the ceiling read gets no task, ${reviewMs === null ? 'without' : 'with'} a review`,
    async (t) => {
      const settings = { limits: { ceilings: [{ groups: ['limited'], ceiling: 'read' }] } }
      const gateway = await openParked(t, { reviewMs, settings })
      const { answer, held } = await gateway.park('anna')
      gateway.setUsers((users) => changed(users, { groups: ['limited'] }))
      await until(() => !gateway.isUserCurrent() || reviewMs !== null, 10_000)
      if (reviewMs !== null) t.match(await answer, NOTHING)
      held.answer([TASK])
      await until(() => gateway.unlocked().length > 0, 10_000)
      t.match(await answer, NOTHING)
      t.same(gateway.unlocked(), UNLOCKED)
      t.match(await gateway.ask('anna', FETCH_ROUTE, { body: { workerId: 'w', maxTasks: 1, topics: [] } }), {
        headers: { 'x-gateway-error': 'GW_CEILING' },
      })
    },
  )

t.test('a task is not delivered after DELETE /authorization/{id} passed through the gateway', async (t) => {
  const stored = recordsOf([WORK]).map((record, at) => ({ ...record, id: `r${at}` }))
  const gateway = await openParked(t, {
    reviewMs: null,
    settings: { authorization: { records: { source: 'engine' } } },
    answer: (path, response, method) => {
      if (method === 'DELETE') {
        stored.pop()
        response.writeHead(204).end()
      } else if (path === '/authorization') sendJson(response, stored)
      else if (path.startsWith('/authorization')) sendJson(response, stored.at(-1))
      else return false
      return true
    },
  })
  const { answer, held } = await gateway.park('anna')
  t.equal((await gateway.ask('demo', `DELETE /authorization/${stored.at(-1)?.id}`)).status, 204)
  held.answer([TASK])
  t.match(await answer, NOTHING)
  t.same(gateway.unlocked(), UNLOCKED)
})

t.test('a poll ends when its token expires', async (t) => {
  const key = await createKey('one')
  const issuer = await startIssuer(t, key)
  const setting = {
    name: 'company',
    groupPrefix: '',
    issuer: issuer.url,
    audience: [AUDIENCE],
    claims: { groups: ['groups'] },
    skew: '0s',
  }
  const identity = { source: 'file', file: 'users.yaml', tokens: { issuers: [setting] } }
  const gateway = await openParked(t, { settings: { identity } })
  const token = await issuer.sign(key, { sub: 'anna', exp: Math.ceil(Date.now() / 1000) + 2 })
  const { answer, held } = await gateway.park(null, { headers: bearer(token) })
  t.match(await answer, NOTHING)
  held.answer([TASK])
  await until(() => gateway.unlocked().length > 0, 10_000)
  const next = await gateway.ask(null, FETCH_ROUTE, { headers: bearer(token), body: { workerId: 'w' } })
  t.equal(next.status, 401)
})

t.test('a user who was removed directly at the engine gets no task', async (t) => {
  let isThere = true
  const gateway = await openParked(t, {
    reviewMs: null,
    settings: { identity: { source: 'engine', remember: '0s' } },
    answer: (path, response) => {
      if (path === '/identity/verify')
        sendJson(response, { authenticatedUser: 'anna', authenticated: isThere })
      else if (path.startsWith('/user?')) sendJson(response, isThere ? [{ id: 'anna' }] : [])
      else return false
      return true
    },
  })
  const { answer, held } = await gateway.park('anna')
  isThere = false
  held.answer([TASK])
  t.match(await answer, NOTHING)
  t.same(gateway.unlocked(), UNLOCKED)
})

t.test('tasks are unlocked and the poll fails if it cannot be decided again', async (t) => {
  let isAway = false
  const records = [WORK, 'revoke anna TASK:* DELETE']
  const gateway = await openParked(t, {
    reviewMs: null,
    records,
    answer: (path, response) => {
      if (!path.startsWith('/process-definition')) return false
      sendJson(response, isAway ? {} : [{ id: 'work:1', key: 'work', tenantId: null }], isAway ? 500 : 200)
      return true
    },
  })
  const { answer, held } = await gateway.park('anna')
  isAway = true
  await gateway.setRecords([...records, UNRELATED])
  held.answer([TASK])
  t.equal((await answer).status, 502)
  t.same(gateway.unlocked(), UNLOCKED)
})
