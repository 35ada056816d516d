import { chmodSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { load, type Ask, type Measured } from './load/wrk.ts'
import { writeNginxConf } from './servers/nginx.ts'
import { CORES, freePorts, has, pinned, startServer, type Server } from './servers/processes.ts'
import { ratioLine, valueLine } from './report/report.ts'
import { AUTHORIZATION, QUERY_BODY, START_BODY, USER } from './scenario.ts'

// Measures in rounds of one second. The rounds of the servers alternate, so that other load on the machine affects all of them. Ratios
// are taken within a round. Each server is started several times, because two processes of one build may differ by a third as long as
// they run.

const NODE = process.execPath
/** The start commands of the gateway set this flag, too. */
const NO_PRETENURING = '--no-allocation-site-pretenuring'
/** The compiler is at work during this time. A request in the first seconds costs twice as much as a later one. */
const WARM_UP_SECONDS = 8

interface Contender {
  readonly name: string
  readonly server: Server
  readonly port: number
}

interface Scenario {
  readonly title: string
  readonly path: string
  readonly body?: string
  /** The first one is the gateway. It is compared with the others. */
  readonly contenders: readonly Contender[]
}

interface Plan {
  readonly directory: string
  readonly rounds: number
  readonly seconds: number
  /** Only scenarios whose title contains this text are measured. */
  readonly only: string | undefined
  /** Another checkout of the gateway, which is measured in the same rounds. */
  readonly before: string | undefined
}

/** The rounds of each contender, by the title of the scenario. */
type Results = Map<string, { readonly name: string; readonly measured: Measured[] }[]>

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      starts: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '1' },
      only: { type: 'string' },
      before: { type: 'string' },
    },
  })
  const missing = ['wrk', 'nginx'].filter((command) => !has(command))
  if (missing.length > 0) {
    process.stdout.write(`Not measured: ${missing.join(' and ')} is not installed.\n`)
    return
  }
  const directory = mkdtempSync(join(tmpdir(), 'engine-gateway-bench-'))
  chmodSync(directory, 0o755) // if nginx's master runs as root, its worker runs as another user
  const { rounds, seconds, only, before } = values
  const plan = { directory, rounds: Number(rounds), seconds: Number(seconds), only, before }
  const results: Results = new Map()
  try {
    for (let start = 0; start < Number(values.starts); start += 1) await measureAll(plan, results)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  for (const [title, contenders] of results) report(title, contenders)
}

/** Starts new servers and measures all scenarios. */
async function measureAll(plan: Plan, results: Results): Promise<void> {
  const running: Server[] = []
  try {
    for (const scenario of await startAll(plan, running))
      if (plan.only === undefined || scenario.title.includes(plan.only))
        await measure(scenario, plan, results)
  } finally {
    for (const server of running.toReversed()) await server.stop()
  }
}

async function startAll({ directory, before }: Plan, running: Server[]): Promise<readonly Scenario[]> {
  const [stubPort = 0, proxyPort = 0, loggingPort = 0, silentPort = 0, leastPort = 0] = await freePorts(5)
  const upstream = `http://127.0.0.1:${stubPort}`
  const start = async (core: number, options: Parameters<typeof startServer>[0]): Promise<Server> => {
    const server = await startServer({ ...options, command: pinned(core, options.command) })
    running.push(server)
    return server
  }
  const conf = writeNginxConf({ directory, stubPort, loggingPort, silentPort, user: USER, password: USER })
  await start(CORES.load, {
    command: [NODE, fileOf('servers/stub.ts'), '--port', `${stubPort}`],
    port: stubPort,
  })
  const startGateway = async (name: string, checkout: string): Promise<Contender> => {
    const [port = 0, adminPort = 0] = await freePorts(2)
    const mainFile = join(checkout, 'src', 'main.ts')
    const server = await start(CORES.server, {
      command: [
        NODE,
        NO_PRETENURING,
        ...profileFlags(),
        mainFile,
        '--config',
        fileOf('servers/gateway.yaml'),
      ],
      port,
      env: {
        BENCH_GATEWAY_PORT: `${port}`,
        BENCH_ADMIN_PORT: `${adminPort}`,
        BENCH_STUB_PORT: `${stubPort}`,
      },
      output: openSync(join(directory, `${name}-access.log`), 'w'),
    })
    return { name, server, port }
  }
  const ours = await startGateway('engine-gateway', fileOf('..'))
  const earlier = before === undefined ? [] : [await startGateway('before', before)]
  const proxy = await start(CORES.server, {
    command: [NODE, fileOf('servers/http-proxy.ts'), '--port', `${proxyPort}`, '--upstream', upstream],
    port: proxyPort,
  })
  const least = await start(CORES.server, {
    command: [NODE, fileOf('servers/one-dispatch.ts'), '--port', `${leastPort}`, '--upstream', upstream],
    port: leastPort,
  })
  const nginx = await start(CORES.server, { command: ['nginx', '-c', conf], port: silentPort })
  const bare = { name: '@fastify/http-proxy', server: proxy, port: proxyPort }
  const dispatch = { name: 'Fastify, one dispatch', server: least, port: leastPort }
  return [
    {
      title: 'read: GET /process-definition/key/{key}',
      path: '/engine-rest/process-definition/key/invoice',
      contenders: [ours, ...earlier, bare],
    },
    {
      title: 'write: POST /process-definition/key/{key}/start',
      path: '/engine-rest/process-definition/key/invoice/start',
      body: START_BODY,
      contenders: [ours, ...earlier, bare],
    },
    {
      title: 'query: POST /task',
      path: '/engine-rest/task',
      body: QUERY_BODY,
      contenders: [ours, ...earlier, dispatch],
    },
    {
      title: 'list: GET /process-definition, restricted to one key',
      path: '/engine-rest/process-definition?latestVersion=true',
      contenders: [ours, ...earlier, dispatch],
    },
    {
      title: 'cached: GET /decision-definition/key/{key}/diagram',
      path: '/engine-rest/decision-definition/key/dish/diagram',
      contenders: [
        ours,
        ...earlier,
        { name: 'nginx, access log', server: nginx, port: loggingPort },
        { name: 'nginx, no log', server: nginx, port: silentPort },
      ],
    },
  ]
}

/** Returns Node.js flags. With `BENCH_PROFILE=dir`, the gateway writes a CPU profile to this directory when it ends. */
function profileFlags(): readonly string[] {
  const directory = process.env['BENCH_PROFILE']
  return directory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${directory}`]
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

async function measure(
  { title, path, body, contenders }: Scenario,
  plan: Plan,
  results: Results,
): Promise<void> {
  const askOf = ({ port }: Contender): Ask => ({
    url: `http://127.0.0.1:${port}${path}`,
    authorization: AUTHORIZATION,
    ...(body === undefined ? {} : { body }),
  })
  const former = results.get(title) ?? contenders.map(({ name }) => ({ name, measured: [] }))
  results.set(title, former)
  // The first server of a fixed order was 7 % slower than the second, with the same code. The order changes with each start and round.
  const start = (former[0]?.measured.length ?? 0) / plan.rounds
  const orderOf = (turn: number) =>
    turn % 2 === 0 ? [...contenders.entries()] : [...contenders.entries()].toReversed()
  for (const [, contender] of orderOf(start))
    await load(askOf(contender), contender.server, { ...plan, seconds: WARM_UP_SECONDS })
  for (let round = 0; round < plan.rounds; round += 1)
    for (const [index, contender] of orderOf(start + round))
      former[index]?.measured.push(await load(askOf(contender), contender.server, plan))
}

function report(title: string, [ours, ...others]: NonNullable<ReturnType<Results['get']>>): void {
  process.stdout.write(`${title}\n`)
  if (ours === undefined) return
  process.stdout.write(valueLine(ours.name, ours.measured))
  for (const { name, measured } of others)
    process.stdout.write(valueLine(name, measured) + ratioLine(ours.measured, measured))
}

await main()
