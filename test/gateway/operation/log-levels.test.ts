import t from 'tap'
import { operatorText, CODES, EngineRefusal, GatewayError } from '../../../src/errors.ts'
import type { GatewayCode } from '../../../src/errors.ts'
import type { Dependencies } from '../../../src/pipeline/dependencies.ts'
import { refusingUrl, startRawNode } from '../../support/fake-engine.ts'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const CODE_NAMES = Object.keys(CODES).filter((name): name is GatewayCode => Object.hasOwn(CODES, name))

/** The error that refuses the next request before all other checks. */
const next: { refusal: Error } = { refusal: new Error('unused') }

const authenticate = () => {
  throw next.refusal
}

function refuseAll(dependencies: Dependencies): Dependencies {
  const engines = [...dependencies.engines].map(
    ([name, engine]) =>
      [name, { ...engine, authenticator: { ...engine.authenticator, authenticate } }] as const,
  )
  return { ...dependencies, engines: new Map(engines) }
}

t.test('an expected refusal is logged at level info and without a stack', async (t) => {
  const gateway = await openGateway(t, { wrap: refuseAll })
  const cause = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
  for (const code of CODE_NAMES.filter((name) => name !== 'GW_INTERNAL')) {
    const before = gateway.log.length
    next.refusal = new GatewayError(code, { cause })
    t.equal((await gateway.ask('demo', 'GET /task')).status, CODES[code][0])
    const lines = gateway.log.slice(before)
    t.same([...new Set(lines.map(({ level }) => level))], ['info'], code)
    t.notMatch(JSON.stringify(lines), /"stack"|"err"/, code)
    t.match(lines.find(({ durationMs }) => durationMs !== undefined)?.['error'], code)
    if (CODES[code][0] < 500) continue
    t.match(lines[0], { requestId: String, cause: 'UND_ERR_SOCKET: other side closed' }, code)
  }
})

t.test(
  'a refusal that the gateway gives on behalf of the engine is logged at level info, whatever its status',
  async (t) => {
    const gateway = await openGateway(t, { wrap: refuseAll })
    for (const status of [400, 403, 404, 500]) {
      const before = gateway.log.length
      next.refusal = new EngineRefusal({ status, body: {}, reason: operatorText`as the engine hides it` })
      t.equal((await gateway.ask('demo', 'GET /task')).status, status)
      t.same([...new Set(gateway.log.slice(before).map(({ level }) => level))], ['info'])
    }
  },
)

t.test('a defect is logged as an error with its stack', async (t) => {
  const gateway = await openGateway(t, { wrap: refuseAll })
  next.refusal = new TypeError('a defect')
  t.equal((await gateway.ask('demo', 'GET /task')).status, 500)
  t.match(gateway.log, [
    { level: 'error', requestId: String, err: { type: 'TypeError', stack: /log-levels/ } },
    { level: 'info', status: 500, error: /^GW_INTERNAL/ },
  ])
})

t.test('a hundred requests to an unreachable node cause one warning', async (t) => {
  const nodes = [(await refusingUrl()) + BASE]
  const gateway = await openGateway(t, {
    settings: { engines: { default: { nodes } }, health: { probe: false } },
  })
  for (let count = 0; count < 100; count += 1) t.equal((await gateway.ask('demo', 'GET /task')).status, 503)
  const told = gateway.log.filter(({ level }) => level !== 'info')
  t.match(told, [{ level: 'warn', msg: 'node ejected', reason: 'refused' }])
})

t.test(
  'a connection that breaks during a write is logged with its cause, in a line of the request',
  async (t) => {
    const node = await startRawNode(t, (socket) => socket.destroy())
    const settings = { engines: { default: { nodes: [node.url + BASE] } }, health: { probe: false } }
    const gateway = await openGateway(t, { settings })
    const answer = await gateway.ask('demo', 'POST /task/create', { body: { id: 'a' } })
    t.equal(answer.headers['x-gateway-error'], 'GW_OUTCOME_UNKNOWN')
    t.match(
      gateway.log.filter(({ stream }) => stream === undefined),
      [
        { level: 'info', cause: /^UND_ERR_SOCKET: / },
        { level: 'info', status: 502, error: /^GW_OUTCOME_UNKNOWN/ },
      ],
    )
  },
)
