import { setTimeout as wait } from 'node:timers/promises'
import { type Config, ConfigError } from '../config/config.ts'
import type { Runtime } from '../assembly/runtime.ts'
import type { PublicListener } from './listener.ts'
import type { Logger } from '../log.ts'

interface RuntimeReplacementOptions {
  readonly first: Runtime
  /** @throws ConfigError */
  readonly open: (config: Config, before: Runtime) => Promise<Runtime>
  readonly serve: PublicListener['serve']
  readonly isDraining: () => boolean
  readonly log: Logger
}

/** Holds the runtime in force and replaces it. */
export interface RuntimeReplacement {
  readonly current: () => Runtime
  /**
   * Builds the next runtime and puts it in force when it can make decisions. @throws ConfigError; the current runtime then stays
   * in force
   */
  readonly replace: (config: Config) => Promise<void>
  /** Reopens the audit files of all open runtimes. */
  readonly reopenAudit: () => Promise<void>
  /** Responds to the waiting long polls of all open runtimes. */
  readonly endPolls: () => void
  /** Closes all runtimes after their requests in flight. */
  readonly close: () => Promise<void>
}

/** Timeout for the first read of a new runtime. Only the operator who changed the configuration waits for it. */
const FIRST_READING_MS = 15_000

export function createRuntimeReplacement({
  first,
  open,
  serve,
  isDraining,
  log,
}: RuntimeReplacementOptions): RuntimeReplacement {
  /**
   * All open runtimes, oldest first: replaced runtimes that finish their requests, the runtime in force, and one that is about to
   * replace it.
   */
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

  /** Returns the next newer runtime that is still open. No runtime refers to one that has ended. */
  function successorOf(number: number): Runtime {
    const next = [...live.keys()].find((other) => other > number)
    return numbered(next ?? currentNumber)
  }

  async function close(runtime: Runtime): Promise<void> {
    await runtime.close().catch((error: unknown) => {
      log.error({ err: error }, 'cannot close the resources of a previous configuration')
    })
  }

  /**
   * Closes a replaced runtime after its last request, however long that takes. After the drain timeout, it only finishes its
   * requests.
   */
  async function retire(number: number, over: Promise<void>): Promise<void> {
    const old = numbered(number)
    await Promise.race([over, wait(current().dependencies.config.timeouts.drain, undefined, { ref: false })])
    old.dependencies.stop()
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
    // Set before the first read of the new runtime, because the read may miss writes that happen in the meantime.
    old.dependencies.forwardTo(() => successorOf(oldNumber).dependencies)
    try {
      await begin(next, isDraining)
    } catch (error) {
      old.dependencies.forwardTo(null)
      live.delete(number)
      // Not awaited, because an engine may not respond.
      void close(next)
      throw error
    }
    next.dependencies.activate()
    currentNumber = number
    retiring.set(old, retire(oldNumber, serve(next.handle)))
  }

  const all = () => [current(), ...retiring.keys()].map(({ dependencies }) => dependencies)
  return {
    current,
    replace,
    reopenAudit: async () => void (await Promise.all(all().map((parts) => parts.reopenAudit()))),
    endPolls: () => all().forEach((parts) => parts.endPolls()),
    close: async () => void (await Promise.all([current().close(), ...retiring.values()])),
  }
}

/** Reads the sources of a new runtime. @throws ConfigError if the runtime cannot make decisions */
async function begin({ dependencies }: Runtime, isDraining: () => boolean): Promise<void> {
  await dependencies.start(FIRST_READING_MS)
  const problems = isDraining() ? ['(the gateway): is shutting down'] : dependencies.missing()
  if (problems.length > 0) throw new ConfigError('The configuration', problems)
}
