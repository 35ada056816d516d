import type { Worker } from 'node:cluster'
import type { Config } from '../config/config.ts'
import { messageOf } from '../errors.ts'
import { answerQuestion } from '../pipeline/explain.ts'
import { createLogger, type Logger, openDestination } from '../log.ts'
import { configProblemsOf } from '../server/reload.ts'
import { openServing, type Serving } from '../server/serving.ts'
import { type Ask, isConfig, readToWorker, type WorkerTopic, type ToPrimary } from './worker-messages.ts'

export interface WorkingProcess {
  /** Resolves when the primary says so, or is gone. */
  readonly told: Promise<void>
  /** Ends what is under way, and lets go of the primary. */
  readonly drain: () => Promise<void>
  readonly log: Logger
}

/** Serves as the primary says, in the process that it has started. @throws ConfigError */
export async function startWorker(primary: Worker): Promise<WorkingProcess> {
  const send = (message: ToPrimary): void => {
    // It may be gone; then this process ends as well.
    primary.send(message, undefined, undefined, () => undefined)
  }
  const heard = hear(primary)
  send({ type: 'up' })
  const config = await heard.begin
  const destination = openDestination()
  let isLeaving = false
  // The primary passes its lines on: once it is gone nobody does.
  primary.once('disconnect', () => {
    if (!isLeaving) destination.abandon()
  })
  const log = createLogger({ level: config.log.level, destination })
  const serving = await openServing(config, log)
  primary.on('message', (sent: unknown) => {
    const message = readToWorker(sent)
    if (message?.type === 'ask') void answer(message, { serving, log, send })
  })
  const address = await serving.begin()
  primary.once('disconnect', () => {
    // Else Node ends the process at once, with all that is under way.
    primary.exitedAfterDisconnect = true
  })
  send({ type: 'listening', address })
  return {
    told: heard.end,
    log,
    drain: async () => {
      await serving.drain()
      isLeaving = true
      if (primary.isConnected()) primary.disconnect()
    },
  }
}

function hear(primary: Worker) {
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

interface Served {
  readonly serving: Serving
  readonly log: Logger
  readonly send: (message: ToPrimary) => void
}

async function answer({ id, topic, value }: Ask, served: Served): Promise<void> {
  try {
    served.send({ type: 'answer', id, value: await ANSWERS[topic](served, value) })
  } catch (error) {
    served.send({ type: 'failure', id, problem: messageOf(error) })
  }
}

const ANSWERS: Readonly<Record<WorkerTopic, (served: Served, value: unknown) => unknown>> = {
  metrics: ({ serving }) => serving.current().parts.metrics.snapshot(),
  readiness: ({ serving }) => serving.readiness(),
  explain: ({ serving }, question) => answerQuestion(serving.current().parts, question),
  replace,
}

/** What is wrong with it; nothing: it is in force. */
async function replace({ serving, log }: Served, config: unknown): Promise<readonly string[]> {
  try {
    if (!isConfig(config)) throw new Error('this is no configuration')
    await serving.replace(config)
    log.level = config.log.level
    return []
  } catch (error) {
    return configProblemsOf(error)
  }
}
