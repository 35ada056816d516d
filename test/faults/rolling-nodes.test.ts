import { once } from 'node:events'
import http, { type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until } from '../support/cache-harness.ts'
import { freePort } from '../support/free-port.ts'
import { startReloadable } from '../support/reloadable.ts'
import { BASE } from '../support/open-gateway.ts'

const NODES = 3
const WORKERS = 6
const HOLD_MS = 400
/** Message of an engine that shuts down. */
const STOPPING = JSON.stringify({
  type: 'RestException',
  message: 'Request rejected due to shutdown of application server.',
})

/** State that all nodes of one engine share. */
class Database {
  readonly created: string[] = []
  readonly completed: string[] = []
  /** Number of times that each write arrived, by path. */
  readonly written = new Map<string, number>()
  readonly #free: string[] = []

  create(): void {
    const id = `task-${this.created.length}`
    this.created.push(id)
    this.#free.push(id)
  }

  lock(): string | undefined {
    return this.#free.shift()
  }

  unlock(id: string): void {
    this.#free.push(id)
  }
}

interface Received {
  readonly url: string
  readonly method: string
  readonly body: string
}

const LOCK = { workerId: 'w', lockExpirationTime: '2999-01-31T12:00:00.000+0000' }

/** A node that stops as an application server does: it responds to running requests and accepts no further ones. */
class EngineNode {
  readonly port: number
  readonly #database: Database
  readonly #held = new Set<ServerResponse>()
  #server = http.createServer()

  constructor(port: number, database: Database) {
    this.port = port
    this.#database = database
  }

  async start(): Promise<void> {
    this.#server = http.createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () =>
        this.#answer({ url: request.url ?? '', method: request.method ?? '', body }, response),
      )
    })
    this.#server.listen(this.port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const response of this.#held) send(response, 500, STOPPING)
    const sweep = setInterval(() => this.#server.closeIdleConnections(), 5)
    await closed
    clearInterval(sweep)
  }

  #answer({ url, method, body }: Received, response: ServerResponse): void {
    const [, id = '', what = ''] = /\/external-task\/([^/]+)\/(\w+)$/.exec(url) ?? []
    // A nudge of the gateway names a topic without tasks.
    if (url.endsWith('/fetchAndLock') && !body.includes('"topicName":"work"'))
      return send(response, 200, '[]')
    if (url.endsWith('/fetchAndLock')) return this.#poll(response)
    if (method === 'POST') this.#database.written.set(url, (this.#database.written.get(url) ?? 0) + 1)
    if (what === 'complete') this.#database.completed.push(id)
    if (what === 'unlock') this.#database.unlock(id)
    setTimeout(() => send(response, what === '' ? 200 : 204, what === '' ? '{"version":"7"}' : ''), 3)
  }

  #poll(response: ServerResponse): void {
    this.#held.add(response)
    const untilMs = performance.now() + HOLD_MS
    const look = setInterval(() => {
      const id = this.#database.lock()
      if (id !== undefined) send(response, 200, JSON.stringify([{ id, ...LOCK }]))
      else if (performance.now() > untilMs) send(response, 200, '[]')
    }, 5)
    response.on('finish', () => {
      clearInterval(look)
      this.#held.delete(response)
    })
  }
}

function send(response: ServerResponse, status: number, body: string): void {
  if (response.writableEnded) return
  response.writeHead(status, status === 204 ? {} : { 'content-type': 'application/json' }).end(body)
}

const POLL = JSON.stringify({
  workerId: 'w',
  maxTasks: 1,
  asyncResponseTimeout: HOLD_MS,
  topics: [{ topicName: 'work', lockDuration: 60_000 }],
})

async function startRolling(t: Test) {
  const database = new Database()
  const nodes: EngineNode[] = []
  for (let i = 0; i < NODES; i += 1) nodes.push(new EngineNode(await freePort(), database))
  await Promise.all(nodes.map((node) => node.start()))
  const settings = (drained: EngineNode | null) => ({
    engines: {
      default: {
        nodes: nodes.map((node) => ({
          url: `http://127.0.0.1:${node.port}${BASE}`,
          drain: node === drained,
        })),
        service: { username: 'gateway', password: 'secret' },
      },
    },
    authorization: { mode: 'off', records: { source: 'file', file: 'records.yaml' } },
    health: { probe: false },
    log: { audit: 'off' },
  })
  const gateway = await startReloadable(t, settings(null))
  t.teardown(() => Promise.all(nodes.map((node) => node.stop())))
  const reload = async (drained: EngineNode | null): Promise<void> => {
    t.match(await gateway.reload(settings(drained)), { status: 200 })
  }
  return { database, nodes, reload, load: startLoad(gateway.ask, database) }
}

/** Starts workers that poll and complete tasks, in addition to readers and writers. */
function startLoad(
  ask: (user: string, path: string, init?: RequestInit) => Promise<Response>,
  database: Database,
) {
  const failed: string[] = []
  let asked = 0
  let isOver = false
  let untilMs = Infinity
  const aim = (): number => (isOver ? database.created.length : Infinity)
  const call = async (path: string, body?: string): Promise<unknown> => {
    asked += 1
    const init = body === undefined ? {} : { method: 'POST', body }
    const response = await ask('demo', path, init)
    const text = await response.text()
    if (!response.ok)
      failed.push(`${path} ${response.status} ${response.headers.get('x-gateway-error')} ${text}`)
    return response.ok && text !== '' ? JSON.parse(text) : null
  }
  const work = async (): Promise<void> => {
    while (performance.now() < untilMs && database.completed.length < aim()) {
      const tasks = await call('/external-task/fetchAndLock', POLL)
      for (const { id } of Array.isArray(tasks) ? tasks : [])
        await call(`/external-task/${id}/complete`, '{"workerId":"w"}')
    }
  }
  const read = async (): Promise<void> => {
    while (aim() === Infinity) {
      await call('/version')
      await wait(10)
    }
  }
  const all = [...Array.from({ length: WORKERS }, work), read(), read()]
  const source = setInterval(() => database.create(), 15)
  return {
    end: async () => {
      clearInterval(source)
      isOver = true
      untilMs = performance.now() + 10_000
      await Promise.all(all)
      return { asked, failed }
    },
  }
}

t.test(
  'draining and restarting nodes one by one fails no poll and no call, and each task is done once',
  async (t) => {
    const { database, nodes, reload, load } = await startRolling(t)
    for (const node of nodes) {
      const before = database.completed.length
      await until(() => database.completed.length > before + 5, 20_000)
      await reload(node)
      await wait(HOLD_MS + 100) // waits for the requests in flight at the node
      await node.stop()
      const meanwhile = database.completed.length
      await until(() => database.completed.length > meanwhile + 5, 20_000)
      await node.start()
      await reload(null)
    }
    const { asked, failed } = await load.end()
    t.same(failed, [], `of ${asked}`)
    t.same(database.completed.toSorted(), database.created.toSorted())
    t.ok(
      [...database.written.values()].every((times) => times === 1),
      'no write came twice',
    )
  },
)
