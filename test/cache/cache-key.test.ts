import t from 'tap'
import { cacheKeyOf, sortedQueryOf } from '../../src/cache/cache-key.ts'

const parts = {
  engine: 'default',
  template: '/process-definition/:id/xml',
  params: { id: 'invoice:1:7' },
  query: '',
  accept: 'application/json',
}

t.test('each part of a request makes a different key', async (t) => {
  const keys = [
    cacheKeyOf(parts),
    cacheKeyOf({ ...parts, engine: 'orders' }),
    cacheKeyOf({ ...parts, template: '/process-definition/:id/diagram' }),
    cacheKeyOf({ ...parts, params: { id: 'invoice:1:8' } }),
    cacheKeyOf({ ...parts, query: 'a=1' }),
    cacheKeyOf({ ...parts, accept: undefined }),
    cacheKeyOf({ ...parts, accept: 'undefined' }),
  ]
  t.equal(new Set(keys).size, keys.length)
})

t.test('one parameter value cannot imitate two values', async (t) => {
  const one = cacheKeyOf({ ...parts, template: '/t/:a/:b', params: { a: 'x","b":"y', b: '' } })
  const other = cacheKeyOf({ ...parts, template: '/t/:a/:b', params: { a: 'x', b: 'y' } })
  t.not(one, other)
})

t.test('a key ignores the order of different parameters and keeps that of equal names', async (t) => {
  t.equal(sortedQueryOf('b=2&a=1'), sortedQueryOf('a=1&b=2'))
  t.not(sortedQueryOf('a=1&a=2'), sortedQueryOf('a=2&a=1'))
  t.equal(sortedQueryOf('b&a=2&a=1'), 'a=2&a=1&b')
})

t.test('a name that has two spellings keeps its order, because the engine reads the first', async (t) => {
  t.not(sortedQueryOf('%61=1&a=2'), sortedQueryOf('a=2&%61=1'))
})
