import { setTimeout as wait } from 'node:timers/promises'
import { type Config, ConfigError } from './config.ts'
import type { Generation } from './generation.ts'
import type { Listener } from './listener.ts'
import type { Logger } from './log.ts'

interface SuccessionOptions {
  readonly first: Generation
  /** @throws ConfigError */
  readonly open: (config: Config, before: Generation) => Promise<Generation>
  readonly serve: Listener['serve']
  readonly isDraining: () => boolean
  readonly log: Logger
}

/** Which generation is in force. */
export interface Succession {
  readonly current: () => Generation
  /** Builds the next one, and lets it take over when it can decide. @throws ConfigError and the current one stays */
  readonly replace: (config: Config) => Promise<void>
  /** Answers all that wait for work, in all of them. */
  readonly endPolls: () => void
  /** After what is under way in all of them. */
  readonly close: () => Promise<void>
}

/** Nobody waits for it but who has changed the configuration. */
const FIRST_READING_MS = 15_000

export function createSuccession({ first, open, serve, isDraining, log }: SuccessionOptions): Succession {
  const retiring = new Map<Generation, Promise<void>>()
  let current = first

  async function close(generation: Generation): Promise<void> {
    await generation.close().catch((error: unknown) => {
      log.error({ err: error }, 'what a former configuration has built cannot be closed')
    })
  }

  /** What it has begun it ends, however long that takes; after a drain's time it does nothing beside that. */
  async function retire(old: Generation, over: Promise<void>): Promise<void> {
    await Promise.race([over, wait(current.built.config.timeouts.drain, undefined, { ref: false })])
    old.built.stop()
    await over
    await close(old)
  }

  return {
    current: () => current,
    replace: async (config) => {
      const old = current
      const next = await open(config, old)
      // From its first reading on: what is written meanwhile may be missing in it.
      old.built.tell(next.built)
      try {
        await begin(next, isDraining)
      } catch (error) {
        old.built.tell(null)
        // An engine that does not answer is not waited for.
        void close(next)
        throw error
      }
      next.built.enter()
      current = next
      const retired = retire(old, serve(next.handle)).finally(() => retiring.delete(old))
      retiring.set(old, retired)
    },
    endPolls: () => [current, ...retiring.keys()].forEach(({ built }) => built.endPolls()),
    close: async () => void (await Promise.all([current.close(), ...retiring.values()])),
  }
}

/** @throws ConfigError when it cannot decide */
async function begin({ built }: Generation, isDraining: () => boolean): Promise<void> {
  await built.start(FIRST_READING_MS)
  const problems = isDraining() ? ['(the gateway): is shutting down'] : built.missing()
  if (problems.length > 0) throw new ConfigError('The configuration', problems)
}
