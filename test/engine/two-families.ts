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
}

interface TwoFamiliesOptions {
  /** The engines of `old` and `new`. Default: Camunda 7.24.0 and Operaton. */
  readonly families?: readonly [Family, Family]
  /** Further members of the engine, as YAML. */
  readonly engine: string
  /** Further members of the configuration, as YAML. */
  readonly settings: string
  /** Returns the base URL at which the gateway reaches an engine. Default: the engine's own. */
  readonly inFront?: (base: string, group: 'old' | 'new') => Promise<string>
  /** Called when the old engine runs, before the new one starts. Default: nothing is done. */
  readonly prepare?: (old: Engine, database: Database) => Promise<void>
  /** The engine that creates the tables of the database. Default: the old one. */
  readonly tablesOf?: Family
}

/** Starts two engines on one database, and a gateway with both as groups. */
export async function startTwoFamilies(
  t: Test,
  {
    families: [oldFamily, newFamily] = ['camunda-7.24.0', 'operaton'],
    engine,
    settings,
    inFront = async (base) => base,
    prepare,
    tablesOf,
  }: TwoFamiliesOptions,
): Promise<TwoFamilies> {
  const database = await startDatabase()
  t.teardown(() => database.stop())
  // The first engine creates the tables.
  if (tablesOf !== undefined) await (await startEngine({ family: tablesOf, db: database.url })).stop()
  const old = await startEngine({ family: oldFamily, db: database.url, jvm: ['-Xmx512m'] })
  t.teardown(() => old.stop())
  await prepare?.(old, database)
  const next = await startEngine({ family: newFamily, db: database.url, jvm: ['-Xmx512m'] })
  t.teardown(() => next.stop())
  const gateway = await startGatewayProcess({
    nodes: [
      { url: await inFront(old.base, 'old'), group: 'old' },
      { url: await inFront(next.base, 'new'), group: 'new' },
    ],
    engine,
    settings,
  })
  t.teardown(() => gateway.stop())
  return { old, next, gateway }
}

/** Returns what the gateway has compared since its start. */
export async function reportOf({ adminAddress }: GatewayProcess): Promise<ComparisonReport> {
  const { body } = await exchange(adminAddress, { method: 'GET', path: '/compared' })
  const own = isComparisonReports(body) ? body['default'] : undefined
  if (own === undefined) throw new Error(`This is no report: ${JSON.stringify(body)}`)
  return own
}
