import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { buildDryRun } from '../../src/gateway.ts'
import { createExplain, questionOf } from '../../src/pipeline/explain.ts'
import type { Audit } from '../../src/metrics/audit-log.ts'
import { OPERATIONS } from '../../src/operations/all.ts'
import { openGateway, type GatewayOptions } from '../support/open-gateway.ts'

const ENTITY = {
  id: 'x-1',
  eventName: 'x-1',
  operationId: 'x-1',
  tenantId: null,
  definitionId: 'review:1',
  processDefinitionId: 'review:1',
  processDefinitionKey: 'review',
  processInstanceId: 'x-1',
  executionId: 'x-1',
  taskId: 'x-1',
  owner: null,
  workerId: null,
  jobDefinitionId: null,
  deploymentId: 'd-1',
  endTime: null,
  category: null,
  bpmn20Xml: '<definitions/>',
  decisionDefinitionKey: 'dish',
  incidentType: 'failedJob',
  caseExecutionId: null,
}

const RECORDS = [
  'grant mary PROCESS_DEFINITION:review READ,READ_TASK,READ_INSTANCE,UPDATE_INSTANCE',
  'grant mary TASK:* READ,UPDATE',
  'grant mary DEPLOYMENT:* CREATE',
  'revoke mary USER:x-1 READ',
]

async function openAgreement(t: Test, engine: Engine) {
  const audits: Audit[] = []
  const gateway = await openGateway(t, {
    records: RECORDS,
    engine,
    wrap: (dependencies) => ({ ...dependencies, audit: (audit) => void audits.push(audit) }),
  })
  return { ...gateway, audits, explain: createExplain(gateway.dependencies, buildDryRun) }
}

type Engine = NonNullable<GatewayOptions['engine']>

/** An engine in which every entity exists. */
const FULL: Engine = ({ method, url }, response) => {
  const [path = ''] = url.split('?')
  const isOne = method === 'GET' && /x-1|review/.test(path)
  const entity = entityFor(url)
  answer(response, url.includes('/count') ? { count: 1 } : isOne ? entity : [entity])
}

/** Returns the entity with the id or the key that the request names. */
function entityFor(url: string) {
  const isNamedByKey = /\/key\/x-1|[?&]key=x-1/.test(url)
  const id = url.includes('review%3A1') ? 'review:1' : 'x-1'
  const tenantId = url.includes('/tenant-id/x-1') ? 'x-1' : null
  return { ...ENTITY, id, tenantId, key: isNamedByKey ? 'x-1' : 'review' }
}

/** An engine in which nothing exists. */
const EMPTY: Engine = ({ method, url }, response) => {
  if (method === 'GET' && url.includes('/x-1')) response.writeHead(404).end()
  else answer(response, url.includes('/count') ? { count: 0 } : [])
}

function answer(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

const FORM = '--b\r\ncontent-disposition: form-data; name="deployment-name"\r\n\r\nx\r\n--b--\r\n'
const JSON_BODIES = [undefined, '{}', '{"taskId":"x-1","processInstanceIds":["x-1"]}', '{"name":', '[]']

/** Returns bodies with their content types. `undefined` is a request without a body. */
function bodiesOf({ method, media }: (typeof OPERATIONS)[number]) {
  if (method !== 'POST' && method !== 'PUT') return [{ body: undefined, type: '' }]
  if (media !== 'multipart') return JSON_BODIES.map((body) => ({ body, type: 'application/json' }))
  return [
    { body: FORM, type: 'multipart/form-data; boundary="b"' },
    { body: '{}', type: 'application/json' },
  ]
}

/** Returns the refusal of the last request before it was forwarded. Null if the request was permitted. */
function refusalIn(audits: readonly Audit[]): Audit | null {
  const last = audits.at(-1)
  return last?.decision === 'refused' && last.stage !== 'forward' ? last : null
}

/** Sends a request for every operation and explains it. Returns how many of the explained requests are permitted and refused. */
async function compareAll(t: Test, { ask, explain, audits }: Awaited<ReturnType<typeof openAgreement>>) {
  const seen = { permitted: 0, refused: 0 }
  for (const operation of OPERATIONS) {
    const route = `${operation.method} ${operation.template.replace(/:\w+/g, 'x-1')}`
    for (const user of ['demo', 'mary', 'nobody'])
      for (const { body, type } of bodiesOf(operation)) {
        const name = `${operation.id} by ${user} with ${body}`
        audits.length = 0
        const asked = await ask(user, route, {
          body,
          headers: body === undefined ? {} : { 'content-type': type },
        })
        const refusal = refusalIn(audits)
        const explained = await explain(questionOf({ user, request: route, body }))
        seen[explained.decision] += 1
        if (refusal === null) t.equal(explained.decision, 'permitted', name)
        else
          t.same(
            {
              stage: explained.stage,
              status: explained.response?.status,
              error: explained.response?.error ?? undefined,
              body: explained.response?.body ?? '',
            },
            {
              stage: refusal.stage,
              status: asked.status,
              error: asked.headers['x-gateway-error'],
              body: asked.body,
            },
            name,
          )
      }
  }
  return seen
}

t.test('explain and a request agree on every operation if every entity exists', async (t) => {
  const { permitted, refused } = await compareAll(t, await openAgreement(t, FULL))
  t.ok(permitted > 500 && refused > 500, `${permitted} permitted, ${refused} refused`)
})

t.test('explain and a request agree on every operation if nothing is found', async (t) => {
  const { permitted, refused } = await compareAll(t, await openAgreement(t, EMPTY))
  t.ok(permitted > 500 && refused > 500, `${permitted} permitted, ${refused} refused`)
})

t.test('explain writes no log lines, and sends nothing but lookups', async (t) => {
  const { audits, engine, explain, log } = await openAgreement(t, FULL)
  const { decision } = await explain(questionOf({ user: 'demo', request: 'DELETE /process-instance/x-1' }))
  t.equal(decision, 'permitted')
  t.same([audits, log], [[], []])
  t.notOk(engine.seen.some(({ method }) => method !== 'GET'))
})
