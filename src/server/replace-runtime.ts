import { setTimeout as wait } from 'node:timers/promises'
import { type Config, ConfigError } from '../config/config.ts'
import type { DrainedNode } from '../assembly/running-nodes.ts'
import type { BuildOptions, Runtime, RuntimeDependencies } from '../assembly/runtime.ts'
import type { PublicListener } from './listener.ts'
import type { Logger } from '../log.ts'

interface RuntimeReplacementOptions {
  /** The first configuration. */
  readonly config: Config
  /** @throws ConfigError */
  readonly open: (options: Pick<BuildOptions, 'config' | 'before' | 'successor'>) => Promise<Runtime>
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
  /**
   * Builds the configuration in force once more, and closes it.
   * @throws ConfigError if a file that it names could not be used
   */
  readonly verify: () => Promise<void>
  /** Reopens the audit files of all open runtimes. */
  readonly reopenAudit: () => Promise<void>
  /** Responds to the waiting long polls of all open runtimes. */
  readonly endPolls: () => void
  /** Drains these nodes in all open runtimes and in later ones, and uses all others again. */
  readonly drainNodes: (drained: readonly DrainedNode[]) => void
  /** Returns the number of requests of all open runtimes that run at a node. */
  readonly runningAt: (node: string) => number
  /** Closes all runtimes after their requests in flight. */
  readonly close: () => Promise<void>
}

/** Timeout for the first read of a new runtime. Only the operator who changed the configuration waits for it. */
const FIRST_READING_MS = 15_000

/** Opens the first runtime. @throws ConfigError */
export async function openFirstRuntime({
  config: firstConfig,
  open,
  serve,
  isDraining,
  log,
}: RuntimeReplacementOptions): Promise<RuntimeReplacement> {
  /**
   * All open runtimes, oldest first: replaced runtimes that finish their requests, the runtime in force, and one that is about to
   * replace it.
   */
  const live = new Map<number, Runtime>()
  const retiring = new Map<Runtime, Promise<void>>()
  let currentNumber = 0
  let opened = 0
  let drained: readonly DrainedNode[] = []

  function current(): Runtime {
    return numbered(currentNumber)
  }

  function numbered(number: number): Runtime {
    const runtime = live.get(number)
    if (runtime === undefined) throw new Error(`Runtime ${number} has ended`)
    return runtime
  }

  /** Returns the next newer runtime that is still open. No runtime refers to one that has ended. */
  function successorOf(number: number): RuntimeDependencies | null {
    const next = [...live].find(([other]) => other > number)
    return next?.[1].dependencies ?? null
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
    await Promise.race([
      over,
      wait(current().dependencies.gateway.config.timeouts.drain, undefined, { ref: false }),
    ])
    old.dependencies.stop()
    await over
    await close(old)
    live.delete(number)
    retiring.delete(old)
  }

  async function replace(config: Config): Promise<void> {
    const oldNumber = currentNumber
    const old = current()
    const number = (opened += 1)
    const { handover } = old.dependencies
    const next = await open({ config, before: handover, successor: () => successorOf(number) })
    // From here on the old runtime forwards changes. The first read of the new runtime may miss writes that happen in the meantime.
    live.set(number, next)
    try {
      await begin(next, isDraining)
    } catch (error) {
      live.delete(number)
      // Not awaited, because an engine may not respond.
      void close(next)
      throw error
    }
    next.dependencies.drainNodes(drained)
    next.dependencies.activate()
    currentNumber = number
    retiring.set(old, retire(oldNumber, serve(next.handle, next.upgrades)))
  }

  async function verify(): Promise<void> {
    const { gateway, handover } = current().dependencies
    await close(await open({ config: gateway.config, before: handover, successor: () => null }))
  }

  live.set(0, await open({ config: firstConfig, successor: () => successorOf(0) }))
  const all = () => [current(), ...retiring.keys()].map(({ dependencies }) => dependencies)
  return {
    current,
    replace,
    verify,
    reopenAudit: async () =>
      void (await Promise.all(all().map((runtime) => runtime.questions.reopenAudit()))),
    drainNodes: (next) => {
      drained = next
      for (const runtime of all()) runtime.drainNodes(drained)
    },
    runningAt: (name) => {
      const nodes = all().flatMap(({ questions }) =>
        questions.status().engines.flatMap((engine) => engine.nodes),
      )
      return nodes.reduce(
        (sum, { node, inFlight, polls }) => (node === name ? sum + inFlight + polls : sum),
        0,
      )
    },
    endPolls: () => all().forEach((runtime) => runtime.endPolls()),
    close: async () => void (await Promise.all([current().close(), ...retiring.values()])),
  }
}

/** Reads the sources of a new runtime. @throws ConfigError if the runtime cannot make decisions */
async function begin({ dependencies }: Runtime, isDraining: () => boolean): Promise<void> {
  await dependencies.start(FIRST_READING_MS)
  const problems = isDraining() ? ['(the gateway): is shutting down'] : dependencies.questions.missing()
  if (problems.length > 0) throw new ConfigError('The configuration', problems)
}
