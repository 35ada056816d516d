import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import bcrypt from 'bcrypt'
import { type Admin, createAdmin, rowsOf } from '../differential/admin.ts'
import { type Client, createClient } from '../differential/http.ts'
import { PASSWORD } from '../differential/sets.ts'
import { type Engine, startEngine } from '../engine/engine.ts'
import { type GatewayProcess, startGatewayProcess } from '../engine/gateway-process.ts'
import { freePort } from '../support/free-port.ts'
import { callersOf, type ScaleCaller } from './callers.ts'
import { buildScaleWorld, type ScaleWorld } from './world.ts'

/** The timeout of a response. Some reports take an engine minutes. */
const ANSWER_MS = 600_000

export interface ScaleEngines {
  readonly secured: Engine
  readonly bare: Engine
  readonly atSecured: Client
  readonly atBare: Client
  readonly stop: () => Promise<void>
}

/**
 * Starts a secured and a bare engine on one database, so that their responses contain the same ids. A third engine hosts the
 * database and gets no requests. Both compared engines therefore use a connection, and neither has the database in its own memory.
 */
export async function startScaleEngines(folder: string, heap: string): Promise<ScaleEngines> {
  await mkdir(folder, { recursive: true })
  const options = [
    'AUTO_SERVER=TRUE',
    `AUTO_SERVER_PORT=${await freePort()}`,
    // Otherwise, H2 returns the result of a repeated query from memory, and times mean nothing.
    'OPTIMIZE_REUSE_RESULTS=0',
    // In KB. H2's default cache is too small for the data that queries of 100,000 instances read repeatedly. Times would grow with
    // the amount of data that is read again from the file.
    'CACHE_SIZE=800000',
  ].join(';')
  const db = `jdbc:h2:file:${join(folder, 'engine')};${options}`
  const started: Engine[] = []
  const clients: Client[] = []
  const stop = async () => {
    await Promise.all(clients.map((client) => client.close()))
    for (const engine of started.toReversed()) await engine.stop()
  }
  const start = async (own: Parameters<typeof startEngine>[0]) => {
    const engine = await startEngine({ db, ...own })
    started.push(engine)
    return engine
  }
  try {
    await start({ jvm: [`-Xmx${heap}`] })
    const secured = await start({ secured: true, jvm: ['-Xmx1g'] })
    const bare = await start({ jvm: ['-Xmx1g'] })
    const atSecured = createClient(secured.base, ANSWER_MS)
    const atBare = createClient(bare.base, ANSWER_MS)
    clients.push(atSecured, atBare)
    return { secured, bare, atSecured, atBare, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts a gateway in front of the bare engine, with the records of the secured engine. */
export async function openGatewayFor(
  { atSecured, bare }: ScaleEngines,
  callers: readonly ScaleCaller[],
): Promise<GatewayProcess & { readonly client: Client; readonly close: () => Promise<void> }> {
  const records = rowsOf(await createAdmin(atSecured).call('GET', '/authorization'))
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-scale-callers-'))
  const access = await accessIn(folder, callers, records)
  // The comparison includes reports that take an engine a minute.
  const settings = 'timeouts: { headers: 10m, response: 10m }'
  const gateway = await startGatewayProcess({ nodes: [bare.base], asImage: true, access, settings })
  const client = createClient(gateway.base, ANSWER_MS)
  return {
    ...gateway,
    client,
    close: async () => {
      await client.close()
      await gateway.stop()
      await rm(folder, { recursive: true })
    },
  }
}

/** Returns the callers for the data in this folder. Creates the data and the callers if they do not exist. */
export async function callersIn(
  folder: string,
  { atSecured, atBare }: ScaleEngines,
  count: number,
): Promise<readonly ScaleCaller[]> {
  const file = join(folder, 'world.json')
  if (existsSync(file)) {
    const world: ScaleWorld = JSON.parse(await readFile(file, 'utf8'))
    return callersOf(world)
  }
  const world = await buildScaleWorld(createAdmin(atBare), count)
  const callers = callersOf(world)
  for (const caller of callers) await makeCaller(createAdmin(atSecured), caller)
  await writeFile(file, JSON.stringify(world))
  return callers
}

/** Writes the callers and their records to files of the gateway. Returns the settings that refer to these files. */
async function accessIn(
  folder: string,
  callers: readonly ScaleCaller[],
  records: readonly unknown[],
): Promise<string> {
  // A cheap hash, because the cost of password hashes is not measured here.
  const passwordHash = await bcrypt.hash(PASSWORD, 4)
  const users = callers.map(({ user, tenants }) => ({ id: user, passwordHash, groups: [], tenants }))
  await writeFile(join(folder, 'users.json'), JSON.stringify({ users }))
  await writeFile(join(folder, 'records.json'), JSON.stringify(records))
  return `
identity: { source: file, file: ${join(folder, 'users.json')} }
authorization:
  adminGroups: [camunda-admin]
  records: { source: file, file: ${join(folder, 'records.json')} }
  implied: { tasks: false, identity: false }
`
}

/** Creates the user of a caller, its memberships and its records in the secured engine. */
export async function makeCaller(
  { call, attempt }: Admin,
  { user, tenants, records }: ScaleCaller,
): Promise<void> {
  const profile = { id: user, firstName: 'Test', lastName: user, email: 'test@test.example' }
  await call('POST', '/user/create', { profile, credentials: { password: PASSWORD } })
  for (const tenant of tenants) await call('PUT', `/tenant/${tenant}/user-members/${user}`)
  // Some of these records may exist, because a secured engine creates records automatically.
  for (const record of records) await attempt('POST', '/authorization/create', record)
}
