import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { OPERATIONS } from '../../src/operations/all.ts'
import { type Admin, createAdmin, isJson, rowsOf } from '../differential/admin.ts'
import { openGateway } from '../differential/gateway.ts'
import { basicOf, type Client, createClient, jsonOf } from '../differential/http.ts'
import { PASSWORD } from '../differential/sets.ts'
import { startEngine } from '../engine/engine.ts'
import { callersOf, type ScaleCaller } from './callers.ts'
import { buildScaleWorld } from './world.ts'

const USAGE = `Usage: npm run test:scale -- [options]
  --instances N   process instances; default 100000
  --heap SIZE     of the engine that has the database; default 3g
`
const PAGE = 50
/** Pairs of an operation and a caller that must be equal. */
const EQUAL = 0.95

/** A secured and a bare engine on one database, so that their answers have the same ids. */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { instances: { type: 'string', default: '100000' }, heap: { type: 'string', default: '3g' } },
  })
  const count = Number(values.instances)
  if (!Number.isSafeInteger(count) || count < 1) throw new Error(USAGE)
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-scale-'))
  // H2 answers a repeated query from memory otherwise, and times mean nothing.
  const options = `AUTO_SERVER=TRUE;AUTO_SERVER_PORT=${randomInt(20_000, 60_000)};OPTIMIZE_REUSE_RESULTS=0`
  const db = `jdbc:h2:file:${join(folder, 'engine')};${options}`
  const secured = await startEngine({ secured: true, db, jvm: [`-Xmx${values.heap}`] })
  const bare = await startEngine({ db, jvm: ['-Xmx1g'] })
  const clients = [secured, bare].map(({ base }) => createClient(base))
  try {
    const [atSecured, atBare] = clients
    if (atSecured === undefined || atBare === undefined) throw new Error('no engine')
    return await compare({ secured: atSecured, bareBase: bare.base, bare: createAdmin(atBare) }, count)
  } finally {
    await Promise.all(clients.map((client) => client.close()))
    await bare.stop()
    await secured.stop()
    await rm(folder, { recursive: true })
  }
}

interface Engines {
  readonly secured: Client
  readonly bareBase: string
  readonly bare: Admin
}

async function compare({ secured, bareBase, bare }: Engines, count: number): Promise<number> {
  const began = performance.now()
  const world = await buildScaleWorld(bare, count)
  process.stderr.write(`${count} instances in ${Math.round((performance.now() - began) / 1000)} s\n`)
  const callers = callersOf(world)
  const admin = createAdmin(secured)
  for (const caller of callers) await makeCaller(admin, caller)
  const records = rowsOf(await admin.call('GET', '/authorization'))
  const nothing = { ownGroups: [], joins: [], links: [], records: [], plans: [] }
  const sets = callers.map(({ user, tenants }, index) => {
    return { ...nothing, index, user, tenants, group: '', password: PASSWORD }
  })
  const gateway = await openGateway(bareBase, { sets, records, implied: false, adminGroup: 'camunda-admin' })
  const client = createClient(gateway.base)
  try {
    const pairs: Pair[] = []
    for (const path of PATHS)
      for (const caller of callers) pairs.push(await pairOf({ secured, gateway: client }, { path, caller }))
    return conclude(pairs)
  } finally {
    await client.close()
    await gateway.close()
  }
}

async function makeCaller({ call, attempt }: Admin, { user, tenants, records }: ScaleCaller): Promise<void> {
  const profile = { id: user, firstName: 'Test', lastName: user, email: 'test@test.example' }
  await call('POST', '/user/create', { profile, credentials: { password: PASSWORD } })
  for (const tenant of tenants) await call('PUT', `/tenant/${tenant}/user-members/${user}`)
  // A secured engine writes some by itself.
  for (const record of records) await attempt('POST', '/authorization/create', record)
}

/** Lists and counts that are asked for by plans, and those of tasks and variables. */
const PATHS = OPERATIONS.filter(
  ({ method, rows, template }) =>
    method === 'GET' &&
    (rows?.query !== undefined || /^\/(?:task|variable-instance)(?:\/count)?$/.test(template)) &&
    !/^\/(?:user|group|decision)|decision-/.test(template),
).map(({ template }) => template)

interface Pair {
  readonly path: string
  readonly user: string
  readonly outcome: 'equal' | 'refused' | 'differs' | 'wider'
  readonly securedMs: number
  readonly gatewayMs: number
}

interface Sides {
  readonly secured: Client
  readonly gateway: Client
}

async function pairOf(
  sides: Sides,
  { path, caller }: { readonly path: string; readonly caller: ScaleCaller },
): Promise<Pair> {
  const credentials = basicOf(caller.user, PASSWORD)
  const total = path.endsWith('/count') ? 0 : await totalOf(sides.secured, `${path}/count`, credentials)
  const firsts = [0, Math.floor(total / 2), Math.max(0, total - PAGE)]
  const queries = path.endsWith('/count')
    ? [path]
    : firsts.map((first) => `${path}?firstResult=${first}&maxResults=${PAGE}`)
  const pair = { path, user: caller.user, outcome: 'equal' as Pair['outcome'], securedMs: 0, gatewayMs: 0 }
  for (const query of queries) {
    const expected = await timed(sides.secured, query, credentials)
    const answered = await timed(sides.gateway, query, credentials)
    pair.securedMs += expected.ms
    pair.gatewayMs += answered.ms
    if (pair.outcome === 'equal') pair.outcome = outcomeOf(expected, answered)
  }
  return pair
}

async function totalOf({ send }: Client, path: string, credentials: string): Promise<number> {
  const counted = jsonOf(await send({ method: 'GET', path }, credentials))
  return isJson(counted) ? Number(counted['count']) : 0
}

interface Timed {
  readonly status: number
  readonly value: unknown
  readonly ms: number
}

async function timed({ send }: Client, path: string, credentials: string): Promise<Timed> {
  const began = performance.now()
  const answer = await send({ method: 'GET', path }, credentials)
  return { status: answer.status, value: jsonOf(answer), ms: performance.now() - began }
}

function outcomeOf(expected: Timed, answered: Timed): Pair['outcome'] {
  if (answered.status === 403) return 'refused'
  if (isDeepStrictEqual([expected.status, expected.value], [answered.status, answered.value])) return 'equal'
  return sizeOf(answered.value) > sizeOf(expected.value) || hasOther(expected.value, answered.value)
    ? 'wider'
    : 'differs'
}

function sizeOf(value: unknown): number {
  return Array.isArray(value) ? value.length : isJson(value) ? Number(value['count']) : 0
}

/** A row that is not on the engine's page: it may stand on another, which only a look at the whole list tells. */
function hasOther(expected: unknown, answered: unknown): boolean {
  return rowsOf(answered).some((row) => !rowsOf(expected).some((other) => isDeepStrictEqual(row, other)))
}

function conclude(pairs: readonly Pair[]): number {
  const paths = [...new Set(pairs.map(({ path }) => path))]
  for (const path of paths) {
    const own = pairs.filter((pair) => pair.path === path)
    const others = own.filter(({ outcome }) => outcome !== 'equal')
    const said = others.map(({ user, outcome }) => `${user} ${outcome}`).join(', ')
    const costs = own.map(costOf).toSorted((one, other) => one - other)
    process.stdout.write(
      `${path}: ${own.length - others.length} of ${own.length} equal${said === '' ? '' : ` (${said})`}; cost ${medianOf(costs)}, at most ${(costs.at(-1) ?? 0).toFixed(2)}\n`,
    )
  }
  const equal = pairs.filter(({ outcome }) => outcome === 'equal')
  const wider = pairs.filter(({ outcome }) => outcome === 'wider').length
  const costs = equal.map(costOf).toSorted((one, other) => one - other)
  const memory = Math.round(process.memoryUsage.rss() / 1024 ** 2)
  process.stdout.write(
    `pairs: ${pairs.length}, equal: ${equal.length} (${((100 * equal.length) / pairs.length).toFixed(1)} %), wider: ${wider}; median cost ${medianOf(costs)}, at most ${(costs.at(-1) ?? 0).toFixed(2)}; memory of gateway and run ${memory} MB\n`,
  )
  return wider === 0 && equal.length >= EQUAL * pairs.length ? 0 : 1
}

/** How many times the secured engine's time. */
function costOf({ securedMs, gatewayMs }: Pair): number {
  return gatewayMs / securedMs
}

function medianOf(sorted: readonly number[]): string {
  return (sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(2)
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error)
    process.exit(2)
  },
)
