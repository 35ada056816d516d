import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'
import { startNode } from '../../support/fake-engine.ts'

const FORM = '<html xmlns="http://www.w3.org/1999/xhtml"><script>fetch("/engine-rest/task")</script></html>'
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

const application = await startNode(t, (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end(FORM)
})

const { ask, app, dependencies } = await openGateway(t, {
  settings: { passthrough: [{ prefix: '/app', upstream: application.url, auth: 'none' }] },
  engines: { open: { validation: { allow: ['active-content'] } } },
  engine: ({ url }, response) => {
    const isJson = url.endsWith('/version')
    const type = url.endsWith('/diagram')
      ? 'image/svg+xml'
      : isJson
        ? 'application/json'
        : 'application/xhtml+xml'
    response
      .writeHead(url.includes('missing') ? 404 : 200, { 'content-type': type })
      .end(isJson ? '{}' : FORM)
  },
})

t.test('forms, attachments, files of deployments and error pages run no code in a browser', async (t) => {
  for (const route of [
    'GET /task/a/rendered-form',
    'GET /task/a/deployed-form',
    'GET /process-definition/key/a/rendered-form',
    'GET /task/a/attachment/b/data',
    'GET /deployment/a/resources/b/data',
    'GET /variable-instance/a/data',
    'GET /job/missing/stacktrace',
  ]) {
    const { headers, body } = await ask('demo', route)
    t.match(headers, { 'x-content-type-options': 'nosniff', 'content-security-policy': POLICY }, route)
    t.equal(body, FORM, route)
  }
})

t.test('a response from the cache is restricted as well', async (t) => {
  const route = 'GET /decision-definition/key/a/diagram'
  for (const status of [/fwd/, /hit/]) {
    const { headers } = await ask('demo', route)
    t.match(headers, {
      'cache-status': status,
      'x-content-type-options': 'nosniff',
      'content-security-policy': POLICY,
    })
  }
})

t.test(
  'JSON, responses of applications, and an engine that allows active content are not restricted',
  async (t) => {
    const responses = [
      await ask('demo', 'GET /version'),
      await ask('demo', 'GET /engine/open/task/a/rendered-form'),
      await app.inject('/app/form'),
    ]
    for (const { headers } of responses)
      t.same([headers['x-content-type-options'], headers['content-security-policy']], [undefined, undefined])
  },
)

t.test('restricted responses are counted by engine, without JSON and responses from the cache', async (t) => {
  const count = async () => {
    const text = await dependencies.metrics.text()
    const series = 'gateway_responses_restricted_total{engine="default",rule="active-content"}'
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(series))
        ?.slice(series.length) ?? 0,
    )
  }
  const before = await count()
  await ask('demo', 'GET /task/a/rendered-form')
  await ask('demo', 'GET /decision-definition/key/b/diagram')
  await ask('demo', 'GET /decision-definition/key/b/diagram')
  await ask('demo', 'GET /version')
  t.equal((await count()) - before, 2)
  await ask('demo', 'GET /engine/open/task/a/rendered-form')
  t.notMatch(await dependencies.metrics.text(), /responses_restricted_total\{engine="open"/)
})
