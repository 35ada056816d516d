import t from 'tap'
import { type Answer, openGateway } from './open-gateway.ts'

const START = 'POST /process-definition/key/review/start'
const NAMED = 'POST /engine/second/process-definition/key/review/start'
const HOST = { body: {}, headers: { host: 'public.example:8443' } }

function hrefOf({ body }: Answer): unknown {
  const links: unknown = Object(body).links
  return Array.isArray(links) ? Object(links[0]).href : undefined
}

t.test('a link leads back through the gateway, at the address the client used', async (t) => {
  const { ask } = await openGateway(t)
  t.match(
    hrefOf(await ask('demo', START, HOST)),
    /^http:\/\/public\.example:8443\/engine-rest\/process-instance\//,
  )
})

t.test('below the name of an engine it keeps that name', async (t) => {
  const { ask } = await openGateway(t)
  const href = hrefOf(await ask('demo', NAMED, HOST))
  t.match(href, /^http:\/\/public\.example:8443\/engine-rest\/engine\/second\/process-instance\//)
})

t.test('the default engine by its name keeps it too', async (t) => {
  const { ask } = await openGateway(t)
  const href = hrefOf(await ask('demo', START.replace('/', '/engine/default/'), HOST))
  t.match(href, /^http:\/\/public\.example:8443\/engine-rest\/engine\/default\/process-instance\//)
})

t.test('a base path of its own is in the links', async (t) => {
  const { app } = await openGateway(t, { settings: { basePath: '/api/flow' } })
  const response = await app.inject({
    method: 'POST',
    url: '/api/flow/process-definition/key/review/start',
    headers: {
      authorization: `Basic ${Buffer.from('demo:demo').toString('base64')}`,
      'content-type': 'application/json',
      host: 'public.example',
    },
    payload: '{}',
  })
  t.match(response.json(), { links: [{ href: /^http:\/\/public\.example\/api\/flow\/process-instance\// }] })
})

t.test('a node that is called by its own name does not show in them', async (t) => {
  const { ask } = await openGateway(t, { engineSettings: { host: 'node' } })
  t.match(
    hrefOf(await ask('demo', START, HOST)),
    /^http:\/\/public\.example:8443\/engine-rest\/process-instance\//,
  )
  t.match(
    hrefOf(await ask('demo', NAMED, HOST)),
    /^http:\/\/public\.example:8443\/engine-rest\/engine\/second\/process-instance\//,
  )
})

t.test('the rest of the answer stays as the engine wrote it', async (t) => {
  const own =
    '{ "n" : 12345678901234567890, "text":"http://public.example/engine-rest/engine/second", "links":[] }'
  const { ask } = await openGateway(t, {
    engine: (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(own),
  })
  const { bytes } = await ask('demo', NAMED, { body: {}, headers: { host: 'public.example' } })
  t.equal(bytes.toString(), own)
})
