import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAdmin } from '../differential/admin.ts'
import { type Client, createClient } from '../differential/http.ts'
import { type Engine, startEngine } from '../engine/engine.ts'
import { callersOf, type ScaleCaller } from './callers.ts'
import { makeCaller } from './compare.ts'
import { buildScaleWorld, type ScaleWorld } from './world.ts'

export interface ScaleEngines {
  readonly secured: Engine
  readonly bare: Engine
  readonly atSecured: Client
  readonly atBare: Client
  readonly stop: () => Promise<void>
}

/**
 * A secured and a bare engine on one database, so that their answers have the same ids. A third engine has the database, and
 * is not asked: so both reach it over a connection, and neither in its own memory.
 */
export async function startScaleEngines(folder: string, heap: string): Promise<ScaleEngines> {
  await mkdir(folder, { recursive: true })
  // H2 answers a repeated query from memory otherwise, and times mean nothing.
  const options = `AUTO_SERVER=TRUE;AUTO_SERVER_PORT=${randomInt(20_000, 60_000)};OPTIMIZE_REUSE_RESULTS=0`
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
    const [atSecured, atBare] = [createClient(secured.base), createClient(bare.base)]
    clients.push(atSecured, atBare)
    return { secured, bare, atSecured, atBare, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The callers of the data in this folder, both made when they are not there. */
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
