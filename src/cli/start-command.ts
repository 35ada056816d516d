import { loadConfig } from '../config/config.ts'
import { createLogger } from '../log.ts'
import { atKey } from '../server/running.ts'
import { start } from '../server/start.ts'
import { startWorkers } from '../workers/start-workers.ts'
import { startWorker } from '../workers/worker.ts'
import { UsageError } from './arguments.ts'
import { command, CONFIG_OPTION } from './command.ts'
import { runUntilSignal, runUntilSignalOr } from './until-signal.ts'

export const startCommand = command({
  name: 'start',
  isDefault: true,
  purpose: 'run the gateway',
  about:
    'SIGHUP reloads the configuration. SIGTERM and SIGINT start a drain: the gateway completes the requests in\nflight, and then exits.',
  options: { config: CONFIG_OPTION },
  examples: ['engine-gateway start --config gateway.yaml', 'engine-gateway --config gateway.yaml'],
  exitCodes: [
    [0, 'the gateway was stopped, and has drained'],
    [
      1,
      'the gateway could not start, for example because the configuration is invalid; or an error stopped it',
    ],
    [2, 'invalid arguments'],
    [130, 'a second Ctrl-C ended the drain early'],
  ],
  run: async ({ values: { config: file }, program: { entry, open } }) => {
    const config = loadConfig(file)
    const log = createLogger({ level: config.log.level })
    const running = await (config.workers === 1
      ? start({ config, log, open, file })
      : atKey('admin', startWorkers({ config, log, file, entry, open })))
    return runUntilSignal(running, log)
  },
})

/** The command of worker processes. Only the primary starts it. */
export const workerCommand = command({
  name: 'worker',
  isHidden: true,
  purpose: 'serve as one of several processes',
  options: {},
  examples: [],
  exitCodes: [],
  run: async ({ program: { open } }) => {
    if (process.send === undefined) throw new UsageError("There is no command 'worker'")
    const { drainRequested, drain, log } = await startWorker(process, open)
    return runUntilSignalOr(drainRequested, { drain }, log)
  },
})
