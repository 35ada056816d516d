import { type Command, InvalidArgumentError } from 'commander'
import { availableBytes, heapLimitBytes, heapTooLarge } from '../assembly/process-memory.ts'
import { loadConfig } from '../config/config.ts'
import { createLogger } from '../log.ts'
import { atKey } from '../server/running.ts'
import { start } from '../server/start.ts'
import { startWorkers } from '../workers/start-workers.ts'
import { startWorker } from '../workers/worker.ts'
import { type CommandContext, CONFIG_OPTION, notesText } from './command.ts'
import { runUntilSignal, runUntilSignalOr } from './until-signal.ts'

export function addStartCommand(program: Command, { entry, open, exits }: CommandContext): void {
  program
    .command('start')
    .description('run the gateway; this is the default command')
    .addOption(CONFIG_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      exits(async ({ config: file }) => {
        const config = loadConfig(file)
        const log = createLogger({ level: config.log.level })
        const tooLarge = heapTooLarge(config.workers, heapLimitBytes(), availableBytes())
        if (tooLarge !== null)
          log.warn(tooLarge, 'the heap limit is too large for the memory: the process may be killed')
        const running = await (config.workers === 1
          ? start({ config, log, open, file })
          : atKey('admin', startWorkers({ config, log, file, entry, open })))
        return runUntilSignal(running, log)
      }),
    )
}

const NOTES = {
  about: `SIGHUP reloads the configuration. SIGTERM and SIGINT start a drain: the gateway completes the requests in
flight, and then exits.`,
  examples: ['engine-gateway start --config gateway.yaml', 'engine-gateway --config gateway.yaml'],
  exitCodes: [
    [0, 'the gateway was stopped, and has drained'],
    [1, 'an invalid configuration, an error that stopped it, or audit lines that were lost at the exit'],
    [2, 'invalid arguments'],
    [130, 'a second Ctrl-C ended the drain early'],
  ],
} as const

/** The command of worker processes. Only the primary starts it. */
export function addWorkerCommand(program: Command, { open, exits }: CommandContext): void {
  program
    .command('worker', { hidden: true })
    .description('serve as one of several processes')
    .action(
      exits(async () => {
        if (process.send === undefined) throw new InvalidArgumentError("unknown command 'worker'")
        const { drainRequested, drain, log } = await startWorker(process, open)
        return runUntilSignalOr(drainRequested, { drain }, log)
      }),
    )
}
