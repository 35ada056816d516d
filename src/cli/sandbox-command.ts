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
  purpose: 'run the sandbox engine alone, open to all who reach it',
  about: 'It listens on 127.0.0.1, and forgets everything at its end.',
  options: {
    port: {
      type: 'string',
      value: 'PORT',
      default: DEFAULT_PORT,
      purpose: 'where it listens; 0: any port that is free',
    },
  },
  examples: ['engine-gateway sandbox --port 8081'],
  exitCodes: [
    [0, 'it was ended by a signal'],
    [1, 'it could not start, for one as the port is taken; or an error ended it'],
    [2, 'invalid arguments'],
  ],
  run: async ({ values: { port }, streams: { stdout } }) => {
    if (!/^\d{1,5}$/.test(port) || Number(port) > MAX_PORT)
      throw new UsageError(`--port takes a number from 0 to ${MAX_PORT}`)
    const sandbox = await startSandbox({ port: Number(port) }).catch((error: unknown) => {
      throw new ConfigError('The sandbox', [`${String(error)}: --port takes another one`])
    })
    stdout.write(`a sandbox engine, open to all who reach it, listens at ${sandbox.base}\n`)
    const running = { drain: sandbox.close, reload: async () => undefined }
    return runUntilSignal(running, createLogger({ level: 'warn' }))
  },
})
