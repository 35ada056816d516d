import type { DrainedNode } from '../assembly/running-nodes.ts'
import { isObject, isRecord } from '../request/value.ts'
import type { ServingProcess } from './serving.ts'

/** Which nodes are drained, and the node whose requests are counted. */
export interface DrainOrder {
  /** All nodes that are drained by a command. */
  readonly drained: readonly DrainedNode[]
  readonly node: string
}

/** The result in one process. */
export interface DrainReport {
  /**
   * The number of requests that run at the node. The long polls that it holds count too, although their clients wait at another
   * node. If the node ended while it locks a task for such a poll, no worker would get the task before its lock expires.
   */
  readonly running: number
}

/** Drains nodes in this process. @throws Error if the parameters are not an order */
export function drainInProcess(
  { drainNodes, runningAt }: Pick<ServingProcess, 'drainNodes' | 'runningAt'>,
  order: unknown,
): DrainReport {
  if (!isDrainOrder(order)) throw new Error('the parameters are not an order to drain nodes')
  drainNodes(order.drained)
  return { running: runningAt(order.node) }
}

export function isDrainReport(value: unknown): value is DrainReport {
  return isRecord(value) && typeof value['running'] === 'number'
}

function isDrainOrder(value: unknown): value is DrainOrder {
  if (!isObject(value) || typeof value['node'] !== 'string' || !Array.isArray(value['drained'])) return false
  return value['drained'].every(
    (one: unknown) =>
      isObject(one) &&
      typeof one['engine'] === 'string' &&
      typeof one['node'] === 'string' &&
      typeof one['isForced'] === 'boolean',
  )
}
