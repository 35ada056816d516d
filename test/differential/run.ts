import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Operation } from '../../src/operations/table.ts'
import { type Family, releaseOf } from '../engine/build.ts'
import type { Engine } from '../engine/engine.ts'
import { creatorSets, directorySets } from './directory-sets.ts'
import { operationsOf } from './engine-settings.ts'
import type { Side } from './names.ts'
import { type Options, readOptions } from './options.ts'
import { runPhase, type Stage } from './phase.ts'
import { Report } from './report.ts'
import { runRevocations } from './revocations.ts'
import { type CallerSet, globalRecords, isOfNineteen, setOf } from './sets.ts'
import { buildWorlds, startPair } from './worlds.ts'

/**
 * The number of callers in a phase. The last ten of them have subjects of their own: five with users whom the bare engine does not know as
 * the gateway does, and five who create filters and deployments. Every fourth phase also has records for all users.
 */
const SETS_IN_PHASE = 40
const FIRST_OF_DIRECTORY = 30
const FIRST_OF_CREATORS = 35
const PHASES_WITH_GLOBAL = 4

/**
 * Runs the differential comparison of a secured engine with a gateway in front of a bare engine. Both engines have the same world.
 * Callers and records are generated. Every response is compared.
 */
async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  const engines = await startPair(options)
  try {
    return await compare(options, engines)
  } finally {
    await Promise.all([engines.secured.stop(), engines.bare.stop()])
  }
}

/** The groups whose members have all permissions. */
const ADMIN_GROUPS: Readonly<Record<Family, string>> = {
  camunda: 'camunda-admin',
  'camunda-7.24.0': 'camunda-admin',
  operaton: 'operaton-admin',
}

async function compare(options: Options, engines: Readonly<Record<Side, Engine>>): Promise<number> {
  const adminGroup = ADMIN_GROUPS[options.family]
  const { names, clients, admins } = await buildWorlds(
    { secured: engines.secured.base, bare: engines.bare.base },
    adminGroup,
  )
  const report = new Report()
  const { implied, scannedItems, pageSize, engineSettings } = options
  const stage = {
    admins,
    names,
    report,
    implied,
    engineSettings,
    adminGroup,
    release: releaseOf(options.family),
    scannedItems,
    pageSize,
    secured: clients.secured,
    bareBase: engines.bare.base,
  }
  await runPhases(options, stage)
  await runWaiting(options, stage, engines.secured.base)
  await Promise.all([clients.secured.close(), clients.bare.close()])
  return conclude(report, options)
}

async function runPhases(options: Options, stage: Stage & { readonly report: Report }): Promise<void> {
  const { seed, sets, minutes, set, engineSettings } = options
  const published = operationsOf(engineSettings).filter(({ only }) => only === undefined)
  const operations = published.filter((operation) => isAsked(operation, options))
  const choice = { names: stage.names, seed, operations: published, adminGroup: stage.adminGroup }
  const deadline = performance.now() + minutes * 60_000
  for (let phase = 0; phase * SETS_IN_PHASE < sets && performance.now() < deadline; phase += 1) {
    const first = phase * SETS_IN_PHASE
    if (set !== null && (set < first || set >= first + SETS_IN_PHASE)) continue
    const indexes = Array.from({ length: Math.min(SETS_IN_PHASE, sets - first) }, (_, at) => first + at)
    const part = (from: number, to: number) =>
      indexes.filter((index) => index - first >= from && index - first < to)
    const asked = (all: readonly CallerSet[]): readonly CallerSet[] =>
      all
        .filter(({ index }) => set === null || index === set)
        .map((one) => ({
          ...one,
          plans: one.plans.filter(({ operation }) => operations.includes(operation)),
        }))
    const hasGlobal = phase % PHASES_WITH_GLOBAL === PHASES_WITH_GLOBAL - 1
    const plain = part(0, FIRST_OF_DIRECTORY).map((index) => setOf(index, choice))
    await runPhase(stage, asked(plain), hasGlobal ? globalRecords(phase, choice) : [])
    const directory = asked(directorySets(part(FIRST_OF_DIRECTORY, FIRST_OF_CREATORS), choice))
    await runPhase({ ...stage, implied: true }, directory, [])
    const creators = asked(creatorSets(part(FIRST_OF_CREATORS, SETS_IN_PHASE), choice))
    await runPhase({ ...stage, implied: false, source: 'engine' }, creators, [])
    const { total, equal } = stage.report.totals()
    process.stderr.write(`phase ${phase + 1}: ${total} comparisons, ${equal} equal\n`)
  }
}

/** Compares polls whose permission changes while they wait, unless the options choose other operations or one set. */
async function runWaiting(options: Options, stage: Stage, securedBase: string): Promise<void> {
  const { seed, set, engineSettings } = options
  const operations = operationsOf(engineSettings)
  const isChosen = operations.some((one) => one.id === 'fetchAndLock' && isAsked(one, options))
  if (set === null && isChosen) await runRevocations(stage, { seed, securedBase, operations })
}

function isAsked(operation: Operation, { only, nineteen }: Options): boolean {
  if (nineteen) return isOfNineteen(operation)
  return only.length === 0 || only.includes(operation.id)
}

async function conclude(report: Report, options: Options): Promise<number> {
  const { seed, examples, keep } = options
  const file = join(tmpdir(), `engine-gateway-differential-${seed}.json`)
  await report.write(file)
  if (keep !== null) await writeFile(keep, JSON.stringify(report.unequal()))
  process.stdout.write(`${report.lines(seed, examples).join('\n')}\n`)
  process.stdout.write(`details: ${file}\n`)
  const failures = [...failuresOf(report.totals(), options), ...(await newSince(report, options))]
  if (failures.length === 0) return 0
  const most = report.mostFrequent().map((line) => `most frequent: ${line}`)
  process.stdout.write(`${[...failures, ...most].map((line) => `FAILED: ${line}`).join('\n')}\n`)
  return 1
}

/** Returns why the totals of a run are a failure. */
function failuresOf(
  { total, equal, wider, revokedDiffer, ...nineteen }: ReturnType<Report['totals']>,
  { atLeast, percent, scannedItems }: Options,
): readonly string[] {
  // With a low limit, tasks of a caller whose records permit all tasks except some are refused, because they can only be filtered.
  const nineteenDiffer =
    scannedItems === null ? nineteen.nineteenDiffer : nineteen.nineteenDifferBesideRevoked
  const conditions: readonly (readonly [failed: boolean, text: string])[] = [
    [total < atLeast, `${total} comparisons, but at least ${atLeast} are required`],
    [equal < (percent / 100) * total, `${equal} of ${total} are equal, but ${percent} % are required`],
    [wider > 0, `${wider} responses show more than the engine's`],
    [revokedDiffer > 0, `${revokedDiffer} responses of callers with a revocation are not equal`],
    [nineteenDiffer, 'responses of the nineteen operations are not equal'],
  ]
  return conditions.flatMap(([failed, text]) => (failed ? [text] : []))
}

async function newSince(report: Report, { against }: Options): Promise<readonly string[]> {
  return against === null ? [] : report.newSince(JSON.parse(await readFile(against, 'utf8')))
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error)
    process.exit(2)
  },
)
