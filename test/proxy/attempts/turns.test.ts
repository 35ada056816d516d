import t from 'tap'
import { Node } from 'yallist'
import { Turns } from '../../../src/proxy/attempts/turns.ts'

interface Item {
  readonly name: string
  readonly user?: string
}

function turnsOf(...names: readonly string[]) {
  const turns = new Turns<Item>()
  const places = new Map<string, Node<Item>>()
  const add = (name: string) => {
    const user = name.replaceAll(/\d/g, '')
    const place = new Node<Item>(user === 'own' ? { name } : { name, user })
    places.set(name, place)
    turns.add(place)
  }
  names.forEach(add)
  /** Removes a request whose client has disconnected. */
  const leave = (name: string) => {
    const place = places.get(name)
    if (place !== undefined) turns.delete(place)
  }
  /** Starts the next request. */
  const next = (): string => {
    const [item] = turns.inOrder()
    if (item === undefined) return ''
    turns.onStarted(item)
    leave(item.name)
    return item.name
  }
  return {
    turns,
    add,
    leave,
    next,
    all: () => Array.from({ length: 10 }, next).filter((name) => name !== ''),
  }
}

t.test('users take turns, and the requests of each keep their order', (t) => {
  t.same(turnsOf('a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1').all(), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  t.end()
})

t.test('a user who had a turn comes after the users who wait', (t) => {
  const { next, add } = turnsOf('a1', 'b1', 'c1')
  t.equal(next(), 'a1')
  add('a2')
  t.same([next(), next(), next()], ['b1', 'c1', 'a2'])
  t.end()
})

t.test('a user without a request is forgotten, and then comes after the users who wait', (t) => {
  const { all, add, leave } = turnsOf('a1', 'a2', 'b1', 'c1')
  leave('a1')
  leave('a2')
  leave('a1')
  add('a3')
  t.same(all(), ['b1', 'c1', 'a3'])
  t.end()
})

t.test('requests of the gateway itself alternate with the requests of users', (t) => {
  t.same(turnsOf('a1', 'b1', 'c1', 'own1', 'own2').all(), ['own1', 'a1', 'own2', 'b1', 'c1'])
  t.end()
})

t.test('a full queue replaces the newest request of the user with the most requests', (t) => {
  const { turns } = turnsOf('a1', 'b1', 'b2', 'b3')
  t.equal(turns.replaceableBy({ name: 'c1', user: 'c' })?.name, 'b3')
  t.equal(turns.replaceableBy({ name: 'a2', user: 'a' })?.name, 'b3')
  t.equal(turns.replaceableBy({ name: 'own1' })?.name, 'b3')
  t.equal(turns.replaceableBy({ name: 'b4', user: 'b' }), null)
  t.equal(turnsOf('a1', 'b1').turns.replaceableBy({ name: 'c1', user: 'c' }), null, 'all have one')
  t.equal(turnsOf('a1', 'b1', 'b2').turns.replaceableBy({ name: 'a2', user: 'a' }), null)
  t.end()
})
