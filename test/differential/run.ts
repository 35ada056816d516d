import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { Operation } from '../../src/operations/table.ts'
import { type Engine, startEngine } from '../engine/engine.ts'
import { createAdmin } from './admin.ts'
import { createClient } from './http.ts'
import { nameWorld } from './naming.ts'
import { Names, type Side, SIDES } from './names.ts'
import { type Options, readOptions } from './options.ts'
import { runPhase, type Stage } from './phase.ts'
import { mirrorRecords } from './records.ts'
import { Report } from './report.ts'
import { globalRecords, isOfNineteen, setOf } from './sets.ts'
import { buildWorld } from './world.ts'

/** Callers at once. Records for everybody stand in every fourth phase. */
const SETS_IN_PHASE = 40
const PHASES_WITH_GLOBAL = 4
const OVERALL = 0.99

/** A bare engine knows no caller, and writes its operation log only if it need not know one. */
const LOGGED =
  '--camunda.bpm.generic-properties.properties.restrict-user-operation-log-to-authenticated-users=false'

/** H2 reuses the results of inner queries, and now and then another caller's with them: a secured engine then counts too much. */
const DATABASE = 'jdbc:h2:mem:default;DB_CLOSE_DELAY=-1;OPTIMIZE_REUSE_RESULTS=0'

/**
 * The differential run: a secured engine beside the gateway and a bare one, the same world in both, generated callers and
 * records; every answer is compared.
 */
async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  const { family } = options
  const extra = [family === 'operaton' ? LOGGED.replace('camunda.bpm', 'operaton.bpm') : LOGGED]
  const [secured, bare] = await Promise.all([
    startEngine({ family, secured: true, args: extra, db: DATABASE }),
    startEngine({ family, args: extra, db: DATABASE }),
  ])
  try {
    return await compare(options, { secured, bare })
  } finally {
    await Promise.all([secured.stop(), bare.stop()])
  }
}

/** Whose members are let in everywhere. */
const ADMIN_GROUPS = { camunda: 'camunda-admin', operaton: 'operaton-admin' } as const

async function compare(options: Options, engines: Readonly<Record<Side, Engine>>): Promise<number> {
  const adminGroup = ADMIN_GROUPS[options.family]
  const names = new Names()
  const clients = { secured: createClient(engines.secured.base), bare: createClient(engines.bare.base) }
  const admins = { secured: createAdmin(clients.secured), bare: createAdmin(clients.bare) }
  await Promise.all(
    SIDES.map(async (side) => {
      for (const id of ['demo', adminGroup]) names.define(side, `admin.${id}`, id)
      await buildWorld(admins[side], (name, id) => names.define(side, name, id))
      await nameWorld(admins[side], names, side)
    }),
  )
  describeIdentities(names)
  await mirrorRecords(admins, names)
  const report = new Report()
  const { implied } = options
  await runPhases(options, {
    admins,
    names,
    report,
    implied,
    adminGroup,
    secured: clients.secured,
    bareBase: engines.bare.base,
  })
  await Promise.all([clients.secured.close(), clients.bare.close()])
  return conclude(report, options)
}

function describeIdentities(names: Names): void {
  const resources = {
    user: ['USER'],
    group: ['GROUP', 'GROUP_MEMBERSHIP'],
    tenant: ['TENANT', 'TENANT_MEMBERSHIP'],
  }
  const keys = {
    pdkey: ['PROCESS_DEFINITION'],
    ddkey: ['DECISION_DEFINITION'],
    drdkey: ['DECISION_REQUIREMENTS_DEFINITION'],
  }
  for (const [kind, some] of Object.entries({ ...resources, ...keys }))
    for (const name of names.ofKind(kind))
      names.describe(name, Object.fromEntries(some.map((resource) => [resource, `<${name}>`])))
}

async function runPhases(options: Options, stage: Stage): Promise<void> {
  const { seed, sets, minutes, set } = options
  const published = OPERATIONS.filter(({ only }) => only === undefined)
  const operations = published.filter((operation) => isAsked(operation, options))
  const choice = { names: stage.names, seed, operations: published, adminGroup: stage.adminGroup }
  const deadline = performance.now() + minutes * 60_000
  for (let phase = 0; phase * SETS_IN_PHASE < sets && performance.now() < deadline; phase += 1) {
    const first = phase * SETS_IN_PHASE
    if (set !== null && (set < first || set >= first + SETS_IN_PHASE)) continue
    const indexes = Array.from({ length: Math.min(SETS_IN_PHASE, sets - first) }, (_, at) => first + at)
    const chosen = indexes
      .filter((index) => set === null || index === set)
      .map((index) => setOf(index, choice))
    const asked = chosen.map((one) => ({
      ...one,
      plans: one.plans.filter(({ operation }) => operations.includes(operation)),
    }))
    const hasGlobal = phase % PHASES_WITH_GLOBAL === PHASES_WITH_GLOBAL - 1
    await runPhase(stage, asked, hasGlobal ? globalRecords(phase, choice) : [])
    const { total, equal } = stage.report.totals()
    process.stderr.write(`phase ${phase + 1}: ${total} comparisons, ${equal} equal\n`)
  }
}

function isAsked(operation: Operation, { only, nineteen }: Options): boolean {
  if (nineteen) return isOfNineteen(operation)
  return only.length === 0 || only.includes(operation.id)
}

async function conclude(report: Report, { seed, examples, atLeast }: Options): Promise<number> {
  const file = join(tmpdir(), `engine-gateway-differential-${seed}.json`)
  await report.write(file)
  process.stdout.write(`${report.lines(seed, examples).join('\n')}\n`)
  process.stdout.write(`details: ${file}\n`)
  const { total, equal, nineteenDiffer, wider } = report.totals()
  if (wider > 0) process.stdout.write(`WIDER than the engine: ${wider}; none may be\n`)
  return total >= atLeast && !nineteenDiffer && equal >= OVERALL * total && wider === 0 ? 0 : 1
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error)
    process.exit(2)
  },
)
