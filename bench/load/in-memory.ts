import { openSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { Duplex } from 'node:stream'
import { parseArgs } from 'node:util'
import { build } from '../../src/assembly/build.ts'
import { loadConfig } from '../../src/config/config.ts'
import { buildGateway } from '../../src/gateway.ts'
import { createLogger } from '../../src/log.ts'
import { openDestination } from '../../src/log-destination.ts'
import { AUTHORIZATION } from '../scenario.ts'

// A process that measures the CPU time of requests on connections that exist only in memory, so that the cost of the system and of
// other processes is left out. First the cost of the first requests of a process, then cached responses with and without the fast path,
// in turn. It writes the result to standard output.

/** The CPU times of requests, in microseconds. */
export interface InMemoryResult {
  readonly first: readonly { readonly from: number; readonly to: number; readonly cpuMicros: number }[]
  readonly rounds: readonly { readonly framework: number; readonly fast: number }[]
}

const CONNECTIONS = 32
/** Requests of a round. */
const REQUESTS = 10_000
const WARM_UP_ROUNDS = 3
const READ = '/engine-rest/process-definition/key/invoice'
const CACHED = '/engine-rest/decision-definition/key/dish/diagram'
/** Numbers of requests whose cost is shown after the start. */
const FIRST = [100, 200, 300, 400, 1000, 2000, 4000, 8000]

/** The connection of a client that sends the next request when it has received a response. */
class MemoryConnection extends Duplex {
  readonly remoteAddress = '127.0.0.1'
  readonly #onResponse: (connection: MemoryConnection) => void

  constructor(onResponse: (connection: MemoryConnection) => void) {
    super()
    this.#onResponse = onResponse
  }

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done()
    this.#onResponse(this)
  }

  // A response that is written in several pieces arrives as a whole.
  override _writev(_chunks: unknown, done: () => void): void {
    done()
    this.#onResponse(this)
  }

  // The HTTP server calls these methods of a socket.
  setTimeout(): this {
    return this
  }
  setNoDelay(): void {}
  setKeepAlive(): void {}
}

interface Client {
  /** Sends requests one after the other on each connection. Resolves to the CPU time of one request in microseconds. */
  readonly send: (path: string, requests: number) => Promise<number>
}

function createClient(connect: (connection: MemoryConnection) => void): Client {
  let request = Buffer.alloc(0)
  let left = 0
  let busy = 0
  let onEnd: (() => void) | null = null
  const next = (connection: MemoryConnection): void => {
    if (left > 0) {
      left -= 1
      setImmediate(() => connection.push(request))
      return
    }
    busy -= 1
    if (busy === 0) onEnd?.()
  }
  const connections = Array.from({ length: CONNECTIONS }, () => new MemoryConnection(next))
  connections.forEach(connect)
  return {
    send: async (path, requests) => {
      request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`)
      left = requests
      busy = CONNECTIONS
      const before = process.cpuUsage()
      await new Promise<void>((resolve) => {
        onEnd = resolve
        connections.forEach(next)
      })
      const { user, system } = process.cpuUsage(before)
      return (user + system) / requests
    },
  }
}

async function measure(config: string, log: string, count: number): Promise<InMemoryResult> {
  const destination = openDestination({ to: openSync(log, 'w') })
  const runtime = await build({
    config: loadConfig(config),
    log: createLogger({ level: 'info', destination }),
    version: 'bench',
  })
  await runtime.start()
  const { app, handle } = buildGateway(runtime.gateway)
  await app.ready()
  const framework: RequestListener = (request, response) => app.routing(request, response)
  let current = handle
  const server = createServer((request, response) => current(request, response))
  const client = createClient((connection) => server.emit('connection', connection))
  const first: InMemoryResult['first'][number][] = []
  let total = 0
  for (const requests of FIRST) {
    const cpuMicros = await client.send(READ, requests)
    first.push({ from: total + 1, to: total + requests, cpuMicros })
    total += requests
  }
  const rounds: InMemoryResult['rounds'][number][] = []
  for (let round = -WARM_UP_ROUNDS; round < count; round += 1) {
    current = framework
    const slow = await client.send(CACHED, REQUESTS)
    current = handle
    const fast = await client.send(CACHED, REQUESTS)
    if (round >= 0) rounds.push({ framework: slow, fast })
  }
  return { first, rounds }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      config: { type: 'string', default: '' },
      log: { type: 'string', default: '' },
      rounds: { type: 'string', default: '21' },
    },
  })
  const result = await measure(values.config, values.log, Number(values.rounds))
  // The connections keep the process alive.
  process.stdout.write(JSON.stringify(result), () => process.exit())
}
