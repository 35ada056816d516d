import type { Test } from 'tap'
import type { ComparisonReport } from '../../src/proxy/compare/comparison-report.ts'
import { isComparisonReports } from '../../src/server/comparison-reports.ts'
import type { Family } from './build.ts'
import { type Database, startDatabase } from './database.ts'
import { type Engine, startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'

export interface TwoFamilies {
  /** The group `old`. */
  readonly old: Engine
  /** The group `new`. */
  readonly next: Engine
  readonly gateway: GatewayProcess
  /** Restarts the engine of a group on the same port, with or without its job executor. */
  readonly restart: (group: Group, setting: { readonly jobs: boolean }) => Promise<void>
}

/** The name of a group of nodes, and of the host that the history of its jobs shows. */
export type Group = 'old' | 'new'

interface TwoFamiliesOptions {
  /** The engines of `old` and `new`. Default: Camunda 7.24.0 and Operaton. */
  readonly families?: readonly [Family, Family]
  /** Further members of the engine, as YAML. */
  readonly engine: string
  /** Further members of the configuration, as YAML. */
  readonly settings: string
  /** Whether both engines check authorizations. Default: no. */
  readonly secured?: boolean
  /** The members `identity` and `authorization` of the configuration, as YAML. Default: users and records of the demo. */
  readonly access?: string
  /** Returns the base URL at which the gateway reaches an engine. Default: the engine's own. */
  readonly inFront?: (base: string, group: Group) => Promise<string>
  /** Called when the old engine runs, before the new one starts. Default: nothing is done. */
  readonly prepare?: (old: Engine, database: Database) => Promise<void>
  /** The engine that creates the tables of the database. Default: the old one. */
  readonly tablesOf?: Family
  /** Starts the database. Default: H2. */
  readonly startDatabase?: () => Promise<Database>
  /** The group whose job executor is active. Default: none. */
  readonly jobsOf?: Group
}

/** Starts two engines on one database, and a gateway with both as groups. */
export async function startTwoFamilies(
  t: Test,
  {
    families: [oldFamily, newFamily] = ['camunda-7.24.0', 'operaton'],
    engine,
    settings,
    secured = false,
    access,
    inFront = async (base) => base,
    prepare,
    tablesOf,
    startDatabase: openDatabase = startDatabase,
    jobsOf,
  }: TwoFamiliesOptions,
): Promise<TwoFamilies> {
  const database = await openDatabase()
  t.teardown(() => database.stop())
  // The first engine creates the tables.
  if (tablesOf !== undefined) await (await startEngine({ family: tablesOf, db: database.url })).stop()
  const engines = new Map<Group, Engine>()
  t.teardown(() => Promise.all([...engines.values()].map(({ stop }) => stop())))
  const start = async (group: Group, options: { readonly jobs: boolean; readonly port?: number }) => {
    const family = group === 'old' ? oldFamily : newFamily
    const args = jobSettings(family, group)
    const started = await startEngine({
      family,
      db: database.url,
      jvm: ['-Xmx512m'],
      args,
      secured,
      ...options,
    })
    engines.set(group, started)
    return started
  }
  const old = await start('old', { jobs: jobsOf === 'old' })
  await prepare?.(old, database)
  const next = await start('new', { jobs: jobsOf === 'new' })
  const gateway = await startGatewayProcess({
    nodes: [
      { url: await inFront(old.base, 'old'), group: 'old' },
      { url: await inFront(next.base, 'new'), group: 'new' },
    ],
    engine,
    settings,
    ...(access === undefined ? {} : { access }),
  })
  t.teardown(() => gateway.stop())
  const restart: TwoFamilies['restart'] = async (group, { jobs }) => {
    const running = engines.get(group)
    await running?.stop()
    await start(group, { jobs, port: running?.port ?? 0 })
  }
  return { old, next, gateway, restart }
}

/** Makes a job executor look for jobs every half second, also for those that another node has created. By default it waits for up to a minute. */
function jobSettings(family: Family, hostname: Group): readonly string[] {
  const prefix = family === 'operaton' ? 'operaton.bpm' : 'camunda.bpm'
  return [
    `--${prefix}.generic-properties.properties.hostname=${hostname}`,
    `--${prefix}.job-execution.wait-time-in-millis=500`,
    `--${prefix}.job-execution.max-wait=500`,
  ]
}

/** Returns what the gateway has compared since its start. */
export async function reportOf({ adminAddress }: GatewayProcess): Promise<ComparisonReport> {
  const { body } = await exchange(adminAddress, { method: 'GET', path: '/compared' })
  const own = isComparisonReports(body) ? body['default'] : undefined
  if (own === undefined) throw new Error(`This is no report: ${JSON.stringify(body)}`)
  return own
}
