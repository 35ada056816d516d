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
    'SIGHUP reads the configuration anew. SIGTERM and SIGINT drain: what is under way ends, then the process does.',
  options: { config: CONFIG_OPTION },
  examples: ['engine-gateway start --config gateway.yaml', 'engine-gateway --config gateway.yaml'],
  exitCodes: [
    [0, 'it has drained'],
    [1, 'it could not start, for one as the configuration has a mistake; or an error ended it'],
    [2, 'invalid arguments'],
    [130, 'a second Ctrl-C cut the drain short'],
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
