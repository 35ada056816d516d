import type { Worker } from 'node:cluster'
import type { OpenRuntime } from '../assembly/runtime.ts'
import type { Config } from '../config/config.ts'
import { messageOf } from '../errors.ts'
import { createLogger, type Logger, openDestination } from '../log.ts'
import { configProblemsOf } from '../server/reload.ts'
import { openServing, type Serving } from '../server/serving.ts'
import { type Ask, isConfig, readToWorker, type WorkerTopic, type ToPrimary } from './worker-messages.ts'

export interface RunningWorker {
  /** Resolves when the primary asks for a drain, or has ended. */
  readonly drainRequested: Promise<void>
  /** Completes what is in flight, and disconnects from the primary. */
  readonly drain: () => Promise<void>
  readonly log: Logger
}

/** Serves requests under the control of the primary that started this process. @throws ConfigError */
export async function startWorker(primary: Worker, open: OpenRuntime): Promise<RunningWorker> {
  const send = (message: ToPrimary): void => {
    // The primary may have ended; then this process ends too.
    primary.send(message, undefined, undefined, () => undefined)
  }
  const signals = listenTo(primary)
  send({ type: 'up' })
  const config = await signals.begin
  const destination = openDestination()
  let isDisconnecting = false
  // The primary forwards this process's lines: once it has ended, nobody does.
  primary.once('disconnect', () => {
    if (!isDisconnecting) destination.abandon()
  })
  const log = createLogger({ level: config.log.level, destination })
  const serving = await openServing({ config, log, open })
  primary.on('message', (sent: unknown) => {
    const message = readToWorker(sent)
    if (message?.type === 'ask') void answer(message, { serving, log, send })
  })
  const address = await serving.begin()
  primary.once('disconnect', () => {
    // Without this, Node ends the process at once, with everything in flight.
    primary.exitedAfterDisconnect = true
  })
  send({ type: 'listening', address })
  return {
    drainRequested: signals.end,
    log,
    drain: async () => {
      await serving.drain()
      isDisconnecting = true
      if (primary.isConnected()) primary.disconnect()
    },
  }
}

function listenTo(primary: Worker) {
  const begin = new Promise<Config>((resolve) => {
    primary.on('message', (sent: unknown) => {
      const message = readToWorker(sent)
      if (message?.type === 'begin') resolve(message.config)
    })
  })
  const end = new Promise<void>((resolve) => {
    primary.once('disconnect', resolve)
    primary.on('message', (sent: unknown) => {
      if (readToWorker(sent)?.type === 'drain') resolve()
    })
  })
  return { begin, end }
}

interface ServingContext {
  readonly serving: Serving
  readonly log: Logger
  readonly send: (message: ToPrimary) => void
}

async function answer({ id, topic, value }: Ask, context: ServingContext): Promise<void> {
  try {
    context.send({ type: 'answer', id, value: await ANSWERS[topic](context, value) })
  } catch (error) {
    context.send({ type: 'failure', id, problem: messageOf(error) })
  }
}

const ANSWERS: Readonly<Record<WorkerTopic, (context: ServingContext, value: unknown) => unknown>> = {
  metrics: ({ serving }) => serving.current().parts.metrics.snapshot(),
  readiness: ({ serving }) => serving.readiness(),
  explain: ({ serving }, question) => serving.explain(question),
  replace,
  reopenAudit: ({ serving }) => serving.reopenAudit(),
}

/** The problems with the configuration; none: it is in force. */
async function replace({ serving, log }: ServingContext, config: unknown): Promise<readonly string[]> {
  try {
    if (!isConfig(config)) throw new Error('this is no configuration')
    await serving.replace(config)
    log.level = config.log.level
    return []
  } catch (error) {
    return configProblemsOf(error)
  }
}
