import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

// The engine reads `"TRUE"` and 1 as true, and accepts a number as an id.

const DEFINITION = { id: 'review:1', key: 'review', tenantId: null, suspended: false }
const START = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><message id="m" name="go" />
  <process id="review"><startEvent id="s"><messageEventDefinition messageRef="m" /></startEvent></process></definitions>`
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/execution': [{ id: 'e1', processInstanceId: 'i1', tenantId: null }],
  '/execution/e1': { id: 'e1', processInstanceId: 'i1', tenantId: null },
  '/process-instance': [{ id: 'i1', definitionId: 'review:1', tenantId: null }],
  '/process-instance/i1': { id: 'i1', definitionId: 'review:1', tenantId: null },
  '/event-subscription': [
    { eventType: 'message', eventName: 'go', activityId: 's', executionId: null, tenantId: null },
  ],
  '/history/process-instance/count': { count: 0 },
  '/process-definition': [DEFINITION],
  '/process-definition/review%3A1': DEFINITION,
  '/process-definition/review%3A1/xml': { id: 'review:1', bpmn20Xml: START },
}
/** Returns the instances whose ids the body of a list request names. */
function instancesIn(body: string): readonly object[] {
  const ids = body
    .match(/"processInstanceIds":\[([^\]]*)\]/)?.[1]
    ?.replaceAll('"', '')
    .split(',') ?? ['i1']
  return ids.map((id) => ({ id, definitionId: 'review:1', tenantId: null }))
}

const { ask } = await openGateway(t, {
  records: [
    'grant mary PROCESS_DEFINITION:review SUSPEND,UPDATE_INSTANCE',
    'grant ben PROCESS_DEFINITION:review SUSPEND',
    'grant ben PROCESS_INSTANCE:i1 UPDATE',
    'grant anna PROCESS_DEFINITION:review READ_HISTORY',
  ],
  engine: ({ url, body }, response) => {
    const [path = ''] = url.slice(BASE.length).split('?')
    const instances = path === '/process-instance' ? instancesIn(body.toString()) : null
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(instances ?? ANSWERS[path] ?? []))
  },
})

t.test(
  'SUSPEND on a definition does not permit suspending its instances, however the flag is written',
  async (t) => {
    const route = 'PUT /process-definition/review%3A1/suspended'
    for (const [flag, status] of [
      ['false', 200],
      // The engine cannot read this text as a boolean.
      ['"no"', 400],
      ['true', 403],
      ['"true"', 403],
      ['"TRUE"', 403],
      ['" True"', 403],
      ['"\\u0001true"', 403],
      ['"\\u0000TRUE\\u001f\\t"', 403],
      // Java does not trim these spaces, so the text is not a boolean.
      ['"\\u00a0true"', 400],
      ['"true\\u2003"', 400],
      ['1', 403],
    ] as const) {
      const body = `{"suspended":true,"includeProcessInstances":${flag}}`
      const headers = { 'content-type': 'application/json' }
      t.equal((await ask('ben', route, { body, headers })).status, status, flag)
    }
  },
)

t.test(
  'a message with `all` is refused if it may start a definition that the caller may not start',
  async (t) => {
    for (const [flag, status] of [
      ['false', 200],
      ['true', 403],
      ['"true"', 403],
      ['1', 403],
    ] as const) {
      const body = `{"messageName":"go","all":${flag}}`
      const headers = { 'content-type': 'application/json' }
      t.equal((await ask('ben', 'POST /message', { body, headers })).status, status, flag)
    }
  },
)

t.test('an id that is given as a number is looked up', async (t) => {
  const body = '{"processInstanceIds":[49,1.0],"suspended":true}'
  const headers = { 'content-type': 'application/json' }
  const { forwarded } = await ask('mary', 'PUT /process-instance/suspended', { body, headers })
  const looked = forwarded
    .filter(({ method }) => method === 'POST')
    .map(({ body: query }) => query.toString())
    .join(' ')
  t.match(looked, /\b49\b/)
  t.match(looked, /\b1\.0\b/)
})

t.test('a list of commas does not name a definition, and an empty id is not looked up', async (t) => {
  const report = 'GET /history/process-instance/report?reportType=duration&periodUnit=month'
  for (const [list, status] of [
    ['&processDefinitionIdIn=review:1', 200],
    ['&processDefinitionIdIn=,', 403],
    ['&processDefinitionKeyIn=,,', 403],
    ['', 403],
  ] as const) {
    const answer = await ask('anna', report + list)
    const isSent = answer.forwarded.some(({ url }) => url.includes('/report'))
    t.same([answer.status, isSent], [status, status === 200], list)
  }
  const body = { processDefinitionId: '', suspended: true }
  const { forwarded } = await ask('mary', 'PUT /job/suspended', { body })
  t.notOk(forwarded.some(({ url }) => url.endsWith('/process-definition/')))
})

t.test('half a surrogate pair in an id does not cause a 500', async (t) => {
  const body = '{"processInstanceIds":["\\ud800"],"suspended":true}'
  const headers = { 'content-type': 'application/json' }
  const { status } = await ask('mary', 'PUT /process-instance/suspended', { body, headers })
  t.not(status, 500)
})
