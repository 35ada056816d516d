import t from 'tap'
import { GroupGuard } from '../../src/assembly/group-guard.ts'
import type { Release } from '../../src/operations/published/releases.ts'
import type { EngineResponse } from '../../src/request/engine-request.ts'
import { aboutEngine, stubEngine, type StubResponse } from '../move/stub-engine.ts'
import { startNode } from '../support/fake-engine.ts'
import { startReloadable } from '../support/reloadable.ts'

const OLD_SCHEMA = aboutEngine('Operaton', '1.0.3', '7.22.0')
const NEW_SCHEMA = aboutEngine('Operaton', '1.0.3', '7.23.0')
const UNKNOWN = {}
const FULL_REFUSAL =
  'The group new gets no requests: Operaton 1.0.3 needs the schema 7.23, and the database has 7.22.0'

type Responses = Readonly<Record<string, StubResponse>> | null

/** Opens a guard. If `responses` is null, the group does not respond. */
function open(isInUse = false, other: Responses = null, release: Release | null = null) {
  const lines: string[] = []
  const changes: boolean[] = []
  const usable = new Set(['old', 'new'])
  const state: { responses: Responses } = { responses: null }
  const guard = new GroupGuard({
    engine: 'default',
    to: 'new',
    ask: async (request): Promise<EngineResponse> => {
      if (state.responses === null) throw new Error('refused')
      return stubEngine(state.responses).ask(request)
    },
    release,
    other: {
      name: 'old',
      ask: async (request) => {
        if (other === null) throw new Error('refused')
        return stubEngine(other).ask(request)
      },
      release: null,
    },
    isUsable: (group) => usable.has(group),
    refuse: (isRefused) => void changes.push(isRefused),
    log: {
      error: (_line: unknown, text?: string) => void lines.push(`error: ${text}`),
      info: (_line: unknown, text?: string) => void lines.push(`info: ${text}`),
    },
    isInUse,
    close: async () => undefined,
  })
  t.teardown(() => guard.stop())
  const check = async (responses: Responses) => {
    state.responses = responses
    return guard.recheck()
  }
  return { guard, check, lines, changes, state, usable }
}

t.test('a group that needs a newer schema is refused until the schema is migrated', async (t) => {
  const { check, lines, changes } = open()
  t.equal(await check(OLD_SCHEMA), FULL_REFUSAL)
  t.equal(await check(OLD_SCHEMA), FULL_REFUSAL)
  t.same(changes, [true])
  t.equal(await check(NEW_SCHEMA), null)
  t.same(changes, [true, false])
  t.same(lines, ['error: the group gets no requests', 'info: the group may get requests'])
})

t.test('a missing response, or one without the schema, does not end a refusal', async (t) => {
  const { check } = open()
  await check(OLD_SCHEMA)
  for (const responses of [null, UNKNOWN, { ...NEW_SCHEMA, '/schema/log': 503 }])
    t.equal(await check(responses), FULL_REFUSAL)
})

t.test('a group that has not responded yet is refused, and one of an unknown family is used', async (t) => {
  const { guard, check, changes } = open()
  await guard.start()
  t.match(guard.refusal, /until a node of it responds/)
  t.equal(await check(UNKNOWN), null)
  t.same(changes, [true, false])
  t.equal(await check(OLD_SCHEMA), FULL_REFUSAL)
})

t.test('a group that was in use before a reload is used until it is checked', async (t) => {
  const { guard, check, changes } = open(true)
  await guard.start()
  t.equal(guard.refusal, null)
  t.same(changes, [])
  t.equal(await check(OLD_SCHEMA), FULL_REFUSAL)
})

t.test('a configured release is used if the nodes do not show their family', async (t) => {
  const { guard, check } = open(false, null, 'Operaton 1.0')
  t.match(guard.families()[1], { name: 'Operaton' })
  const schema = { '/schema/log': OLD_SCHEMA['/schema/log'] ?? [] }
  t.match(await check(schema), /Operaton 1\.0 needs the schema 7\.23/)
  await check({ ...schema, '/telemetry/data': { product: { name: 'Fluxnova' } } })
  t.match(guard.families()[1], { name: 'Fluxnova' }, 'what the nodes show has precedence')
})

t.test('the families of usable groups are those that they report', async (t) => {
  const { guard, state, usable } = open(false, aboutEngine('Camunda', '7.24.0', '7.24.0'))
  const names = () => guard.families().map((family) => family?.name ?? null)
  t.same(names(), [null, null])
  state.responses = OLD_SCHEMA
  await guard.start()
  t.same(names(), ['Camunda', 'Operaton'], 'the next check may end a refusal')
  usable.delete('old')
  t.same(names(), ['Operaton'])
})

t.test('a start refuses the group before the first request', async (t) => {
  const { guard, state } = open()
  state.responses = OLD_SCHEMA
  await guard.start()
  t.equal(guard.refusal, FULL_REFUSAL)
})

t.test('a refused group gets no request, whatever the configuration and commands say', async (t) => {
  const received: string[] = []
  let facts = OLD_SCHEMA
  const start = (group: string) =>
    startNode(t, ({ url }, response) => {
      const path = url.replace('/engine-rest', '')
      const fact = facts[path]
      if (fact === undefined) received.push(group)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(fact ?? { count: 1 }))
    })
  const [old, next] = [await start('old'), await start('new')]
  const { running, ask, metric, log } = await startReloadable(t, {
    engines: {
      default: {
        nodes: [
          { url: `${old.url}/engine-rest`, group: 'old' },
          { url: `${next.url}/engine-rest`, group: 'new' },
        ],
        shift: { to: 'new', reads: '100%', writes: '100%' },
      },
    },
    health: { probe: false },
    admin: { port: 0 },
  })
  const shift = async (body: unknown) => {
    const response = await fetch(`${running.adminAddress}/shift`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-requested-by': 'test' },
      body: JSON.stringify(body),
    })
    return { status: response.status, value: await response.json() }
  }
  t.equal((await ask('demo', '/task/count')).status, 200)
  t.same(received, ['old'])
  t.same(await shift({ reads: '50%' }), { status: 400, value: { error: FULL_REFUSAL } })
  t.match(await shift({}), { status: 200, value: { reads: 1, refused: FULL_REFUSAL } })
  t.equal(await metric('gateway_group_refused{engine="default",group="new"}'), 1)
  t.ok(log.some(({ msg, refusal }) => msg === 'the group gets no requests' && refusal === FULL_REFUSAL))

  facts = NEW_SCHEMA
  t.match(await shift({ reads: '100%' }), { status: 200, value: { reads: 1, refused: null } })
  await ask('demo', '/task/count')
  t.same(received, ['old', 'new'])
  t.equal(await metric('gateway_group_refused{engine="default",group="new"}'), 0)
})
