import { Agent, request } from 'node:https'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { writeCertificates } from '../../support/certificates.ts'
import {
  authorizationOf,
  BASE,
  type GatewayOptions,
  openGateway,
  type OpenGateway,
} from '../../support/open-gateway.ts'

const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'getTasks', arguments: { maxResults: 1 } },
}

/** Mary may start an instance, and ben may not. */
const START = {
  ...CALL,
  params: { name: 'startProcessInstanceByKey', arguments: { key: 'review', body: {} } },
}

/** Opens a gateway whose listener asks for client certificates. The certificate of the tests names mary. */
async function openTls(t: Test, engines: NonNullable<GatewayOptions['engines']> = {}) {
  const files = writeCertificates(t)
  const clients = { ca: files['ca.crt'], required: false, user: 'commonName', users: { client: 'mary' } }
  const gateway = await openGateway(t, {
    listen: true,
    engines,
    settings: {
      mcp: {},
      log: { audit: 'stdout' },
      listen: { port: 0, tls: { cert: files['server.crt'], key: files['server.key'], clients } },
    },
  })
  const own = { cert: readFileSync(files['client.crt']), key: readFileSync(files['client.key']) }
  const ask = (
    {
      path,
      body = null,
      headers = {},
    }: { path: string; body?: object | null; headers?: Record<string, string> },
    hasCertificate = true,
  ) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const agent = new Agent({
        ca: readFileSync(files['ca.crt']),
        servername: 'localhost',
        ...(hasCertificate ? own : {}),
      })
      t.teardown(() => agent.destroy())
      const url = gateway.origin.replace('localhost', '127.0.0.1') + path
      request(
        url,
        { agent, method: body === null ? 'GET' : 'POST', headers: { ...HEADERS, ...headers } },
        (response) => {
          void text(response).then((all) => resolve({ status: response.statusCode, text: all }), reject)
        },
      )
        .on('error', reject)
        .end(body === null ? undefined : JSON.stringify(body))
    })
  return { gateway, ask }
}

t.test('the user of a client certificate is the user of the tool', async (t) => {
  const { gateway, ask } = await openTls(t)
  const { status, text: result } = await ask({ path: '/mcp', body: START })
  t.equal(status, 200)
  t.notMatch(result, /isError/)
  t.match(linesOfTools(gateway), [
    { user: 'mary', authenticated: 'certificate', tool: 'startProcessInstanceByKey', decision: 'permitted' },
  ])
})

t.test('credentials have precedence over the certificate, also inside the tool', async (t) => {
  const { gateway, ask } = await openTls(t)
  const headers = { authorization: authorizationOf('ben') }
  const { text: refused } = await ask({ path: '/mcp', body: START, headers })
  t.match(refused, /"isError":true/)
  t.match(linesOfTools(gateway), [
    { user: 'ben', authenticated: 'basic', tool: 'startProcessInstanceByKey', decision: 'refused' },
  ])
  const before = gateway.engine.requests
  for (const authorization of [authorizationOf('ben', 'wrong'), 'Bearer a.b.c', 'Basic'])
    t.equal((await ask({ path: '/mcp', body: START, headers: { authorization } })).status, 401, authorization)
  t.equal((await ask({ path: '/mcp', body: START }, false)).status, 401, 'neither')
  t.equal(linesOfTools(gateway).length, 1)
  t.equal(gateway.engine.requests, before)
})

/** Returns the audit lines of calls of tools. */
function linesOfTools({ log }: OpenGateway) {
  return log.filter(({ via }) => via === 'mcp')
}

t.test('the engine gets the same caller from the API and from a tool', async (t) => {
  const { gateway, ask } = await openTls(t, {
    named: { credentials: { header: 'Context-User-ID' } },
    forwarding: { credentials: 'forward' },
  })
  const callersSeen = async (send: () => Promise<{ status: number | undefined }>) => {
    const before = gateway.engine.requests
    t.equal((await send()).status, 200)
    return gateway.engine.seen
      .slice(before - gateway.engine.requests)
      .filter(({ url }) => /\/task(?!.*involvedUser=)/.test(url) && !url.includes('/history/'))
      .map(({ headers }) => ({
        authorization: headers['authorization'],
        caller: headers['context-user-id'],
      }))
  }
  for (const [engine, headers, expected] of [
    ['named', {}, { authorization: undefined, caller: 'mary' }],
    ['named', { authorization: authorizationOf('demo') }, { authorization: undefined, caller: 'demo' }],
    ['forwarding', {}, { authorization: undefined, caller: undefined }],
    [
      'forwarding',
      { authorization: authorizationOf('demo') },
      { authorization: authorizationOf('demo'), caller: undefined },
    ],
  ] as const) {
    const api = await callersSeen(() => ask({ path: `${BASE}/engine/${engine}/task?maxResults=1`, headers }))
    const tool = await callersSeen(() => ask({ path: `/mcp/engine/${engine}`, body: CALL, headers }))
    t.ok(api.length > 0, engine)
    t.same(
      api,
      api.map(() => expected),
      engine,
    )
    t.same(tool, api, engine)
  }
})
