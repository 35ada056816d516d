import type { Config } from '../config/config.ts'
import { isRecord } from '../request/value.ts'
import type { ConnectionCounts } from '../server/listener.ts'
import { questionNamed } from '../server/questions.ts'

/**
 * Messages that change the configuration or the state of a worker. All other requests to a worker are questions: server/questions.ts.
 * - `replace`: the worker puts a configuration in force.
 * - `connection`: it serves the connection that is sent with the message. Without one, it only answers. The answer has the numbers
 *   of its connections: `ConnectionCounts`.
 * - `accept`: it accepts connections from the socket that is sent with the message. With its answer, it sends a copy of the socket.
 * - `stop-accepting`: it closes this socket.
 */
export type WorkerOrder = 'replace' | 'connection' | 'accept' | 'stop-accepting'

export type MessageToWorker =
  | { readonly type: 'begin'; readonly config: Config }
  | WorkerCall
  | { readonly type: 'drain' }
  /** No more connections follow. */
  | { readonly type: 'last-connection' }

export interface WorkerCall {
  readonly type: 'ask'
  readonly id: number
  /** An order, or the name of a question. */
  readonly topic: string
  readonly value: unknown
}

export type MessageToPrimary =
  /** The worker can receive messages. */
  | { readonly type: 'up' }
  /** The worker serves the connections that it receives. */
  | { readonly type: 'listening' }
  /** The worker drains, and waits for `last-connection`. */
  | { readonly type: 'draining' }
  | WorkerResult

export type WorkerResult =
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly problem: string }

/** Parses a message to a worker. Returns null for a message of another sender, because the channel is shared. */
export function readToWorker(message: unknown): MessageToWorker | null {
  if (!isRecord(message)) return null
  const { type, config, id, topic, value } = message
  if (type === 'drain' || type === 'last-connection') return { type }
  if (type === 'begin' && isConfig(config)) return { type, config }
  if (type === 'ask' && typeof id === 'number' && isTopic(topic)) return { type, id, topic, value }
  return null
}

/** Parses a message to the primary. Returns null for a message of another sender. */
export function readToPrimary(message: unknown): MessageToPrimary | null {
  if (!isRecord(message)) return null
  const { type, id, value, problem } = message
  if (type === 'up' || type === 'listening' || type === 'draining') return { type }
  if (type === 'answer' && typeof id === 'number') return { type, id, value }
  if (type === 'failure' && typeof id === 'number' && typeof problem === 'string')
    return { type, id, problem }
  return null
}

const ORDERS: ReadonlySet<string> = new Set<WorkerOrder>([
  'replace',
  'connection',
  'accept',
  'stop-accepting',
])

export function isOrder(topic: string): topic is WorkerOrder {
  return ORDERS.has(topic)
}

function isTopic(value: unknown): value is string {
  return typeof value === 'string' && (isOrder(value) || questionNamed(value) !== null)
}

/** Returns whether a value is a configuration. Checks only a few members, because the primary has validated it. */
export function isConfig(value: unknown): value is Config {
  return isRecord(value) && value['version'] === 1 && isRecord(value['engines']) && isRecord(value['listen'])
}

/** Returns the numbers of a worker's connections. Returns null if the answer cannot be read. */
export function countsIn(value: unknown): ConnectionCounts | null {
  if (!isRecord(value)) return null
  const { open, ended } = value
  return typeof open === 'number' && typeof ended === 'number' ? { open, ended } : null
}

/** Returns the problems that a worker found in a replacement configuration. With no problems, the configuration is in force. */
export function problemsIn(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value
  return ['(the gateway): a worker sent a response that cannot be read']
}
