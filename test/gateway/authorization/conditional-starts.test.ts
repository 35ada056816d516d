import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const MODEL =
  '<definitions><process id="watched"><startEvent id="start"><conditionalEventDefinition/></startEvent></process></definitions>'
const SUBSCRIPTION = { executionId: null, activityId: 'start', eventName: null, tenantId: null }
const DEFINITION = { id: 'watched:1', key: 'watched', tenantId: null, suspended: false }

const { ask } = await openGateway(t, {
  records: [
    'grant ben PROCESS_DEFINITION:watched CREATE_INSTANCE',
    'grant ben PROCESS_INSTANCE:* CREATE',
    'grant anna PROCESS_DEFINITION:watched READ',
  ],
  engine({ url }, response) {
    const { pathname } = new URL(url, 'http://engine')
    const answers: Readonly<Record<string, unknown>> = {
      [`${BASE}/event-subscription`]: [SUBSCRIPTION],
      [`${BASE}/process-definition`]: [DEFINITION],
      [`${BASE}/process-definition/watched%3A1/xml`]: { id: DEFINITION.id, bpmn20Xml: MODEL },
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answers[pathname] ?? []))
  },
})

const evaluate = (user: string, members: object) =>
  ask(user, 'POST /condition', { body: { variables: {}, ...members } })

t.test('a caller without READ on a definition cannot start it by a condition', async (t) => {
  for (const members of [{}, { withoutTenantId: false }, { tenantId: null }])
    t.match(await evaluate('ben', members), {
      status: 500,
      body: { message: /^ENGINE-13043 No subscriptions were found/ },
    })
})

t.test('a condition that names the tenant does not need READ', async (t) => {
  for (const members of [{ withoutTenantId: true }, { tenantId: 'acme' }]) {
    const answer = await evaluate('ben', members)
    t.equal(answer.status, 200, JSON.stringify(members))
    t.match(answer.forwarded.at(-1), { method: 'POST', url: `${BASE}/condition` })
    t.match(await evaluate('anna', members), { status: 403, body: { permissionName: 'CREATE' } })
  }
})
