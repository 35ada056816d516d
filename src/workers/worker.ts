import { Socket } from 'node:net'
import type { OpenRuntime } from '../assembly/runtime.ts'
import type { Config } from '../config/config.ts'
import { messageOf } from '../errors.ts'
import { createLogger, type Logger, openDestination } from '../log.ts'
import { configProblemsOf } from '../server/reload.ts'
import { questionNamed } from '../server/questions.ts'
import { openServing, type ServingProcess } from '../server/serving.ts'
import {
  type WorkerCall,
  isConfig,
  isOrder,
  readToWorker,
  type WorkerOrder,
  type MessageToPrimary,
} from './worker-messages.ts'

export interface RunningWorker {
  /** Resolves when the primary requests a drain, or has ended. */
  readonly drainRequested: Promise<void>
  /** Completes the requests in flight, and disconnects from the primary. */
  readonly drain: () => Promise<void>
  readonly log: Logger
}

/** Serves the connections that the primary, which started this process, hands over. @throws ConfigError */
export async function startWorker(primary: NodeJS.Process, open: OpenRuntime): Promise<RunningWorker> {
  const send = (message: MessageToPrimary): void => {
    // The primary may have ended. This process then ends too.
    primary.send?.(message, undefined, undefined, () => undefined)
  }
  const signals = listenTo(primary)
  send({ type: 'up' })
  const config = await signals.begin
  const destination = openDestination()
  let isDisconnecting = false
  // The primary forwards the log lines of this process. After it has ended, no process reads them.
  primary.once('disconnect', () => {
    if (!isDisconnecting) destination.abandon()
  })
  const log = createLogger({ level: config.log.level, destination })
  const serving = await openServing({ config, log, open })
  primary.on('message', (sent: unknown, handle: unknown) => {
    const message = readToWorker(sent)
    const connection = handle instanceof Socket ? handle : null
    if (message?.type === 'ask') void answer(message, { serving, log, send, connection })
  })
  // If the primary ends in the meantime, this process does not wait for its sources, and ends too.
  await Promise.race([serving.begin(), signals.end])
  send({ type: 'listening' })
  return {
    drainRequested: signals.end,
    log,
    drain: async () => {
      send({ type: 'draining' })
      await serving.drain({ lastAccepted: signals.lastConnection })
      isDisconnecting = true
      if (primary.connected) primary.disconnect()
    },
  }
}

function listenTo(primary: NodeJS.Process) {
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
  const lastConnection = new Promise<void>((resolve) => {
    primary.once('disconnect', resolve)
    primary.on('message', (sent: unknown) => {
      if (readToWorker(sent)?.type === 'last-connection') resolve()
    })
  })
  return { begin, end, lastConnection }
}

interface ServingContext {
  readonly serving: ServingProcess
  readonly log: Logger
  readonly send: (message: MessageToPrimary) => void
  /** The connection that was sent with the message. Null if the message had none. */
  readonly connection: Socket | null
}

async function answer({ id, topic, value }: WorkerCall, context: ServingContext): Promise<void> {
  try {
    const answered = isOrder(topic)
      ? ORDERS[topic](context, value)
      : questionNamed(topic)?.answer(context.serving, value)
    context.send({ type: 'answer', id, value: await answered })
  } catch (error) {
    context.send({ type: 'failure', id, problem: messageOf(error) })
  }
}

const ORDERS: Readonly<Record<WorkerOrder, (context: ServingContext, value: unknown) => unknown>> = {
  replace,
  connection: ({ serving, connection }) => {
    if (connection !== null) serving.serveConnection(connection)
  },
}

/** Replaces the configuration and returns the problems. With no problems, the new configuration is in force. */
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
