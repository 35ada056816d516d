import t from 'tap'
import {
  createVerificationQueue,
  type VerificationOrigin,
} from '../../../src/policy/authn/verification-queue.ts'

const RENEWAL: VerificationOrigin = { from: 'a', proven: true, inBackground: true }
const PROVEN: VerificationOrigin = { from: 'a', proven: true }
const GUESS: VerificationOrigin = { from: 'a', proven: false }

/** Lets all asynchronous work that can continue do so. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

function open(places: number, maxQueued: number) {
  const queue = createVerificationQueue(places, maxQueued)
  const begun: string[] = []
  const refused: string[] = []
  const ends: (() => void)[] = []
  const add = (name: string, claim: VerificationOrigin) => {
    const work = () => {
      begun.push(name)
      const { promise, resolve } = Promise.withResolvers<void>()
      ends.push(resolve)
      return promise
    }
    queue(work, claim).catch(() => refused.push(name))
  }
  /** Ends the work that began first. */
  const end = async () => {
    ends.shift()?.()
    await settle()
  }
  return { add, begun, refused, end }
}

t.test('work in the background occupies at most half of the places', async (t) => {
  const { add, begun, end } = open(4, 10)
  for (const name of ['r1', 'r2', 'r3']) add(name, RENEWAL)
  t.same(begun, ['r1', 'r2'])
  for (const name of ['g1', 'g2', 'g3']) add(name, GUESS)
  t.same(begun, ['r1', 'r2', 'g1', 'g2'])
  await end()
  t.same(begun.slice(4), ['g3'])
  await end()
  t.same(begun.slice(5), ['r3'])
})

t.test('work in the background begins after all other work', async (t) => {
  const { add, begun, end } = open(1, 10)
  add('first', GUESS)
  add('renewal', RENEWAL)
  add('guess', GUESS)
  add('proven', PROVEN)
  for (let count = 0; count < 4; count += 1) await end()
  t.same(begun, ['first', 'proven', 'guess', 'renewal'])
})

t.test('the only place also serves work in the background', async (t) => {
  const { add, begun, end } = open(1, 1)
  add('one', RENEWAL)
  add('two', RENEWAL)
  t.same(begun, ['one'])
  await end()
  t.same(begun, ['one', 'two'])
})

t.test(
  'a full queue refuses work in the background first, and refuses new work in the background',
  async (t) => {
    const { add, begun, refused, end } = open(1, 2)
    add('first', GUESS)
    add('renewal', RENEWAL)
    add('guess', GUESS)
    add('late renewal', RENEWAL)
    await settle()
    t.same(refused, ['late renewal'])
    add('other guess', { ...GUESS, from: 'b' })
    await settle()
    t.same(refused, ['late renewal', 'renewal'])
    for (let count = 0; count < 3; count += 1) await end()
    t.same(begun, ['first', 'guess', 'other guess'])
  },
)
