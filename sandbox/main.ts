import { parseArgs } from 'node:util'
import { exitWith } from '../src/cli/command-line.ts'
import { runUntilSignal } from '../src/cli/until-signal.ts'
import { ConfigError } from '../src/config/config.ts'
import { createLogger } from '../src/log.ts'
import { startSandbox } from './sandbox.ts'

/** The port on which the demo's configuration expects an engine. */
const DEFAULT_PORT = '8081'
const MAX_PORT = 65_535

async function runSandbox(args: readonly string[]): Promise<number> {
  const options = { port: { type: 'string', default: DEFAULT_PORT } } as const
  const { port } = parseArgs({ args: [...args], options }).values
  if (!/^\d{1,5}$/.test(port) || Number(port) > MAX_PORT)
    throw new ConfigError('The sandbox', [`--port takes a number from 0 to ${MAX_PORT}`])
  const sandbox = await startSandbox({ port: Number(port) }).catch((error: unknown) => {
    throw new ConfigError('The sandbox', [`${String(error)}: choose another port with --port`])
  })
  process.stdout.write(`a sandbox engine without authentication listens at ${sandbox.base}\n`)
  const running = { drain: sandbox.close, reload: async () => undefined }
  return runUntilSignal(running, createLogger({ level: 'warn' }))
}

exitWith(runSandbox(process.argv.slice(2)))
