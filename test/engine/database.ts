import { execFile } from 'node:child_process'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { buildEngine, type Family } from './build.ts'
import { freePort } from '../support/free-port.ts'
import { startChild } from './child.ts'

export interface Database {
  /** Database URL for `startEngine`. All nodes with this URL use the same data. */
  readonly url: string
  /** Runs a script that the libraries of an engine contain, as an administrator does before an upgrade. */
  runScript(family: Family, resource: string): Promise<void>
  stop(): Promise<void>
}

/** Starts the H2 of the engine's libraries as a server, in memory. It outlives the nodes, whichever of them exits. */
export async function startDatabase(): Promise<Database> {
  const { jar } = await buildEngine('camunda')
  const server = await startChild({
    command: 'java',
    args: [
      '-cp',
      join(dirname(jar), 'lib', '*'),
      '-Dh2.bindAddress=127.0.0.1',
      'org.h2.tools.Server',
      '-tcp',
      '-tcpPort',
      '0',
      '-ifNotExists',
    ],
    ready: /TCP server running at tcp:\/\/[^:]+:(\d+)/,
    withinMs: 30_000,
  })
  return databaseAt(`jdbc:h2:tcp://127.0.0.1:${server.ready[1]}/mem:engine;DB_CLOSE_DELAY=-1`, () =>
    server.stop(),
  )
}

/** PostgreSQL refuses to run as root. This is the user `nobody`, which owns no other files. */
const NOBODY = { uid: 65_534, gid: 65_534 }

/** Starts an own PostgreSQL with a temporary folder. `folder` contains its programs. */
export async function startPostgres(folder: string): Promise<Database> {
  const data = await mkdtemp(join(tmpdir(), 'engine-gateway-postgres-'))
  const isRoot = process.getuid?.() === 0
  const runAs = { cwd: data, ...(isRoot ? NOBODY : {}) }
  if (isRoot) await chown(data, NOBODY.uid, NOBODY.gid)
  const create = [
    '--pgdata',
    data,
    '--username=sa',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ]
  await promisify(execFile)(join(folder, 'initdb'), create, runAs)
  const port = await freePort()
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'fsync=off']
  const server = await startChild({
    command: join(folder, 'postgres'),
    args: ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    ready: /database system is ready to accept connections/,
    withinMs: 60_000,
    runAs,
  })
  return databaseAt(`jdbc:postgresql://127.0.0.1:${port}/postgres`, async () => {
    await server.stop()
    await rm(data, { recursive: true })
  })
}

function databaseAt(url: string, stop: () => Promise<void>): Database {
  return {
    url,
    async runScript(family, resource) {
      const libraries = join(dirname((await buildEngine(family)).jar), 'lib', '*')
      // This tool of H2 runs scripts on every database that has a JDBC driver.
      const script = [
        'org.h2.tools.RunScript',
        '-url',
        url,
        '-user',
        'sa',
        '-script',
        `classpath:${resource}`,
      ]
      await promisify(execFile)('java', ['-cp', libraries, ...script])
    },
    stop,
  }
}
