import type { ServerResponse } from 'node:http'
import t from 'tap'
import type { Seen } from '../../support/fake-engine.ts'
import { authorizationOf, openGateway } from '../../support/open-gateway.ts'

const DEMO = authorizationOf('demo')
const RECORDS = { source: 'file', file: 'records.yaml' }

/** Responds only to demo, as an engine that checks the caller itself. It hides everything from all other users. */
function answerDemo({ headers, url }: Seen, response: ServerResponse): void {
  const isDemo = headers.authorization === DEMO
  const isImage = url.includes('/diagram') && isDemo
  response.writeHead(isDemo ? 200 : 404, {
    'content-type': isImage ? 'image/png' : 'application/json',
    etag: '"one"',
  })
  const secret = url.includes('/xml') ? '{"bpmn20Xml":"secret","dmnXml":"secret"}' : '["secret"]'
  response.end(isDemo ? secret : '{"type":"InvalidRequestException","message":"hidden","code":null}')
}

const MODES = ['report', 'off', 'engine'] as const

const gateway = await openGateway(t, {
  engine: answerDemo,
  records: ['grant demo DECISION_DEFINITION:* ALL', 'grant demo PROCESS_DEFINITION:* ALL'],
  engines: Object.fromEntries(
    [...MODES, 'enforce'].map((mode) => [
      mode,
      { credentials: 'forward', authorization: { mode, records: RECORDS } },
    ]),
  ),
})

const SHARED = [
  'decision-definition/key/discount/diagram',
  'decision-definition/key/discount/xml',
  'process-definition/key/review/xml',
  'process-definition/key/review/diagram',
  'decision-requirements-definition/key/discount/xml',
  'external-task/topic-names',
] as const

for (const mode of MODES) {
  t.test(`with mode ${mode} the engine refuses a caller after a response to another caller`, async (t) => {
    for (const path of SHARED) {
      const route = `GET /engine/${mode}/${path}`
      t.equal((await gateway.ask('demo', route)).status, 200, route)
      for (const headers of [{}, { 'if-none-match': '"one"' }]) {
        const refused = await gateway.ask('mary', route, { headers })
        t.equal(refused.status, 404, route)
        t.match(refused.forwarded.at(-1)?.url, path, 'the engine gets the request')
      }
    }
  })

  t.test(`with mode ${mode} concurrent callers do not share a request to the engine`, async (t) => {
    const route = `GET /engine/${mode}/decision-definition/key/at-once/diagram`
    const users = ['demo', 'mary', 'demo', 'mary']
    const answers = await Promise.all(users.map((user) => gateway.ask(user, route)))
    t.same(
      answers.map(({ status }) => status),
      [200, 404, 200, 404],
    )
  })
}

t.test('with mode report or off no response is stored for other callers', async (t) => {
  const before = gateway.dependencies.cache.size.entries
  for (const mode of ['report', 'off'])
    for (const path of ['decision-definition/key/other/diagram', 'external-task/topic-names'])
      for (const at of [1, 2]) {
        const { status, headers, forwarded } = await gateway.ask('demo', `GET /engine/${mode}/${path}`)
        t.same([status, headers['cache-status']], [200, undefined], `${mode}, request ${at}`)
        t.match(forwarded.at(-1)?.url, path, 'the engine gets the request')
      }
  t.equal(gateway.dependencies.cache.size.entries, before)
})

t.test('with mode enforce a permitted caller shares responses, and another caller is refused', async (t) => {
  const route = 'GET /engine/enforce/decision-definition/key/discount/diagram'
  t.equal((await gateway.ask('demo', route)).status, 200)
  const again = await gateway.ask('demo', route)
  t.same([again.status, again.forwarded.length], [200, 0])
  const refused = await gateway.ask('mary', route)
  t.notSame([refused.status, refused.forwarded.length], [200, 0])
  t.ok(refused.status >= 400)
})
