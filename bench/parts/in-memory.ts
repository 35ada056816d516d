import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { InMemoryResult } from '../load/in-memory.ts'
import { OWN, type Part, type Row, sampleOf } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { FLAGS, writeSettings } from '../servers/gateway.ts'
import { CORES, pinned, startScript } from '../servers/processes.ts'

const run = promisify(execFile)

/** The CPU time of requests without sockets. */
export const inMemory: Part = {
  name: 'in-memory',
  title: 'Requests without sockets',
  measures:
    'The CPU time of requests in a process whose clients have connections only in memory. The cost of the system is left out, and other load on ' +
    'the machine disturbs less. First the reads after a start, then cached responses in the framework and on the fast path, in turn.',
  columns: [{ key: 'cpuMicros', title: 'CPU time for each request', unit: 'µs' }],
  isLeftOutOfQuick: true,
  run: async ({ directory, isQuick }) => {
    const stub = await startScript('stub.ts', CORES.load)
    const { file } = await writeSettings({ directory, nodes: [`http://127.0.0.1:${stub.port}/engine-rest`] })
    const script = fileURLToPath(new URL('../load/in-memory.ts', import.meta.url))
    const settings = [
      '--config',
      file,
      '--log',
      join(directory, 'access.log'),
      '--rounds',
      isQuick ? '3' : '21',
    ]
    const [program = '', ...args] = pinned(CORES.server, [process.execPath, ...FLAGS, script, ...settings])
    let result: InMemoryResult = { first: [], rounds: [] }
    const { foreign } = await sampleOf(async () => {
      result = JSON.parse((await run(program, args)).stdout)
      return {}
    })
    const rowOf = (name: string, values: readonly number[]): Row => ({
      case: name,
      server: OWN,
      samples: values.map((cpuMicros) => ({ values: { cpuMicros }, foreign })),
    })
    return [
      ...result.first.map(({ from, to, cpuMicros }) =>
        rowOf(`reads ${from} to ${to} after the start`, [cpuMicros]),
      ),
      rowOf(
        'cached, in the framework',
        result.rounds.map(({ framework }) => framework),
      ),
      rowOf(
        'cached, on the fast path',
        result.rounds.map(({ fast }) => fast),
      ),
    ]
  },
}

if (import.meta.main) await runAlone(inMemory)
