import { fileURLToPath } from 'node:url'
import { openRuntime } from '../src/assembly/open-runtime.ts'
import { exitWith } from '../src/cli/command-line.ts'
import { runUntilSignal } from '../src/cli/until-signal.ts'
import { ConfigError, loadConfig } from '../src/config/config.ts'
import { createLogger } from '../src/log.ts'
import { startSandbox } from './sandbox.ts'
import type { RunningGateway } from '../src/server/running.ts'
import { start } from '../src/server/start.ts'
import { tourOf } from './tour.ts'

const CONFIG = fileURLToPath(new URL('../config/gateway.yaml', import.meta.url))
const log = createLogger({ level: 'warn' })

/** Runs the gateway of `config/gateway.yaml` in front of an engine in this process, and prints a tour. */
async function startDemo(): Promise<RunningGateway> {
  const sandbox = await startSandbox()
  const config = loadConfig(CONFIG, { ENGINE_URL: sandbox.base })
  // The console shows only the tour.
  const quiet = { ...config, log: { ...config.log, audit: 'off' } }
  const running = await start({ config: quiet, log, open: openRuntime, file: null }).catch(
    async (error: unknown) => {
      await sandbox.close()
      throw withPortHint(error)
    },
  )
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

exitWith(startDemo().then((running) => runUntilSignal(running, log)))
