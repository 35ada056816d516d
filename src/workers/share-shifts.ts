import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { SHARES, type ServingProcesses } from '../server/questions.ts'

/** Gives a worker that begins to serve the shares of the other workers. Never rejects. */
export async function shareShifts(
  processes: Pick<ServingProcesses, 'askEach'>,
  ask: (topic: string, value: unknown, withinMs: number) => Promise<unknown>,
  log: Pick<Logger, 'error'>,
): Promise<void> {
  try {
    const known = (await processes.askEach(SHARES)).flat()
    if (known.length > 0) await ask(SHARES.name, known, SHARES.withinMs)
  } catch (error) {
    log.error({ problem: messageOf(error) }, 'a worker could not take over the shares of the groups')
  }
}
