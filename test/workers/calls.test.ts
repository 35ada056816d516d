import t from 'tap'
import { createCalls, CallError } from '../../src/workers/calls.ts'
import type { MessageToWorker } from '../../src/workers/worker-messages.ts'

function open() {
  const sent: MessageToWorker[] = []
  return { sent, calls: createCalls((message) => void sent.push(message)) }
}

t.test('responses may arrive in any order, and each resolves its own call', async (t) => {
  const { sent, calls } = open()
  const first = calls.ask('metrics', null, 5000)
  const second = calls.ask('explain', { user: 'mary' }, 5000)
  t.same(sent, [
    { type: 'ask', id: 1, topic: 'metrics', value: null },
    { type: 'ask', id: 2, topic: 'explain', value: { user: 'mary' } },
  ])
  calls.onResult({ type: 'answer', id: 2, value: 'two' })
  calls.onResult({ type: 'answer', id: 1, value: 'one' })
  t.same(await Promise.all([first, second]), ['one', 'two'])
})

t.test('a failure in the other process rejects the call', async (t) => {
  const { calls } = open()
  const asked = calls.ask('explain', null, 5000)
  calls.onResult({ type: 'failure', id: 1, problem: 'the engine is away' })
  await t.rejects(asked, { message: 'the engine is away' })
})

t.test('a call times out, and a late response is ignored', async (t) => {
  const { calls } = open()
  await t.rejects(calls.ask('readiness', null, 5), new CallError('did not respond within 5 ms'))
  t.doesNotThrow(() => calls.onResult({ type: 'answer', id: 1, value: 'late' }))
})

t.test('a response that arrives while this process is blocked is in time', async (t) => {
  const { calls } = open()
  const asked = calls.ask('readiness', null, 1)
  // Simulates the channel, which is read after the timer of the timeout fires.
  setTimeout(() => calls.onResult({ type: 'answer', id: 1, value: 'in time' }), 1)
  const start = performance.now()
  while (performance.now() - start < 20);
  t.equal(await asked, 'in time')
})

t.test('when the other process exits, pending and new calls are rejected', async (t) => {
  const { sent, calls } = open()
  const asked = calls.ask('metrics', null, 5000)
  calls.end()
  await t.rejects(asked, new CallError('has exited'))
  await t.rejects(calls.ask('metrics', null, 5000), new CallError('has exited'))
  t.equal(sent.length, 1)
})
