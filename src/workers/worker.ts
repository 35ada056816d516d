import type { SendHandle } from 'node:child_process'
import { Server, Socket } from 'node:net'
import type { OpenRuntime } from '../assembly/runtime.ts'
import type { Config } from '../config/config.ts'
import { messageOf } from '../errors.ts'
import { createLogger, type Logger } from '../log.ts'
import { configProblemsOf } from '../server/reload.ts'
import { questionNamed } from '../server/questions.ts'
import { openServing, type ServingProcess } from '../server/serving.ts'
import { type Acceptor, createAcceptor } from './acceptor.ts'
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
  const send = (message: MessageToPrimary, socket?: SendHandle): void => {
    // The primary may have ended. This process then ends too.
    primary.send?.(message, socket, undefined, () => undefined)
  }
  const signals = listenTo(primary)
  send({ type: 'up' })
  const config = await signals.begin
  const log = createLogger({ level: config.log.level })
  const serving = await openServing({ config, log, open })
  const acceptor = createAcceptor(serving.serveConnection, config.timeouts.drain)
  primary.on('message', (sent: unknown, socket: unknown) => {
    const message = readToWorker(sent)
    if (message?.type === 'ask') void answer(message, { serving, acceptor, log, send, socket })
  })
  // If the primary ends in the meantime, this process does not wait for its sources, and ends too.
  await Promise.race([serving.begin(), signals.end])
  send({ type: 'listening' })
  return {
    drainRequested: signals.end,
    log,
    drain: async () => {
      send({ type: 'draining' })
      await serving.drain({ lastAccepted: signals.lastConnection.then(acceptor.drain) })
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
  readonly acceptor: Acceptor
  readonly log: Logger
  readonly send: (message: MessageToPrimary, socket?: SendHandle) => void
  /** The connection or the listening socket that was sent with the message, if any. */
  readonly socket: unknown
}

/** An answer that is a socket. */
class SharedSocket {
  readonly socket: SendHandle

  constructor(socket: SendHandle) {
    this.socket = socket
  }
}

async function answer({ id, topic, value: parameters }: WorkerCall, context: ServingContext): Promise<void> {
  try {
    const answered = isOrder(topic)
      ? ORDERS[topic](context, parameters)
      : questionNamed(topic)?.answer(context.serving, parameters)
    const value = await answered
    if (value instanceof SharedSocket) context.send({ type: 'answer', id, value: null }, value.socket)
    else context.send({ type: 'answer', id, value })
  } catch (error) {
    context.send({ type: 'failure', id, problem: messageOf(error) })
  }
}

const ORDERS: Readonly<Record<WorkerOrder, (context: ServingContext, value: unknown) => unknown>> = {
  replace,
  connection: ({ serving, socket }) => {
    if (socket instanceof Socket) serving.serveConnection(socket)
    return serving.connectionCounts()
  },
  accept: ({ acceptor, socket }) => {
    const copy = socket instanceof Server ? acceptor.start(socket) : null
    return copy === null ? null : new SharedSocket(copy)
  },
  'stop-accepting': ({ acceptor }) => acceptor.stop(),
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
