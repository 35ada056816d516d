import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import bcrypt from 'bcrypt'
import { pino } from 'pino'
import { loadConfig } from '../../src/config/config.ts'
import type { HazardRule } from '../../src/operations/hazard-rules.ts'
import type { Release } from '../../src/operations/published/releases.ts'
import { start } from '../support/start.ts'
import type { Json } from './admin.ts'
import { DEFAULT_SETTINGS, type EngineSettings } from './engine-settings.ts'
import type { CallerSet } from './sets.ts'
import { PASSWORD } from './sets.ts'

export interface OpenedGateway {
  readonly base: string
  readonly close: () => Promise<void>
}

/** A hash with a low cost, because the runs do not measure the cost of passwords. */
const HASH = bcrypt.hashSync(PASSWORD, 4)
/** The world's own memberships: a group's tenants are its members' too. */
const TENANTS_OF_GROUPS: Readonly<Record<string, string>> = { staff: 'acme' }

interface Contents {
  readonly sets: readonly CallerSet[]
  readonly records: readonly Json[]
  /** Where the gateway gets users and records; default: from files with `sets` and `records`. */
  readonly source?: 'engine' | 'file'
  /** The records lack those that an engine creates together with users, groups and tasks. */
  readonly implied: boolean
  readonly engineSettings?: EngineSettings
  readonly adminGroup: string
  /** Further settings of the engine, for example `credentials`. Default: the gateway sends no credentials. */
  readonly engine?: Readonly<Record<string, unknown>>
  /** Default: `enforce`. */
  readonly mode?: 'enforce' | 'report' | 'engine'
  /** Null: the default. */
  readonly scannedItems?: number | null
  /** The release of the engine. Default: not configured. */
  readonly release?: Release
  /** Hazards that the gateway accepts. Default: none. */
  readonly allowedHazards?: readonly HazardRule[]
}

/** Users who exist in the engine with these groups, but send no request in the scenarios. */
const OTHERS = Object.entries({ anna: ['editors'], ben: ['readers', 'staff'], carl: [] }).map(
  ([id, groups]) => ({ id, passwordHash: HASH, groups, tenants: id === 'carl' ? [] : ['acme'] }),
)

/** Opens the gateway in front of the bare engine, with these callers and records. */
export async function openGateway(engineBase: string, contents: Contents): Promise<OpenedGateway> {
  const { sets, records, implied, adminGroup, scannedItems, engineSettings = DEFAULT_SETTINGS } = contents
  const { source = 'file', allowedHazards = [] } = contents
  const node = {
    nodes: [engineBase],
    ...contents.engine,
    ...(contents.release !== undefined && { release: contents.release }),
  }
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-differential-'))
  const known = sets.filter(({ directory }) => directory !== 'bare')
  const users = known.map(({ user, ownGroups, joins, tenants }) => ({
    id: user,
    passwordHash: HASH,
    groups: [...ownGroups, ...joins],
    tenants: [...new Set([...tenants, ...joins.flatMap((group) => TENANTS_OF_GROUPS[group] ?? [])])],
  }))
  const others = OTHERS.filter(({ id }) => users.every((user) => user.id !== id))
  const config = {
    version: 1,
    listen: { port: 0 },
    admin: { port: 0 },
    engines: { default: node, second: { ...node, remoteName: 'second' } },
    log: { audit: 'off' },
    validation: { allow: allowedHazards },
    ...(typeof scannedItems === 'number' && { limits: { scannedItems } }),
    identity: source === 'engine' ? { source } : { source, file: 'users.json' },
    authorization: {
      ...(contents.mode !== undefined && { mode: contents.mode }),
      adminGroups: [adminGroup],
      records: source === 'engine' ? { source } : { source, file: 'records.json' },
      implied: {
        tasks: implied,
        identity: implied,
        filters: implied,
        taskPermission: engineSettings.taskPermission,
      },
      specificVariablePermissions: engineSettings.specificVariables,
    },
  }
  await writeFile(join(folder, 'users.json'), JSON.stringify({ users: [...users, ...others] }))
  await writeFile(join(folder, 'records.json'), JSON.stringify(records))
  await writeFile(join(folder, 'gateway.json'), JSON.stringify(config))
  const running = await start(loadConfig(join(folder, 'gateway.json')), pino({ level: 'silent' }))
  return {
    base: `${running.address}/engine-rest`,
    close: async () => {
      await running.drain()
      await rm(folder, { recursive: true })
    },
  }
}
