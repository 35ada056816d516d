import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { build } from '../../../src/assembly/build.ts'
import { runInProcess } from '../../support/run-command.ts'
import { ConfigError } from '../../../src/config/config.ts'
import { createLogger } from '../../../src/log.ts'
import { idsOf } from '../../sandbox/asks.ts'
import {
  authorizationOf,
  configOf,
  type GatewayOptions,
  openGateway,
  type OpenGateway,
} from '../../support/open-gateway.ts'

const STOP = { body: { name: 'stopAll' } }

function auditsOf({ log }: OpenGateway): readonly Readonly<Record<string, unknown>>[] {
  return log.filter(({ stream }) => stream === 'audit')
}

function modeOf(mode: string) {
  return { authorization: { mode, records: { source: 'file', file: 'records.yaml' } } }
}

/** Sends one request and returns the audit lines that it causes. */
async function auditsBehind(gateway: OpenGateway, ...ask: Parameters<OpenGateway['ask']>) {
  const before = auditsOf(gateway).length
  await gateway.ask(...ask)
  await new Promise(setImmediate)
  return auditsOf(gateway).slice(before)
}

t.test('the audit line of a refusal names the check and the missing permissions', async (t) => {
  const gateway = await openGateway(t, { records: [] })
  const [waiting = ''] = await idsOf(gateway.engine.base, '/process-instance?processDefinitionKey=catching')
  const headers = { 'x-request-id': 'r-1' }
  t.match(await auditsBehind(gateway, 'nobody', 'POST /signal', { ...STOP, headers }), [
    {
      level: 'info',
      requestId: 'r-1',
      user: 'nobody',
      engine: 'default',
      operation: 'throwSignal',
      method: 'POST',
      decision: 'refused',
      stage: 'permit',
      rule: 'check 0',
      missing: [
        { permission: 'UPDATE', resource: 'ProcessInstance', resourceId: waiting, need: 0 },
        { permission: 'UPDATE_INSTANCE', resource: 'ProcessDefinition', resourceId: 'catching', need: 0 },
      ],
      status: 403,
    },
  ])
})

t.test('a refusal that looks like a missing entity is audited as a refusal', async (t) => {
  const gateway = await openGateway(t, { records: [] })
  const [task = ''] = await idsOf(gateway.engine.base, '/task?processDefinitionKey=review')
  const [hidden] = await auditsBehind(gateway, 'nobody', `PUT /task/${task}`, { body: { name: 'a' } })
  t.match(hidden, {
    decision: 'refused',
    rule: 'check 0',
    status: 404,
    missing: [{ permission: 'READ' }, {}],
  })
  const [gone] = await auditsBehind(gateway, 'nobody', 'PUT /task/none', { body: { name: 'a' } })
  t.match(gone, {
    decision: 'refused',
    stage: 'permit',
    rule: 'not found by the look-up',
    status: 404,
    missing: undefined,
  })
})

t.test('a refusal is audited at every stage from authentication on', async (t) => {
  const gateway = await openGateway(t, { records: [] })
  const cases: readonly (readonly [Parameters<OpenGateway['ask']>, object])[] = [
    [[null, 'GET /task'], { user: undefined, stage: 'authenticate', rule: 'credentials', status: 401 }],
    [['demo', 'GET /nothing'], { user: 'demo', stage: 'operation', rule: '404', operation: undefined }],
    [['demo', 'GET /engine/third/task'], { stage: 'operation', rule: '404', engine: undefined }],
    [['demo', 'POST /task', { body: '{' }], { stage: 'body', rule: 'GW_BAD_JSON', status: 400 }],
    [['demo', 'POST /task', { body: { nameExpression: '${1}' } }], { stage: 'body', rule: 'expressions' }],
  ]
  for (const [ask, audit] of cases) {
    const audits = await auditsBehind(gateway, ...ask)
    t.equal(audits.length, 1)
    t.match(audits[0], { decision: 'refused', ...audit })
  }
})

t.test('a refused login is audited with the attempted user and the client address', async (t) => {
  const gateway = await openGateway(t, { records: [] })
  const access = () => gateway.log.findLast(({ durationMs }) => durationMs !== undefined)
  const attempt = (user: string) =>
    auditsBehind(gateway, null, 'GET /task', { headers: { authorization: authorizationOf(user, 'wrong') } })
  const refused = { client: '127.0.0.1', user: undefined, decision: 'refused', rule: 'credentials' }
  t.match(await attempt('mary'), [{ ...refused, attemptedUser: 'mary' }])
  t.match(access(), { client: '127.0.0.1', user: undefined, attemptedUser: 'mary', status: 401 })
  t.match(await attempt('a\u0085\u202eb\u2028\u200bc'), [{ attemptedUser: 'a\uFFFD\uFFFDb\uFFFD\uFFFDc' }])
  t.match(await attempt('x'.repeat(500)), [{ attemptedUser: `${'x'.repeat(255)}…` }])
  t.match(await attempt('a\nb'), [{ ...refused, attemptedUser: undefined }])
  t.match(await auditsBehind(gateway, null, 'GET /task'), [{ ...refused, attemptedUser: undefined }])
  t.match(await auditsBehind(gateway, 'nobody', 'POST /signal', STOP), [
    { user: 'nobody', attemptedUser: undefined, rule: 'check 0' },
  ])
})

t.test('a write is audited and a read is not, whatever the method of the read', async (t) => {
  const gateway = await openGateway(t)
  t.match(await auditsBehind(gateway, 'demo', 'POST /signal', STOP), [
    {
      user: 'demo',
      operation: 'throwSignal',
      decision: 'permitted',
      status: 204,
      stage: undefined,
      rule: undefined,
    },
  ])
  t.same(await auditsBehind(gateway, 'demo', 'GET /task'), [])
  t.same(await auditsBehind(gateway, 'demo', 'POST /task', { body: {} }), [])
})

t.test('a write to an unreachable engine is audited as permitted, with status 502', async (t) => {
  const gateway = await openGateway(t, { engine: (_request, response) => void response.socket?.destroy() })
  const [audit, ...rest] = await auditsBehind(gateway, 'demo', 'POST /message', {
    body: { messageName: 'm' },
  })
  t.match(audit, { decision: 'permitted', status: 502 })
  t.same(rest, [])
  t.same(await auditsBehind(gateway, 'demo', 'GET /version'), [])
})

t.test('audit lines contain no content of bodies and no value longer than 256 characters', async (t) => {
  const gateway = await openGateway(t, { records: [] })
  const id = 'x'.repeat(1000)
  await gateway.ask('nobody', `POST /process-definition/key/${id}/start`, {
    body: { businessKey: 'secret-key', variables: { iban: { value: 'DE00' } } },
  })
  await gateway.ask('nobody', 'POST /user/create', {
    body: { profile: { id: 'new' }, credentials: { password: 'hunter2' } },
  })
  await new Promise(setImmediate)
  const text = JSON.stringify(auditsOf(gateway))
  t.notMatch(text, /secret-key|DE00|hunter2/)
  t.notMatch(text, /x{257}/)
  t.equal(auditsOf(gateway).length, 2)
})

t.test(
  'report mode audits all missing permissions at once, and the records suggested for them are sufficient',
  async (t) => {
    const reporting = await openGateway(t, { records: [], settings: modeOf('report') })
    const [task = ''] = await idsOf(reporting.engine.base, '/task?processDefinitionKey=review')
    const rename = ['nobody', `PUT /task/${task}`, { body: { name: 'a' } }] as const
    const signal = ['nobody', 'POST /signal', STOP] as const
    const audits = [
      ...(await auditsBehind(reporting, ...rename)),
      ...(await auditsBehind(reporting, ...signal)),
    ]
    t.match(audits, [
      { decision: 'reported', stage: 'permit', rule: 'check 0', status: 204 },
      { decision: 'reported', rule: 'check 0', status: 204 },
    ])
    const list = await auditsBehind(reporting, 'nobody', 'GET /task?processDefinitionKey=review')
    t.match(list, [{ decision: 'reported', rule: 'items: none' }])
    t.same(list[0]?.['missing'], [
      { permission: 'READ_TASK', resource: 'ProcessDefinition', resourceId: 'review', need: 0 },
    ])
    audits.push(...list)
    const stdin = Readable.from([audits.map((audit) => `${JSON.stringify(audit)}\n`).join('')])
    const { code, out } = await runInProcess(['suggest'], stdin)
    t.equal(code, 0)
    const lines = [...out.matchAll(/resourceType: (\d+), resourceId: (\S+), permissions: \[(.*)\]/g)].map(
      ([, type, id = '', names = '']) =>
        `grant nobody ${type === '6' ? 'PROCESS_DEFINITION' : 'TASK'}:${id.replaceAll('"', '')} ${names.replaceAll(' ', '')}`,
    )
    const enforcing = await openGateway(t, { records: lines, settings: modeOf('enforce') })
    t.equal((await enforcing.ask(...rename)).status, 204)
    t.equal((await enforcing.ask(...signal)).status, 204)
    t.not((await enforcing.ask('nobody', 'GET /task?processDefinitionKey=review')).body, [])
  },
)

t.test(
  'validation reports are audited, and a request that is also refused is audited as refused',
  async (t) => {
    const gateway = await openGateway(t, { records: [], settings: { validation: { mode: 'report' } } })
    t.match(
      await auditsBehind(gateway, 'nobody', 'POST /task/create', {
        body: { name: 1, nameExpression: '${1}', x: {} },
      }),
      [{ decision: 'refused', stage: 'permit', rule: 'check 0' }],
    )
    t.match(await auditsBehind(gateway, 'demo', 'POST /task', { body: { nameExpression: '${1}' } }), [
      { decision: 'reported', stage: 'body', rule: 'expressions', status: 200 },
    ])
  },
)

t.test('an audit file receives all audit lines and is not readable by other users', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const file = join(folder, 'audit.jsonl')
  const gateway = await openGateway(t, { settings: { log: { audit: file } } })
  await gateway.ask('demo', 'POST /signal', STOP)
  t.same(auditsOf(gateway), [])
  t.equal(statSync(file).mode & 0o007, 0)
  t.teardown(() => rmSync(folder, { recursive: true }))
  while (readFileSync(file, 'utf8') === '') await new Promise(setImmediate)
  t.match(JSON.parse(readFileSync(file, 'utf8')), { stream: 'audit', decision: 'permitted', user: 'demo' })
})

t.test(
  '`off` writes no audit lines, and an audit file that cannot be written prevents the start',
  async (t) => {
    const silent = await openGateway(t, { settings: { log: { audit: 'off' } } })
    await silent.ask('demo', 'POST /signal', STOP)
    await new Promise(setImmediate)
    t.same(auditsOf(silent), [])
    const config = configOf(t, 'http://127.0.0.1:9', { settings: { log: { audit: '/none/audit.jsonl' } } })
    const log = createLogger({ level: 'silent', destination: { write: () => undefined } })
    await t.rejects(build({ config, log, version: 'test' }), ConfigError)
  },
)

t.test(
  'the audit line of a write names its path parameters, its node and the ids of created entities',
  async (t) => {
    const gateway = await openGateway(t, { engine: answerWithId, records: [] })
    const cases: readonly (readonly [route: string, body: unknown, audit: object])[] = [
      [
        'POST /process-definition/key/review/start',
        {},
        { operation: 'startProcessInstanceByKey', params: { key: 'review' }, created: ['i-1'] },
      ],
      ['POST /condition', { variables: {} }, { params: undefined, created: ['i-1', 'i-\uFFFD2'] }],
      ['POST /engine/second/user/create', USER, { engine: 'second', params: undefined, created: ['new'] }],
      [
        'PUT /task/t-1/variables/a%E2%80%AEb',
        { value: 1 },
        { params: { id: 't-1', varName: 'a\uFFFDb' }, created: undefined },
      ],
      ['POST /authorization/create', AUTHORIZATION, { created: ['i-1'] }],
    ]
    for (const [route, body, audit] of cases) {
      const [line, ...others] = await auditsBehind(gateway, 'demo', route, { body })
      t.match(
        line,
        {
          client: '127.0.0.1',
          user: 'demo',
          authenticated: 'basic',
          decision: 'permitted',
          status: 200,
          durationMs: Number,
          node: gateway.engine.base,
          ...audit,
        },
        route,
      )
      t.same(others, [])
    }
    const [refused] = await auditsBehind(gateway, 'nobody', 'POST /process-definition/key/review/start', {
      body: {},
    })
    t.match(refused, { authenticated: 'basic', decision: 'refused', node: undefined, created: undefined })
    const [stranger] = await auditsBehind(gateway, null, 'DELETE /task/t-1')
    t.match(stranger, { authenticated: 'none', params: { id: 't-1' }, node: undefined })
  },
)

t.test('a write that the engine refuses has created nothing', async (t) => {
  const gateway = await openGateway(t, { engine: refuseWithId, records: [] })
  for (const [route, body] of [
    ['POST /user/create', USER],
    ['POST /process-definition/key/review/start', {}],
  ] as const) {
    const [line] = await auditsBehind(gateway, 'demo', route, { body })
    t.match(line, { decision: 'permitted', status: 400, created: undefined }, route)
  }
})

const refuseWithId: NonNullable<GatewayOptions['engine']> = (request, response) => {
  response.statusCode = 400
  answerWithId(request, response)
}

const answerWithId: NonNullable<GatewayOptions['engine']> = ({ url }, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(url.endsWith('/condition') ? '[{"id":"i-1"},{"id":"i-\u202e2"}]' : '{"links":[],"id":"i-1"}')
}

const USER = { profile: { id: 'new' }, credentials: { password: 'hunter2' } }
const AUTHORIZATION = { type: 1, userId: 'mary', resourceType: 7, resourceId: '*', permissions: ['READ'] }
