import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from '../src/assembly/build.ts'
import { loadConfig } from '../src/config/config.ts'
import { buildGateway } from '../src/gateway.ts'
import { createLogger, openDestination } from '../src/log.ts'
import { freePorts, startServer } from './servers/processes.ts'
import { median } from './report/report.ts'
import { AUTHORIZATION } from './scenario.ts'

// Measures the CPU time of requests on connections that exist only in memory, so that the cost of the system and of other processes
// is left out. First the cost of the first requests of a process, then cached responses with and without the fast path, in turn.

const CONNECTIONS = 32
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

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '21' }, requests: { type: 'string', default: '10000' } },
  })
  const [stubPort = 0] = await freePorts(1)
  const stub = await startServer({
    command: [process.execPath, fileOf('servers/stub.ts'), '--port', `${stubPort}`],
    port: stubPort,
  })
  const directory = mkdtempSync(join(tmpdir(), 'engine-gateway-bench-'))
  Object.assign(process.env, {
    BENCH_GATEWAY_PORT: '0',
    BENCH_ADMIN_PORT: '0',
    BENCH_STUB_PORT: `${stubPort}`,
  })
  const destination = openDestination({ to: openSync(join(directory, 'access.log'), 'w') })
  const runtime = await build({
    config: loadConfig(fileOf('servers/gateway.yaml')),
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

  let total = 0
  for (const requests of FIRST) {
    const micros = await client.send(READ, requests)
    process.stdout.write(`reads ${total + 1} to ${(total += requests)}: ${micros.toFixed(0)} µs CPU each\n`)
  }
  const rounds: { readonly framework: number; readonly fast: number }[] = []
  for (let round = -3; round < Number(values.rounds); round += 1) {
    current = framework
    const slow = await client.send(CACHED, Number(values.requests))
    current = handle
    const fast = await client.send(CACHED, Number(values.requests))
    if (round >= 0) rounds.push({ framework: slow, fast })
  }
  const ratios = rounds.map((round) => round.framework / round.fast)
  const spread = `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`
  process.stdout.write(
    `a cached response in the framework: ${median(rounds.map((one) => one.framework)).toFixed(1)} µs CPU, ` +
      `on the fast path: ${median(rounds.map(({ fast }) => fast)).toFixed(1)} µs, ratio ${spread}\n`,
  )
  await app.close()
  await runtime.close()
  await stub.stop()
  rmSync(directory, { recursive: true })
  // The connections keep the process alive.
  process.exit()
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

await main()
