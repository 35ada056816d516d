import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { buildEngine, type Family } from './build.ts'
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
  const url = `jdbc:h2:tcp://127.0.0.1:${server.ready[1]}/mem:engine;DB_CLOSE_DELAY=-1`
  return {
    url,
    async runScript(family, resource) {
      const libraries = join(dirname((await buildEngine(family)).jar), 'lib', '*')
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
    stop: () => server.stop(),
  }
}
