import { EventEmitter } from 'node:events'
import type { Worker } from 'node:cluster'
import t from 'tap'
import { createHandOver } from '../../src/workers/hand-over.ts'

/** A worker that sends such messages to the primary before it listens; what was said of it. */
function saidOf(...messages: readonly object[]): readonly unknown[] {
  const said: unknown[] = []
  const child = Object.assign(new EventEmitter(), { connected: true, send: () => true })
  const worker = Object.assign(new EventEmitter(), { process: child })
  const handOver: (worker: Worker) => void = createHandOver({
    debug: (...line: unknown[]) => said.push(line),
  })
  Reflect.apply(handOver, null, [worker])
  for (const message of messages) child.emit('internalMessage', message)
  worker.emit('listening')
  return said
}

t.test('where Node speaks another way between processes, that is said', async (t) => {
  t.same(saidOf({ cmd: 'NODE_CLUSTER', act: 'queryServer', seq: 1 }), [])
  t.match(saidOf({ cmd: 'NODE_OTHER' }), [[{ version: process.version }, /not recognized/]])
})
