import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openRuntime } from '../src/assembly/open-runtime.ts'
import { exitWith } from '../src/cli/command-line.ts'
import { runUntilSignal } from '../src/cli/until-signal.ts'
import { type Config, ConfigError, loadConfig } from '../src/config/config.ts'
import { createLogger } from '../src/log.ts'
import { startSandbox } from './sandbox.ts'
import type { RunningGateway } from '../src/server/running.ts'
import { start } from '../src/server/start.ts'
import { ownEngineTourOf, tourOf } from './tour.ts'

const CONFIG = fileURLToPath(new URL('../config/gateway.yaml', import.meta.url))
const log = createLogger({ level: 'warn' })

/**
 * Runs the gateway of `config/gateway.yaml` in front of the engine at this URL, or else of an engine in this process, and prints a
 * tour.
 */
async function startDemo(engine: string | undefined): Promise<RunningGateway> {
  const sandbox =
    engine === undefined ? await startSandbox() : { base: engine, close: () => Promise.resolve() }
  const loaded = loadConfig(CONFIG, { ENGINE_URL: sandbox.base })
  const config = engine === undefined ? loaded : reportingOf(loaded)
  // The console shows only the tour.
  const quiet = { ...config, log: { ...config.log, audit: 'off' } }
  const running = await start({ config: quiet, log, open: openRuntime, file: null }).catch(
    async (error: unknown) => {
      await sandbox.close()
      throw withPortHint(error)
    },
  )
  const origins = { base: running.address + config.basePath, admin: running.adminAddress }
  process.stdout.write(engine === undefined ? tourOf(origins) : ownEngineTourOf({ ...origins, engine }))
  return {
    ...running,
    drain: async () => {
      await running.drain()
      await sandbox.close()
    },
  }
}

/** Returns the configuration with one engine, and with modes that refuse nothing. */
function reportingOf({ engines: { default: engine }, ...config }: Config): Config {
  if (engine === undefined) throw new Error(`${CONFIG} has no engine default`)
  return {
    ...config,
    engines: { default: engine },
    authorization: { ...config.authorization, mode: 'report' },
    validation: { ...config.validation, mode: 'report' },
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

const { values } = parseArgs({ options: { engine: { type: 'string' } } })

exitWith(startDemo(values.engine).then((running) => runUntilSignal(running, log)))
