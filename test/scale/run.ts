import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAdmin } from '../differential/admin.ts'
import { createClient } from '../differential/http.ts'
import { startEngine } from '../engine/engine.ts'
import { callersOf } from './callers.ts'
import { type Compared, compareRows, makeCaller, type Pair } from './compare.ts'
import { buildScaleWorld } from './world.ts'

const USAGE = `Usage: npm run test:scale -- [options]
  --instances N   process instances; default 100000
  --heap SIZE     of the engine that has the database; default 3g
`
/** Pairs of an operation and a caller that must be equal. */
const EQUAL = 0.95
const MEMORY = 300e6

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
    const began = performance.now()
    const world = await buildScaleWorld(createAdmin(atBare), count)
    process.stderr.write(`${count} instances in ${Math.round((performance.now() - began) / 1000)} s\n`)
    const callers = callersOf(world)
    for (const caller of callers) await makeCaller(createAdmin(atSecured), caller)
    return conclude(await compareRows(atSecured, bare.base, callers))
  } finally {
    await Promise.all(clients.map((client) => client.close()))
    await bare.stop()
    await secured.stop()
    await rm(folder, { recursive: true })
  }
}

function conclude({ pairs, peakBytes }: Compared): number {
  const paths = [...new Set(pairs.map(({ path }) => path))]
  for (const path of paths) {
    const own = pairs.filter((pair) => pair.path === path)
    const others = own.filter(({ outcome }) => outcome !== 'equal')
    const said = others.map(({ user, outcome }) => `${user} ${outcome}`).join(', ')
    const costs = own.map(costOf).toSorted((one, other) => one - other)
    const dearest = own.find((pair) => costOf(pair) === costs.at(-1))
    process.stdout.write(
      `${path}: ${own.length - others.length} of ${own.length} equal${said === '' ? '' : ` (${said})`}; cost ${medianOf(costs)}, at most ${(costs.at(-1) ?? 0).toFixed(2)} (${dearest?.user}: ${dearest?.gatewayMs.toFixed(0)} ms)\n`,
    )
  }
  const equal = pairs.filter(({ outcome }) => outcome === 'equal')
  const [refused, differs, wider] = (['refused', 'differs', 'wider'] as const).map(
    (outcome) => pairs.filter((pair) => pair.outcome === outcome).length,
  )
  const costs = equal.map(costOf).toSorted((one, other) => one - other)
  process.stdout.write(
    `pairs: ${pairs.length}, equal: ${equal.length} (${((100 * equal.length) / pairs.length).toFixed(1)} %), refused: ${refused}, different: ${differs}, wider: ${wider}; median cost ${medianOf(costs)}, at most ${(costs.at(-1) ?? 0).toFixed(2)}; gateway's memory at most ${Math.round(peakBytes / 1e6)} MB\n`,
  )
  return wider === 0 && peakBytes <= MEMORY && equal.length >= EQUAL * pairs.length ? 0 : 1
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
