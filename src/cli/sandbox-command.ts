import { ConfigError } from '../config/config.ts'
import { createLogger } from '../log.ts'
import { startSandbox } from '../sandbox/sandbox.ts'
import { UsageError } from './arguments.ts'
import { command } from './command.ts'
import { runUntilSignal } from './until-signal.ts'

/** The port on which the demo's configuration expects an engine. */
const DEFAULT_PORT = '8081'
const MAX_PORT = 65_535

export const sandboxCommand = command({
  name: 'sandbox',
  purpose: 'run only the sandbox engine, without authentication',
  about: 'The sandbox listens on 127.0.0.1. Its data is lost when it stops.',
  options: {
    port: {
      type: 'string',
      value: 'PORT',
      default: DEFAULT_PORT,
      purpose: 'the port on which it listens; 0 selects a free port',
    },
  },
  examples: ['engine-gateway sandbox --port 8081'],
  exitCodes: [
    [0, 'a signal stopped the sandbox'],
    [1, 'the sandbox could not start, for example because the port is in use; or an error stopped it'],
    [2, 'invalid arguments'],
  ],
  run: async ({ values: { port }, streams: { stdout } }) => {
    if (!/^\d{1,5}$/.test(port) || Number(port) > MAX_PORT)
      throw new UsageError(`--port takes a number from 0 to ${MAX_PORT}`)
    const sandbox = await startSandbox({ port: Number(port) }).catch((error: unknown) => {
      throw new ConfigError('The sandbox', [`${String(error)}: choose another port with --port`])
    })
    stdout.write(`a sandbox engine without authentication listens at ${sandbox.base}\n`)
    const running = { drain: sandbox.close, reload: async () => undefined }
    return runUntilSignal(running, createLogger({ level: 'warn' }))
  },
})
