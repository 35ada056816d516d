import type { ChildProcess, SendHandle } from 'node:child_process'
import type { Worker } from 'node:cluster'
import type { Logger } from '../log.ts'
import { isRecord } from '../request/value.ts'

interface Closable {
  readonly close: () => void
}

/**
 * Looks after connections that are on their way to a worker. Node keeps one until the worker has replied that it takes
 * it; a worker that is killed before leaves it open for good, and its client waits in vain (with every worker killed
 * under load there was one). The reply that is missing is given here: Node then hands the connection to another worker.
 * The same was reported as https://github.com/nodejs/node-v0.x-archive/issues/7006 and still happens.
 *
 * It speaks Node's own messages (https://github.com/nodejs/node/blob/v24.x/lib/internal/cluster/round_robin_handle.js). Where
 * they have changed nothing is recognized and nothing done, which is said at the level `debug` when a worker listens.
 * Sockets of the workers' own (`listen({ reusePort: true })`) are no replacement: what waits in the queue of a killed worker is lost.
 */
export function createHandOver(log: Pick<Logger, 'debug'>): (worker: Worker) => void {
  const listening = new Set<Worker>()
  return function handOver(worker) {
    const { process: child } = worker
    const { untaken, isRecognized } = watchConnections(child)
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
    worker.on('listening', () => {
      listening.add(worker)
      if (isRecognized()) return
      const { version } = process
      log.debug(
        { version },
        'messages of this Node are not recognized: a killed worker may lose a connection',
      )
    })
    // Whichever comes last; the second one may never come.
    child.once('exit', onGone)
    child.once('disconnect', onGone)
  }
}

/** What was sent to it and not replied to, and whether it speaks as is expected here: it asks for the socket before it listens. */
function watchConnections(child: ChildProcess) {
  let hasAsked = false
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
    if (!isRecord(message)) return
    if (message['cmd'] === 'NODE_CLUSTER' && message['act'] === 'queryServer') hasAsked = true
    if (typeof message['ack'] === 'number') untaken.delete(message['ack'])
  })
  return { untaken, isRecognized: () => hasAsked }
}

function tellNode(child: ChildProcess, message: object): void {
  const events: NodeJS.EventEmitter = child
  events.emit('internalMessage', message)
}

function isClosable(handle: unknown): handle is Closable {
  return isRecord(handle) && typeof handle['close'] === 'function'
}
