import t from 'tap'
import { isEmptyList, lockedTasksIn, pollRefusalOf } from '../../../src/proxy/long-polls/poll-response.ts'

function answer(status: number, value: unknown) {
  return { status, headers: {}, body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)) }
}

t.test('the two refusals of an engine are recognized by status and message', (t) => {
  const full =
    'At the moment the server has to handle too many requests at the same time. Please try again later.'
  const stopping = 'Request rejected due to shutdown of application server.'
  t.equal(pollRefusalOf(answer(500, { type: 'InvalidRequestException', message: full, code: null })), 'full')
  t.equal(pollRefusalOf(answer(500, { type: 'RestException', message: stopping, code: null })), 'stopping')
  t.equal(pollRefusalOf(answer(200, { message: full })), null)
  t.equal(pollRefusalOf(answer(500, { message: 'null' })), null)
  t.end()
})

t.test('locked tasks keep the worker and the lock expiration time that the engine wrote', (t) => {
  const lock = { workerId: 'w', lockExpirationTime: '2026-11-21T19:37:25.268+0000' }
  t.same(lockedTasksIn(answer(200, [{ id: 'a', ...lock, priority: 0 }, { id: 'b' }])), [
    { id: 'a', ...lock },
    { id: 'b', workerId: null, lockExpirationTime: null },
  ])
  t.end()
})

t.test('an invalid item of a list does not hide the tasks next to it', (t) => {
  for (const odd of [1, null, 'x', [], { id: 2 }, {}])
    t.match(lockedTasksIn(answer(200, [odd, { id: 'a' }])), [{ id: 'a' }])
  t.end()
})

t.test('a body that is not a list of tasks contains no tasks', (t) => {
  for (const value of ['', 'x', '{}', 'null', [1, null, { id: 2 }]])
    t.same(lockedTasksIn(answer(200, value)), [])
  t.same(lockedTasksIn(answer(500, [{ id: 'a' }])), [])
  t.end()
})

t.test('only an empty list with status 200 counts as empty', (t) => {
  t.ok(isEmptyList(answer(200, ' [ ]\n')))
  t.notOk(isEmptyList(answer(200, '[{}]')))
  t.notOk(isEmptyList(answer(500, '[]')))
  t.end()
})
