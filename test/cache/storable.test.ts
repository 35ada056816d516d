import t from 'tap'
import { isStorable } from '../../src/cache/storable.ts'
import { answerOf } from '../support/cache-harness.ts'

t.test('what the key tells apart may vary', async (t) => {
  t.ok(isStorable(answerOf('', { vary: 'Accept, Accept-Encoding, Host' })))
  t.notOk(isStorable(answerOf('', { vary: '*' })))
  t.notOk(isStorable(answerOf('', { vary: ['Accept', 'Cookie'] })))
})

t.test('a directive is a whole word', async (t) => {
  t.ok(isStorable(answerOf('', { 'cache-control': 'no-cache, no-transform, x-private=1' })))
  t.notOk(isStorable(answerOf('', { 'cache-control': 'private="x-a, x-b"' })))
  t.notOk(isStorable(answerOf('', { 'cache-control': ['no-cache', 'NO-STORE'] })))
})

t.test('identity is no encoding', async (t) => {
  t.ok(isStorable(answerOf('', { 'content-encoding': 'identity' })))
})
