import t from 'tap'
import { countsIn, problemsIn, readToPrimary, readToWorker } from '../../src/workers/worker-messages.ts'

t.test('a worker reads each message as it was sent', async (t) => {
  const config = { version: 1, engines: {}, listen: {} }
  for (const message of [
    { type: 'begin', config },
    { type: 'ask', id: 1, topic: 'explain', value: { user: 'mary' } },
    { type: 'drain' },
    { type: 'last-connection' },
  ])
    t.same(readToWorker(message), message)
})

t.test('messages to the primary are read as sent', async (t) => {
  for (const message of [
    { type: 'up' },
    { type: 'listening' },
    { type: 'draining' },
    { type: 'answer', id: 1, value: null },
    { type: 'failure', id: 1, problem: 'no' },
  ])
    t.same(readToPrimary(message), message)
})

t.test('an invalid message is read as null', async (t) => {
  const strange = [
    null,
    'drain',
    7,
    {},
    [],
    { type: 'begin' },
    { type: 'begin', config: { version: 2, engines: {}, listen: {} } },
    { type: 'ask', id: '1', topic: 'explain' },
    { type: 'ask', id: 1, topic: 'toString' },
    { type: 'answer', id: null },
    { type: 'failure', id: 1 },
    { type: '@prometheus-io/client:announcement' },
  ]
  for (const message of strange) {
    t.equal(readToWorker(message), null)
    t.equal(readToPrimary(message), null)
  }
})

t.test('an invalid response is rejected', async (t) => {
  t.same(problemsIn([]), [])
  t.same(problemsIn(['listen: no']), ['listen: no'])
  for (const value of [null, undefined, {}, [1]]) t.equal(problemsIn(value).length, 1)
})

t.test('counts are read only if both are numbers', async (t) => {
  t.same(countsIn({ open: 1, ended: 2, other: 3 }), { open: 1, ended: 2 })
  for (const value of [null, 7, [], {}, { open: 1 }, { ended: 2 }, { open: 1, ended: '2' }])
    t.equal(countsIn(value), null)
})
