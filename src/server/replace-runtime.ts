import { setTimeout as wait } from 'node:timers/promises'
import { type Config, ConfigError } from '../config/config.ts'
import type { Runtime } from '../assembly/runtime.ts'
import type { Listener } from './listener.ts'
import type { Logger } from '../log.ts'

interface RuntimeReplacementOptions {
  readonly first: Runtime
  /** @throws ConfigError */
  readonly open: (config: Config, before: Runtime) => Promise<Runtime>
  readonly serve: Listener['serve']
  readonly isDraining: () => boolean
  readonly log: Logger
}

/** Which runtime is in force. */
export interface RuntimeReplacement {
  readonly current: () => Runtime
  /** Builds the next one, and lets it take over when it can decide. @throws ConfigError and the current one stays */
  readonly replace: (config: Config) => Promise<void>
  /** Opens the audit files anew, of all of them. */
  readonly reopenAudit: () => Promise<void>
  /** Answers all that wait for work, in all of them. */
  readonly endPolls: () => void
  /** After what is under way in all of them. */
  readonly close: () => Promise<void>
}

/** Nobody waits for it but who has changed the configuration. */
const FIRST_READING_MS = 15_000

export function createRuntimeReplacement({
  first,
  open,
  serve,
  isDraining,
  log,
}: RuntimeReplacementOptions): RuntimeReplacement {
  /** The oldest first: those that end what they have begun, the one in force, and one that is to take its place. */
  const live = new Map<number, Runtime>([[0, first]])
  const retiring = new Map<Runtime, Promise<void>>()
  let currentNumber = 0
  let opened = 0

  function current(): Runtime {
    return numbered(currentNumber)
  }

  function numbered(number: number): Runtime {
    const runtime = live.get(number)
    if (runtime === undefined) throw new Error(`Runtime ${number} has ended`)
    return runtime
  }

  /** The runtimes after it that are still open. No runtime refers to one that has ended. */
  function successorOf(number: number): Runtime {
    const next = [...live.keys()].find((other) => other > number)
    return numbered(next ?? currentNumber)
  }

  async function close(runtime: Runtime): Promise<void> {
    await runtime.close().catch((error: unknown) => {
      log.error({ err: error }, 'what a former configuration has built cannot be closed')
    })
  }

  /** What it has begun it ends, however long that takes; after a drain's time it does nothing beside that. */
  async function retire(number: number, over: Promise<void>): Promise<void> {
    const old = numbered(number)
    await Promise.race([over, wait(current().runtimeParts.config.timeouts.drain, undefined, { ref: false })])
    old.runtimeParts.stop()
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
    old.runtimeParts.tell(() => successorOf(oldNumber).runtimeParts)
    try {
      await begin(next, isDraining)
    } catch (error) {
      old.runtimeParts.tell(null)
      live.delete(number)
      // An engine that does not answer is not waited for.
      void close(next)
      throw error
    }
    next.runtimeParts.enter()
    currentNumber = number
    retiring.set(old, retire(oldNumber, serve(next.handle)))
  }

  const all = () => [current(), ...retiring.keys()].map(({ runtimeParts }) => runtimeParts)
  return {
    current,
    replace,
    reopenAudit: async () => void (await Promise.all(all().map((parts) => parts.reopenAudit()))),
    endPolls: () => all().forEach((parts) => parts.endPolls()),
    close: async () => void (await Promise.all([current().close(), ...retiring.values()])),
  }
}

/** @throws ConfigError when it cannot decide */
async function begin({ runtimeParts }: Runtime, isDraining: () => boolean): Promise<void> {
  await runtimeParts.start(FIRST_READING_MS)
  const problems = isDraining() ? ['(the gateway): is shutting down'] : runtimeParts.missing()
  if (problems.length > 0) throw new ConfigError('The configuration', problems)
}
