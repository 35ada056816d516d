import type { Family } from '../engine/build.ts'
import { type Engine, startEngine } from '../engine/engine.ts'
import { type Admin, createAdmin } from './admin.ts'
import { type Client, createClient } from './http.ts'
import { DEFAULT_SETTINGS, type EngineSettings, propertiesOf } from './engine-settings.ts'
import { Names, type Side, SIDES } from './names.ts'
import { nameWorld } from './naming.ts'
import { mirrorRecords } from './records.ts'
import { buildWorld } from './world.ts'

/** A bare engine does not know its callers. It writes its operation log only with this property. */
const LOGGED =
  '--camunda.bpm.generic-properties.properties.restrict-user-operation-log-to-authenticated-users=false'

/** H2 reuses the results of inner queries, sometimes those of another caller. A secured engine then counts too many items. */
const DATABASE = 'jdbc:h2:mem:default;DB_CLOSE_DELAY=-1;OPTIMIZE_REUSE_RESULTS=0'

interface PairOptions {
  readonly family: Family
  /** The settings of the secured engine. */
  readonly engineSettings?: EngineSettings
}

export async function startPair({
  family,
  engineSettings = DEFAULT_SETTINGS,
}: PairOptions): Promise<Readonly<Record<Side, Engine>>> {
  const args = [family === 'operaton' ? LOGGED.replace('camunda.bpm', 'operaton.bpm') : LOGGED]
  const [secured, bare] = await Promise.all([
    startEngine({
      family,
      secured: true,
      args: [...args, ...propertiesOf(engineSettings, family)],
      db: DATABASE,
    }),
    startEngine({ family, args, db: DATABASE }),
  ])
  return { secured, bare }
}

interface Worlds {
  readonly names: Names
  readonly clients: Readonly<Record<Side, Client>>
  readonly admins: Readonly<Record<Side, Admin>>
}

/** Builds the same world at the secured engine and at the bare engine, and names its entities. */
export async function buildWorlds(
  bases: Readonly<Record<Side, string>>,
  adminGroup: string,
): Promise<Worlds> {
  const names = new Names()
  const clients = { secured: createClient(bases.secured), bare: createClient(bases.bare) }
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
  return { names, clients, admins }
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
