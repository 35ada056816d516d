import type { Test } from 'tap'
import { startDatabase } from './database.ts'
import { type Engine, startEngine } from './engine.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'

export interface TwoFamilies {
  /** Camunda 7.24.0: the group `old`. */
  readonly old: Engine
  /** Operaton: the group `new`. */
  readonly next: Engine
  readonly gateway: GatewayProcess
}

/**
 * Starts two engines of different families on one database, and a gateway with both as groups. `engine` and `settings` have further
 * members of the engine and of the configuration, as YAML.
 */
export async function startTwoFamilies(
  t: Test,
  { engine, settings }: { readonly engine: string; readonly settings: string },
): Promise<TwoFamilies> {
  const database = await startDatabase()
  t.teardown(() => database.stop())
  // The first engine creates the tables.
  const old = await startEngine({ family: 'camunda-7.24.0', db: database.url, jvm: ['-Xmx512m'] })
  t.teardown(() => old.stop())
  const next = await startEngine({ family: 'operaton', db: database.url, jvm: ['-Xmx512m'] })
  t.teardown(() => next.stop())
  const gateway = await startGatewayProcess({
    nodes: [
      { url: old.base, group: 'old' },
      { url: next.base, group: 'new' },
    ],
    engine,
    settings,
  })
  t.teardown(() => gateway.stop())
  return { old, next, gateway }
}
