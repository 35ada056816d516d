import type { ChildProcess, SendHandle } from 'node:child_process'
import type { Worker } from 'node:cluster'
import { isRecord } from '../request/body.ts'

interface Closable {
  readonly close: () => void
}

/**
 * Looks after connections that are on their way to a worker. Node keeps one until the worker has replied that it takes
 * it; a worker that is killed before leaves it open for good, and its client waits in vain (with every worker killed
 * under load there was one). The reply that is missing is given here: Node then hands the connection to another worker.
 * It speaks Node's own messages (`lib/internal/cluster/round_robin_handle.js`): should they ever change, nothing is
 * recognized and nothing done.
 */
export function createHandOver(): (worker: Worker) => void {
  const listening = new Set<Worker>()
  return function handOver(worker) {
    const { process: child } = worker
    const untaken = untakenOf(child)
    const onGone = () => {
      listening.delete(worker)
      // All that it has replied is read once the channel is closed.
      if (child.connected) return
      for (const [seq, connection] of untaken) {
        untaken.delete(seq)
        // Without another there is no queue in which it would be found again.
        if (listening.size === 0) connection.close()
        else tellNode(child, { cmd: 'NODE_CLUSTER', ack: seq, accepted: false })
      }
    }
    worker.on('listening', () => listening.add(worker))
    // Whichever comes last; the second one may never come.
    child.once('exit', onGone)
    child.once('disconnect', onGone)
  }
}

/** What was sent to it and not replied to. */
function untakenOf(child: ChildProcess): Map<number, Closable> {
  const untaken = new Map<number, Closable>()
  const send = child.send.bind(child)
  const watching = (message: unknown, handle?: SendHandle, ...rest: readonly unknown[]): boolean => {
    if (isRecord(message) && message['act'] === 'newconn' && typeof message['seq'] === 'number')
      if (isClosable(handle)) untaken.set(message['seq'], handle)
    return Reflect.apply(send, child, [message, handle, ...rest]) === true
  }
  Object.assign(child, { send: watching })
  const events: NodeJS.EventEmitter = child
  events.on('internalMessage', (message: unknown) => {
    if (isRecord(message) && typeof message['ack'] === 'number') untaken.delete(message['ack'])
  })
  return untaken
}

function tellNode(child: ChildProcess, message: object): void {
  const events: NodeJS.EventEmitter = child
  events.emit('internalMessage', message)
}

function isClosable(handle: unknown): handle is Closable {
  return isRecord(handle) && typeof handle['close'] === 'function'
}
