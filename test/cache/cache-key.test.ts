import t from 'tap'
import { keyOf, sortedQueryOf } from '../../src/cache/cache-key.ts'

const parts = {
  engine: 'default',
  template: '/process-definition/:id/xml',
  params: { id: 'invoice:1:7' },
  query: '',
  accept: 'application/json',
}

t.test('each part tells keys apart', async (t) => {
  const keys = [
    keyOf(parts),
    keyOf({ ...parts, engine: 'orders' }),
    keyOf({ ...parts, template: '/process-definition/:id/diagram' }),
    keyOf({ ...parts, params: { id: 'invoice:1:8' } }),
    keyOf({ ...parts, query: 'a=1' }),
    keyOf({ ...parts, accept: undefined }),
    keyOf({ ...parts, accept: 'undefined' }),
  ]
  t.equal(new Set(keys).size, keys.length)
})

t.test('no value can pose as two', async (t) => {
  const one = keyOf({ ...parts, template: '/t/:a/:b', params: { a: 'x","b":"y', b: '' } })
  const other = keyOf({ ...parts, template: '/t/:a/:b', params: { a: 'x', b: 'y' } })
  t.not(one, other)
})

t.test('the order of parameters does not matter, that of one parameter does', async (t) => {
  t.equal(sortedQueryOf('b=2&a=1'), sortedQueryOf('a=1&b=2'))
  t.not(sortedQueryOf('a=1&a=2'), sortedQueryOf('a=2&a=1'))
  t.equal(sortedQueryOf('b&a=2&a=1'), 'a=2&a=1&b')
})

t.test('a name that could be spelt in two ways keeps the order: the engine takes the first', async (t) => {
  t.not(sortedQueryOf('%61=1&a=2'), sortedQueryOf('a=2&%61=1'))
})
