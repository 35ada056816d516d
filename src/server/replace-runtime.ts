import { setTimeout as wait } from 'node:timers/promises'
import { type Config, ConfigError } from '../config/config.ts'
import type { Generation } from './runtime.ts'
import type { Listener } from './listener.ts'
import type { Logger } from '../log.ts'

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
  /** The oldest first: those that end what they have begun, the one in force, and one that is to take its place. */
  const live = new Map<number, Generation>([[0, first]])
  const retiring = new Map<Generation, Promise<void>>()
  let currentNumber = 0
  let opened = 0

  function current(): Generation {
    return numbered(currentNumber)
  }

  function numbered(number: number): Generation {
    const generation = live.get(number)
    if (generation === undefined) throw new Error(`Generation ${number} has ended`)
    return generation
  }

  /** Whichever is left of those that came after it: a generation that has ended is held by none. */
  function heirOf(number: number): Generation {
    const next = [...live.keys()].find((other) => other > number)
    return numbered(next ?? currentNumber)
  }

  async function close(generation: Generation): Promise<void> {
    await generation.close().catch((error: unknown) => {
      log.error({ err: error }, 'what a former configuration has built cannot be closed')
    })
  }

  /** What it has begun it ends, however long that takes; after a drain's time it does nothing beside that. */
  async function retire(number: number, over: Promise<void>): Promise<void> {
    const old = numbered(number)
    await Promise.race([over, wait(current().built.config.timeouts.drain, undefined, { ref: false })])
    old.built.stop()
    await over
    await close(old)
    live.delete(number)
    retiring.delete(old)
  }

  async function replace(config: Config): Promise<void> {
    const oldNumber = currentNumber
    const old = current()
    const next = await open(config, old)
    const number = (opened += 1)
    live.set(number, next)
    // From its first reading on: what is written meanwhile may be missing in it.
    old.built.tell(() => heirOf(oldNumber).built)
    try {
      await begin(next, isDraining)
    } catch (error) {
      old.built.tell(null)
      live.delete(number)
      // An engine that does not answer is not waited for.
      void close(next)
      throw error
    }
    next.built.enter()
    currentNumber = number
    retiring.set(old, retire(oldNumber, serve(next.handle)))
  }

  return {
    current,
    replace,
    endPolls: () => [current(), ...retiring.keys()].forEach(({ built }) => built.endPolls()),
    close: async () => void (await Promise.all([current().close(), ...retiring.values()])),
  }
}

/** @throws ConfigError when it cannot decide */
async function begin({ built }: Generation, isDraining: () => boolean): Promise<void> {
  await built.start(FIRST_READING_MS)
  const problems = isDraining() ? ['(the gateway): is shutting down'] : built.missing()
  if (problems.length > 0) throw new ConfigError('The configuration', problems)
}
