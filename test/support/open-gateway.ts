import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { build } from '../../src/assembly/build.ts'
import { type Config, loadConfig } from '../../src/config/config.ts'
import { buildGateway } from '../../src/gateway.ts'
import { createListener } from '../../src/server/listener.ts'
import { createLogger } from '../../src/log.ts'
import type { Dependencies } from '../../src/pipeline/dependencies.ts'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { startNode, type Seen as SeenRaw } from './fake-engine.ts'
import { idsOf } from '../sandbox/asks.ts'
import { DEMO_RECORDS, recordsOf, USERS } from './people.ts'

export const BASE = '/engine-rest'

/** A request as the engine received it. */
export type Seen = Pick<SeenRaw, 'method' | 'url' | 'headers' | 'body'>

export interface GatewayOptions {
  /** Records such as `grant mary TASK:* READ`, in addition to those of the admins. Default: the records of the demo. */
  readonly records?: readonly string[]
  /** Members of the configuration that replace the defaults. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** Further engines by name, with members of their configuration. By default they have the node of the default engine. */
  readonly engines?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** The test's own engine. Default: the sandbox. */
  readonly engine?: (request: SeenRaw, response: ServerResponse) => void
  /** Whether the test's own engine has links of callers to tasks. Default: the gateway learns that there are none. */
  readonly hasLinks?: boolean
  /** Replaces dependencies of the gateway by the test's own. */
  readonly wrap?: (dependencies: Dependencies) => Dependencies
  readonly listen?: boolean
  /** Whether the listener serves cached responses on the fast path. Default: yes. Requests of `ask` only pass the framework. */
  readonly fastPath?: boolean
  /** Whether users and records are read again when their files change. Default: no. */
  readonly watch?: boolean
}

export interface Ask {
  /** Text and bytes are sent unchanged, other values as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The parsed value if the body is JSON, otherwise the text. */
  readonly body: unknown
  readonly bytes: Buffer
  /** Requests that the engine received during this request. */
  readonly forwarded: readonly Seen[]
}

export interface OpenGateway {
  readonly app: FastifyInstance
  readonly dependencies: Dependencies
  /** `http://127.0.0.1:…`, or empty if the gateway does not listen. */
  readonly origin: string
  readonly engine: Engine
  /** Parsed lines of the log. */
  readonly log: readonly Readonly<Record<string, unknown>>[]
  /**
   * Sends a request, for example `ask('mary', 'GET /task/x?a=b')`. The path is relative to the base path. If the user
   * is null, no credentials are sent.
   */
  readonly ask: (user: string | null, route: string, ask?: Ask) => Promise<Answer>
}

/** Opens a gateway with a default and a second engine at one node, as in the demo. It ends with the test. */
export async function openGateway(t: Test, options: GatewayOptions = {}): Promise<OpenGateway> {
  const engine = await startEngine(t, options)
  const log: Readonly<Record<string, unknown>>[] = []
  const {
    gateway: dependencies,
    start,
    close,
  } = await build({
    config: configOf(t, engine.base, { ...options, settings: calmOf(options.settings) }),
    log: createLogger({ level: 'info', destination: { write: (line) => void log.push(JSON.parse(line)) } }),
    version: 'test',
  })
  if (options.watch === true) await start()
  const used = options.wrap?.(dependencies) ?? dependencies
  const { app, handle, upgrades } = buildGateway(used)
  const listener = createListener(used.config, {
    handle: options.fastPath === false ? (request, response) => app.routing(request, response) : handle,
    upgrades,
    metrics: used.metrics,
    log: used.log,
  })
  t.teardown(async () => {
    await listener.close(Promise.resolve())
    await app.close()
    await close()
  })
  await app.ready()
  const origin = options.listen === true ? await listener.listen(used.config.listen) : ''
  return { app, dependencies: used, origin, engine, log, ask: createAsk(app, engine) }
}

/** Returns the configuration from a file with the users and records of the test. The file is read as the process reads it. */
export function configOf(
  t: Test,
  base: string,
  { records, settings, engines = {} }: GatewayOptions = {},
): Config {
  const folder = mkdtempSync(join(tmpdir(), 'engine-gateway-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const lines = records === undefined ? DEMO_RECORDS : records
  writeFileSync(join(folder, 'users.yaml'), JSON.stringify({ users: USERS }))
  writeFileSync(join(folder, 'records.yaml'), JSON.stringify({ authorizations: recordsOf(lines) }))
  const file = join(folder, 'gateway.yaml')
  const config = {
    version: 1,
    listen: { port: 0 },
    admin: { port: 0 },
    engines: {
      default: { nodes: [base] },
      second: { nodes: [base], remoteName: 'second' },
      ...Object.fromEntries(Object.entries(engines).map(([name, own]) => [name, { nodes: [base], ...own }])),
    },
    identity: { source: 'file', file: 'users.yaml', remember: '1h' },
    authorization: { records: { source: 'file', file: 'records.yaml' } },
    ...settings,
  }
  writeFileSync(file, JSON.stringify(config))
  return loadConfig(file)
}

/** Disables load shedding by event loop delay: the load of a shared machine delays the event loop. Only tests of that limit set it. */
function calmOf(settings: GatewayOptions['settings'] = {}): NonNullable<GatewayOptions['settings']> {
  const { limits } = settings
  const own = typeof limits === 'object' ? limits : null
  return { ...settings, limits: { pressure: { eventLoopDelay: null }, ...own } }
}

export interface Engine {
  /** The base URL of its REST API. */
  readonly base: string
  /** All requests that it has received since the start, as far as it keeps them. */
  readonly seen: readonly Seen[]
  readonly requests: number
}

async function startEngine(t: Test, { engine: answer, hasLinks = false }: GatewayOptions): Promise<Engine> {
  if (answer === undefined) {
    const sandbox = await startSandbox()
    t.teardown(() => sandbox.close())
    return sandbox
  }
  const { url, seen } = await startNode(t, hasLinks ? answer : withoutLinks(answer))
  return {
    base: url + BASE,
    seen,
    get requests() {
      return seen.length
    },
  }
}

function withoutLinks(answer: NonNullable<GatewayOptions['engine']>): NonNullable<GatewayOptions['engine']> {
  return (request, response) => {
    if (/\/identity-link-log\/count\?(?:user|group)Id=/.test(request.url))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"count":0}')
    else answer(request, response)
  }
}

/** Returns the ids of a list, which are the same in every sandbox. Tests use them in records that they write before they start a sandbox. */
export async function sandboxIds(t: Test, path: string): Promise<readonly string[]> {
  const sandbox = await startSandbox()
  t.teardown(() => sandbox.close())
  return idsOf(sandbox.base, path)
}

export function authorizationOf(user: string, password = user): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

function createAsk(app: FastifyInstance, engine: Engine): OpenGateway['ask'] {
  return async function ask(user, route, { body, headers = {} } = {}) {
    const [method = '', path = ''] = route.split(' ')
    const before = engine.requests
    const payload =
      body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    const response = await app.inject({
      method: methodOf(method),
      url: BASE + path,
      headers: {
        ...(user === null ? {} : { authorization: authorizationOf(user) }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload === undefined ? {} : { payload }),
    })
    const count = engine.requests - before
    return {
      status: response.statusCode,
      headers: textsOf(response.headers),
      body: valueOf(response.payload, response.headers['content-type']),
      bytes: response.rawPayload,
      forwarded: count === 0 ? [] : engine.seen.slice(-count),
    }
  }
}

function textsOf(headers: OutgoingHttpHeaders): Answer['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'] as const

function methodOf(text: string): (typeof METHODS)[number] {
  const method = METHODS.find((one) => one === text)
  if (method === undefined) throw new Error(`inject cannot say ${text}`)
  return method
}

function valueOf(payload: string, type: unknown): unknown {
  return typeof type === 'string' && type.startsWith('application/json') && payload !== ''
    ? JSON.parse(payload)
    : payload
}
