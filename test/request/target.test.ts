import t from 'tap'
import { namedTargetOf, withoutParameter } from '../../src/request/target.ts'

const BASE = '/engine-rest'

t.test('the name of an engine is removed from its paths', async (t) => {
  const below = [
    ['/task', '/task'],
    ['/task?a=/b', '/task?a=/b'],
    ['/engine/other/task', '/engine/other/task'],
    ['/engine/', '/engine/'],
  ] as const
  for (const [path, rest] of below)
    t.same(
      namedTargetOf(`${BASE}/engine/one${path}`, BASE),
      { engine: 'one', target: BASE + rest },
      `below the engine: ${path}`,
    )
})

t.test('the name of an engine is read as the engine reads it', async (t) => {
  t.match(namedTargetOf(`${BASE}/engine/%6Fne/task`, BASE), { engine: 'one' })
  t.match(namedTargetOf(`${BASE}/engine/a;b/task`, BASE), { engine: 'a;b' })
})

t.test('the list of engines is not available below the name of an engine', async (t) => {
  for (const list of ['/engine', '/engine?a=b'])
    t.same(namedTargetOf(`${BASE}/engine/one${list}`, BASE), {
      engine: 'one',
      target: `${BASE}/engine/one${list}`,
    })
})

t.test('other targets name no engine', async (t) => {
  const targets = [
    `${BASE}/task`,
    `${BASE}/engine`,
    `${BASE}/engine/one`,
    `${BASE}/engine/one/`,
    `${BASE}/engine/one?a=/task`,
    `${BASE}/engine//task`,
    `${BASE}/engine/%zz/task`,
    `${BASE}/%65ngine/one/task`,
    `${BASE}x/engine/one/task`,
    '/engine/one/task',
  ]
  for (const target of targets) t.equal(namedTargetOf(target, BASE), null, target)
})

t.test('a parameter is removed in every spelling, and all others stay', async (t) => {
  for (const [search, rest] of [
    ['?a=1', ''],
    ['', ''],
    ['?a=1&b=%20&%61=2&c', '?b=%20&c'],
    ['?aa=1&?a=2', '?aa=1&?a=2'],
    ['?a', ''],
  ] as const)
    t.equal(withoutParameter(search, 'a'), rest, search)
})
