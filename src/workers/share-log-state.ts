import { logStateOf, type Logger } from '../log.ts'
import { LOG_READER, type ServingProcesses } from '../server/questions.ts'

const LOOK_MS = 250

/** Tells the workers whether this process can write their lines. */
interface LogStateSharing {
  /** Tells a worker that begins to serve. Never rejects. */
  readonly applyTo: (
    ask: (topic: string, value: unknown, withinMs: number) => Promise<unknown>,
  ) => Promise<void>
  readonly close: () => void
}

/** Tells all workers whenever this process can no longer write their lines, or can write them again. */
export function shareLogState(processes: Pick<ServingProcesses, 'askEach'>, log: Logger): LogStateSharing {
  let isWritable = true
  const looking = setInterval(() => {
    const isNow = logStateOf(log).isWritable
    if (isNow === isWritable) return
    isWritable = isNow
    void processes.askEach(LOG_READER, isWritable)
  }, LOOK_MS).unref()
  return {
    applyTo: async (ask) => {
      // A worker that does not answer is killed by the check of its readiness.
      if (!isWritable) await ask(LOG_READER.name, isWritable, LOG_READER.withinMs).catch(() => undefined)
    },
    close: () => clearInterval(looking),
  }
}
