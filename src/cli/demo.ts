import { fileURLToPath } from 'node:url'
import { type Config, ConfigError, loadConfig } from '../config/config.ts'
import { createLogger } from '../log.ts'
import type { RunningGateway } from '../server/running.ts'
import { start } from '../server/start.ts'
import { startSandbox } from '../sandbox/sandbox.ts'
import { command } from './command.ts'
import { runUntilSignal } from './until-signal.ts'

const CONFIG = fileURLToPath(new URL('../../config/gateway.yaml', import.meta.url))

export const demoCommand = command({
  name: 'demo',
  purpose: 'run the gateway in front of a sandbox engine, and print a tour',
  about: 'The environment variables PORT and ADMIN_PORT set the ports. The defaults are 8080 and 9090.',
  options: {},
  examples: ['engine-gateway demo', 'PORT=8180 ADMIN_PORT=9190 engine-gateway demo'],
  exitCodes: [
    [0, 'the gateway was stopped, and has drained'],
    [1, 'the demo could not start, for example because a port is in use; or an error stopped it'],
    [2, 'invalid arguments'],
  ],
  run: async ({ program: { open } }) => {
    const log = createLogger({ level: 'warn' })
    return runUntilSignal(await demo((config) => start({ config, log, open, file: null })), log)
  },
})

/** Runs the gateway of `config/gateway.yaml` in front of an engine in this process, and prints a tour. */
async function demo(begin: (config: Config) => Promise<RunningGateway>): Promise<RunningGateway> {
  const sandbox = await startSandbox()
  const config = loadConfig(CONFIG, { ENGINE_URL: sandbox.base })
  // The console shows only the tour.
  const quiet = { ...config, log: { ...config.log, audit: 'off' } }
  const running = await begin(quiet).catch(async (error: unknown) => {
    await sandbox.close()
    throw withPortHint(error)
  })
  process.stdout.write(tourOf({ base: running.address + config.basePath, admin: running.adminAddress }))
  return {
    ...running,
    drain: async () => {
      await running.drain()
      await sandbox.close()
    },
  }
}

const VARIABLES = { listen: 'PORT', admin: 'ADMIN_PORT' } as const

/** Adds the variable that changes the port, because the demo has no configuration file to edit. */
function withPortHint(error: unknown): unknown {
  if (!(error instanceof ConfigError)) return error
  const problems = error.problems.map((problem) => {
    const key = (['listen', 'admin'] as const).find((one) => problem.startsWith(`${one}: `))
    return key === undefined ? problem : `${problem}: set ${VARIABLES[key]} to another port`
  })
  return new ConfigError('The demo', problems)
}

/** Returns the tour. Every line that does not begin with `#` can be pasted into a shell. */
export function tourOf({ base, admin }: { readonly base: string; readonly admin: string }): string {
  const json = `-H 'Content-Type: application/json'`
  return `
engine-gateway listens at ${base} (admin: ${admin})
Users: demo/demo may do everything; mary/mary may work on reviews. There are no other users.

# 1. Without credentials: 401
curl -siw '\\n' ${base}/task

# 2. Mary may not evaluate decisions: 403, with the missing permission
ID=$(curl -su demo:demo ${base}/decision-definition/key/discount | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
curl -siw '\\n' -u mary:mary ${json} -d '{"variables":{"amount":{"value":120,"type":"Integer"}}}' ${base}/decision-definition/$ID/evaluate

# 3. Two requests for a diagram: the second response comes from memory (Cache-Status: hit)
curl -su demo:demo -o /dev/null -D - ${base}/decision-definition/key/discount/diagram
curl -su demo:demo -o /dev/null -D - ${base}/decision-definition/key/discount/diagram

# 4. An expression in a task query is code: 400, and the query is not sent to the engine
curl -siw '\\n' -u demo:demo ${json} -d '{"orQueries":[{"assigneeExpression":"\${1+1}"}]}' ${base}/task

# 5. A task query: demo sees all tasks, mary only tasks of the review process
curl -sw '\\n' -u demo:demo ${json} -d '{}' ${base}/task/count
curl -sw '\\n' -u mary:mary ${json} -d '{}' ${base}/task/count

# 6. Another engine, selected by name
curl -sw '\\n' -u demo:demo ${base}/engine/second/task

# 7. Metrics for Prometheus
curl -s ${admin}/metrics | grep '^gateway_'

`
}
