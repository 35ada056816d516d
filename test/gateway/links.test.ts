import t from 'tap'
import { type Answer, authorizationOf, openGateway } from '../support/open-gateway.ts'

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

t.test('below the name of an engine it keeps that name', async (t) => {
  for (const name of ['second', 'default'])
    t.equal(hrefOf(await start(`/engine/${name}`)), `${ORIGIN}/engine-rest/engine/${name}/process-instance/`)
})

t.test('a node that is called by its own name does not show in them', async (t) => {
  t.equal(hrefOf(await start('/engine/aside')), `${ORIGIN}/engine-rest/engine/aside/process-instance/`)
})

t.test('a base path of its own is in the links, and all else is as the engine wrote it', async (t) => {
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
