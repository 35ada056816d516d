import t from 'tap'
import { isStorable } from '../../src/cache/storable.ts'
import { answerOf } from '../support/cache-harness.ts'

t.test('a response is storable if it varies only by parts of the cache key', async (t) => {
  t.ok(isStorable(answerOf('', { vary: 'Accept, Accept-Encoding, Host' })))
  t.notOk(isStorable(answerOf('', { vary: '*' })))
  t.notOk(isStorable(answerOf('', { vary: ['Accept', 'Cookie'] })))
})

t.test('a directive of Cache-Control is matched as a whole word', async (t) => {
  t.ok(isStorable(answerOf('', { 'cache-control': 'no-cache, no-transform, x-private=1' })))
  t.notOk(isStorable(answerOf('', { 'cache-control': 'private="x-a, x-b"' })))
  t.notOk(isStorable(answerOf('', { 'cache-control': ['no-cache', 'NO-STORE'] })))
})

t.test('the content encoding identity does not count as an encoding', async (t) => {
  t.ok(isStorable(answerOf('', { 'content-encoding': 'identity' })))
})
