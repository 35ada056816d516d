import t from 'tap'
import { type Answer, authorizationOf, openGateway } from '../../support/open-gateway.ts'

const HOST = { body: {}, headers: { host: 'public.example:8443' } }
const ORIGIN = 'http://public.example:8443'
const { ask } = await openGateway(t, { engines: { aside: { host: 'node' } } })

function start(engine: string): Promise<Answer> {
  return ask('demo', `POST ${engine}/process-definition/key/review/start`, HOST)
}

function hrefOf({ body }: Answer): string {
  const [, href = ''] = /"href":"([^"]*)"/.exec(JSON.stringify(body)) ?? []
  return href.replace(/[^/]+$/, '')
}

t.test('a link leads back through the gateway, at the address the client used', async (t) => {
  t.equal(hrefOf(await start('')), `${ORIGIN}/engine-rest/process-instance/`)
})

t.test('a link to a named engine contains the name of the engine', async (t) => {
  for (const name of ['second', 'default'])
    t.equal(hrefOf(await start(`/engine/${name}`)), `${ORIGIN}/engine-rest/engine/${name}/process-instance/`)
})

t.test('links do not show a node, even if the node receives its own Host', async (t) => {
  t.equal(hrefOf(await start('/engine/aside')), `${ORIGIN}/engine-rest/engine/aside/process-instance/`)
})

t.test('links contain the configured base path, and everything else is as the engine wrote it', async (t) => {
  const links = '[{"href":"http://public.example/engine-rest/process-instance/1"}]'
  const text = '"n" : 12345678901234567890, "text":"http://public.example/engine-rest/x"'
  const { app } = await openGateway(t, {
    settings: { basePath: '/api/flow' },
    engine: (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{ ${text}, "links":${links} }`),
  })
  const response = await app.inject({
    method: 'POST',
    url: '/api/flow/process-definition/key/review/start',
    headers: {
      authorization: authorizationOf('demo'),
      'content-type': 'application/json',
      host: 'public.example',
    },
    payload: '{}',
  })
  t.equal(response.payload, `{ ${text}, "links":${links.replace('engine-rest', 'api/flow')} }`)
})

const forwarded = (headers: Readonly<Record<string, string>>) => ({
  ...HOST,
  headers: { ...HOST.headers, ...headers },
})
const STARTED = '/process-definition/key/review/start'

t.test('with a public address, links begin with it, whatever the headers of the request are', async (t) => {
  const settings = { listen: { port: 0, publicUrl: 'HTTPS://API.example/bpm/' } }
  const { ask: at } = await openGateway(t, { settings, engines: { aside: { host: 'node' } } })
  const heard = forwarded({ 'x-forwarded-proto': 'http', 'x-forwarded-host': 'evil.example' })
  for (const engine of ['', '/engine/second', '/engine/aside']) {
    const answer = await at('demo', `POST ${engine}${STARTED}`, heard)
    t.equal(hrefOf(answer), `https://api.example/bpm/engine-rest${engine}/process-instance/`)
  }
})

t.test(
  'a trusted proxy determines scheme and name with one value each, and no other peer does',
  async (t) => {
    const heard = async (settings: object, headers: Readonly<Record<string, string>>) => {
      const { ask: at } = await openGateway(t, { settings: { ...settings } })
      return hrefOf(await at('demo', `POST ${STARTED}`, forwarded(headers))).replace(/\/engine-rest.*/, '')
    }
    const trusted = { listen: { port: 0, trustedProxies: ['127.0.0.1'] } }
    const both = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'api.example' }
    t.equal(await heard(trusted, both), 'https://api.example')
    t.equal(await heard(trusted, { 'x-forwarded-proto': 'https' }), 'https://public.example:8443')
    t.equal(await heard(trusted, { 'x-forwarded-host': 'api.example' }), 'http://api.example')
    for (const host of ['a.example, b.example', 'a"b', 'a/b', ''])
      t.equal(
        await heard(trusted, { ...both, 'x-forwarded-host': host }),
        'https://public.example:8443',
        host,
      )
    t.equal(await heard(trusted, { 'x-forwarded-proto': 'https, http' }), ORIGIN)
    t.equal(await heard({ ...trusted, hosts: ['public.example:8443'] }, both), 'https://public.example:8443')
    t.equal(
      await heard({ ...trusted, hosts: ['public.example:8443', 'api.example'] }, both),
      'https://api.example',
    )
    const others = { listen: { port: 0, trustedProxies: ['192.0.2.1'] } }
    for (const settings of [others, {}]) t.equal(await heard(settings, both), ORIGIN)
  },
)

t.test(
  'an engine that receives the address of clients writes it into links, and they lead through the gateway',
  async (t) => {
    const seen: unknown[] = []
    const { ask: at } = await openGateway(t, {
      settings: { listen: { port: 0, publicUrl: 'https://api.example/bpm' } },
      engines: { told: { forwarded: 'x-forwarded' } },
      engine: ({ headers }, response) => {
        const { 'x-forwarded-proto': proto, 'x-forwarded-host': host, 'x-forwarded-for': client } = headers
        seen.push([proto, host, client])
        const href = `${String(proto)}://${String(host)}/engine-rest/process-instance/1`
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ links: [{ href }] }))
      },
    })
    const claimed = forwarded({ 'x-forwarded-host': 'evil.example', 'x-forwarded-for': '1.2.3.4' })
    const answer = await at('demo', `POST /engine/told${STARTED}`, claimed)
    t.equal(hrefOf(answer), 'https://api.example/bpm/engine-rest/engine/told/process-instance/')
    t.same(seen, [['https', 'api.example', '127.0.0.1']])
    await at('demo', `POST ${STARTED}`, claimed)
    t.same(seen.at(-1), [undefined, undefined, undefined], 'only where it is configured')
  },
)

t.test(
  'links of a new comment and a new attachment lead through the gateway, without the name on the node',
  async (t) => {
    const prefix = `${ORIGIN}/engine-rest/engine/second/task/t1/`
    const { ask: at } = await openGateway(t, {
      engine: ({ headers, url, method }, response) => {
        const href = `http://${headers.host}${url.replace('/create', '/x1')}`
        const task = { id: 't1', executionId: null, processDefinitionId: null, taskDefinitionKey: null }
        const created = { id: 'x1', links: [{ method: 'GET', href, rel: 'self' }] }
        const isLookUp = method === 'GET' || !url.includes('/create')
        const body = isLookUp ? (url.includes('/task/t1') ? task : [task]) : created
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      },
      engines: { second: { remoteName: 'inner' } },
    })
    const form = '--b\r\nContent-Disposition: form-data; name="attachment-name"\r\n\r\na\r\n--b--\r\n'
    const multipart = { ...HOST.headers, 'content-type': 'multipart/form-data; boundary=b' }
    for (const [kind, given] of [
      ['comment', { ...HOST, body: { message: 'm' } }],
      ['attachment', { body: form, headers: multipart }],
    ] as const) {
      const { status, body } = await at('demo', `POST /engine/second/task/t1/${kind}/create`, given)
      t.equal(status, 200, kind)
      t.match(JSON.stringify(body), `${prefix}${kind}/x1`)
      t.notMatch(JSON.stringify(body), /inner/)
    }
  },
)
