import { PassThrough } from 'node:stream'
import { setImmediate, setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import type { EngineDependencies } from '../../../src/pipeline/dependencies.ts'
import { replaceRecords } from '../../support/both-ways.ts'
import { authorizationOf, openGateway, type OpenGateway } from '../../support/open-gateway.ts'
import { connectTools } from '../../support/tool-client.ts'

const OTHERS = ['grant mary PROCESS_INSTANCE:* CREATE', 'grant mary PROCESS_DEFINITION:review READ']
const GRANTS = [
  'grant mary PROCESS_INSTANCE:* CREATE',
  'grant mary PROCESS_DEFINITION:review READ,CREATE_INSTANCE',
]

function openTools(t: Test, mcp: object = {}): Promise<OpenGateway> {
  return openGateway(t, { settings: { mcp }, records: GRANTS, watch: true, listen: true })
}

/** Opens a stream with GET. `text` resolves to everything that arrived when it contains a text. */
async function openStream(origin: string, headers: Readonly<Record<string, string>> = {}) {
  const abort = new AbortController()
  const response = await fetch(`${origin}/mcp`, {
    headers: { authorization: authorizationOf('mary'), accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    status: response.status,
    headers: response.headers,
    leave: () => abort.abort(),
    until: async (part: string): Promise<string> => {
      while (!text.includes(part)) {
        const { done = true, value = '' } = (await reader?.read()) ?? {}
        if (done) return `${text}(end)`
        text += value
      }
      return text
    },
  }
}

for (const mode of ['legacy', 'auto'] as const)
  t.test(`a revoked record removes the tool and notifies the client (${mode})`, async (t) => {
    const gateway = await openTools(t)
    const { promise: changed, resolve: tell } = Promise.withResolvers<void>()
    const { names } = await connectTools(t, gateway.origin, 'mary', { mode, onToolsChanged: tell })
    let others = 0
    await connectTools(t, gateway.origin, 'ben', { mode, onToolsChanged: () => (others += 1) })
    t.ok((await names()).includes('startProcessInstanceByKey'))
    while (gateway.dependencies.toolEndpoint?.streams.size !== 2) await wait(5)
    const startMs = performance.now()
    await replaceRecords(gateway, OTHERS)
    await changed
    const tookMs = performance.now() - startMs
    t.notOk((await names()).includes('startProcessInstanceByKey'))
    t.comment(`${Math.round(tookMs)} ms`)
    t.equal(others, 0, 'a caller with the same tools is not notified')
  })

t.test('a client that connects again is notified if it has missed a change', async (t) => {
  const gateway = await openTools(t)
  const first = await openStream(gateway.origin)
  t.match(first.headers.get('content-type'), /^text\/event-stream/)
  const id = /id: (\S+)/.exec(await first.until('\n\n'))?.[1] ?? ''
  t.not(id, '')
  first.leave()
  const same = await openStream(gateway.origin, { 'last-event-id': id })
  t.notMatch(await same.until('\n\n'), /list_changed/)
  const other = await openStream(gateway.origin, { 'last-event-id': 'other' })
  t.match(await other.until('\n\n'), /list_changed/)
  same.leave()
  other.leave()
  while (gateway.dependencies.toolEndpoint?.streams.size !== 0) await wait(5)
})

t.test('a stream needs credentials, and its number is limited', async (t) => {
  const gateway = await openTools(t, { streams: { open: 3, perUser: 2 } })
  t.equal((await openStream(gateway.origin, { authorization: 'Basic x' })).status, 401)
  t.equal((await openStream(gateway.origin, { accept: 'application/json' })).status, 405)
  t.equal((await openStream(gateway.origin, { origin: gateway.origin })).status, 403)
  const opened = await Promise.all([1, 2, 3, 4].map(() => openStream(gateway.origin)))
  t.same(opened.map(({ status }) => String(status)).sort(), ['200', '200', '429', '429'])
  const ben = { authorization: authorizationOf('ben') }
  t.equal((await openStream(gateway.origin, ben)).status, 200)
  t.equal((await openStream(gateway.origin, ben)).status, 503)
})

t.test('a drain notifies the client and ends its stream', async (t) => {
  const gateway = await openTools(t)
  const stream = await openStream(gateway.origin)
  gateway.dependencies.toolEndpoint?.streams.drain()
  t.match(await stream.until('never'), /list_changed.*\(end\)$/s)
  t.equal((await openStream(gateway.origin)).status, 503)
})

interface SentRequest {
  readonly method?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A message that is sent with POST. */
function messageOf(method: string, params: object): SentRequest {
  return {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  }
}

type Find = EngineDependencies['findPossiblePermits']

/** Opens a gateway with another search for the operations of a caller. */
function openWithSearch(t: Test, searchWith: (find: Find) => Find): Promise<OpenGateway> {
  return openGateway(t, {
    settings: { mcp: {} },
    records: GRANTS,
    watch: true,
    listen: true,
    wrap: (dependencies) => ({
      ...dependencies,
      engines: new Map(
        [...dependencies.engines].map(([name, engine]) => [
          name,
          { ...engine, findPossiblePermits: searchWith(engine.findPossiblePermits) },
        ]),
      ),
    }),
  })
}

/** Opens a gateway whose searches for tools do not begin. `begun` resolves to the function that says if the first is awaited. */
async function openWaitingSearches(t: Test) {
  const { promise: begun, resolve: begin } = Promise.withResolvers<() => boolean>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const gateway = await openWithSearch(t, (find) => async (principal, isAwaited = () => true) => {
    begin(isAwaited)
    await released
    return find(principal)
  })
  return { gateway, begun, release }
}

t.test('a stream that is drained during its review is not notified again', async (t) => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  let searches = 0
  const gateway = await openWithSearch(t, (find) => async (principal) => {
    searches += 1
    if (searches === 1) return find(principal)
    begin()
    await released
    return find(principal).finally(finish)
  })
  // oxlint-disable-next-line typescript/unbound-method -- it is called with the stream as `this`
  const write = t.capture(PassThrough.prototype, 'write', PassThrough.prototype.write)
  const stream = await openStream(gateway.origin)
  await replaceRecords(gateway, OTHERS)
  await begun
  gateway.dependencies.toolEndpoint?.streams.drain()
  const before = write().length
  release()
  t.match(await stream.until('never'), /list_changed.*\(end\)$/s)
  await finished
  await setImmediate()
  t.equal(before + write().length, 2, 'the event with the id, and one notification')
})

for (const [error, isLogged] of [
  [new Error('failed'), true],
  [new GatewayError('GW_RECORDS_UNAVAILABLE'), false],
] as const)
  t.test(`a stream ends if its review fails with ${error.message}`, async (t) => {
    let searches = 0
    const gateway = await openWithSearch(t, (find) => async (principal) => {
      searches += 1
      if (searches > 1) throw error
      return find(principal)
    })
    const stream = await openStream(gateway.origin)
    await replaceRecords(gateway, OTHERS)
    t.match(await stream.until('never'), /list_changed.*\(end\)$/s)
    t.equal(gateway.log.filter(({ level }) => level === 'error').length, isLogged ? 1 : 0)
  })

t.test('a drain while a stream is opened leaves no stream', async (t) => {
  const { gateway, begun, release } = await openWaitingSearches(t)
  const opening = openStream(gateway.origin)
  await begun
  gateway.dependencies.toolEndpoint?.streams.drain()
  release()
  const { status, headers } = await opening
  t.equal(status, 503)
  t.equal(headers.get('x-gateway-error'), 'GW_DRAINING')
})

for (const [what, init] of Object.entries<SentRequest>({
  'opens a stream': { headers: { accept: 'text/event-stream' } },
  subscribes: messageOf('subscriptions/listen', { notifications: { toolsListChanged: true } }),
  'reads the list': messageOf('tools/list', {}),
}))
  t.test(`the tools of a client that ${what} and disconnects are not awaited`, async (t) => {
    const { gateway, begun, release } = await openWaitingSearches(t)
    const abort = new AbortController()
    const headers = { ...init.headers, authorization: authorizationOf('mary') }
    const request = fetch(`${gateway.origin}/mcp`, { ...init, headers, signal: abort.signal })
    const isAwaited = await begun
    t.ok(isAwaited())
    abort.abort()
    await t.rejects(request)
    while (isAwaited()) await wait(5)
    t.equal(gateway.dependencies.toolEndpoint?.streams.size, 0)
    release()
  })

t.test('a stream ends at its age', async (t) => {
  const gateway = await openTools(t, { streams: { maxAge: '1s' } })
  const stream = await openStream(gateway.origin)
  t.match(await stream.until('never'), /\(end\)$/)
})
