import { parseArgs } from 'node:util'
import t from 'tap'
import { ArgumentError, chosenOf, numberOf, problemOf, usageOf } from '../../bench/arguments.ts'

const NAMES = ['read', 'write', 'cached, from memory', 'cached, from Redis']

t.test('a list chooses the names that contain one of its texts, in their order', async (t) => {
  t.same(chosenOf('', NAMES), NAMES)
  t.same(chosenOf('cached,read', NAMES), ['read', 'cached, from memory', 'cached, from Redis'])
  t.same(chosenOf('Redis', NAMES), ['cached, from Redis'])
})

t.test('a text that is in no name is an error', async (t) => {
  for (const list of ['lists', 'read,lists', 'read,', ',', 'Read'])
    t.throws(() => chosenOf(list, NAMES), /there is no "/, list)
})

t.test('a number below the least one, or a text, is an error', async (t) => {
  t.same([numberOf('rounds', '3'), numberOf('seconds', '1.5'), numberOf('idle', '0', 0)], [3, 1.5, 0])
  for (const text of ['0', '-1', '', ' ', 'three', 'Infinity', '1,2'])
    t.throws(() => numberOf('rounds', text), /must be a number of at least 1/, text)
})

async function parseUnknown(): Promise<unknown> {
  return parseArgs({ args: ['--hepl'], options: {} })
}

t.test('a wrong argument is reported without a stack, and other errors are not', async (t) => {
  const unknown = await parseUnknown().catch((error: unknown) => error)
  t.match(problemOf(unknown), /Unknown option '--hepl'/)
  t.equal(problemOf(new ArgumentError('no')), 'no')
  t.equal(problemOf(new Error('failed')), null)
  t.equal(
    usageOf('bench/run.ts', { quick: { type: 'boolean' }, only: { type: 'string' } }),
    'usage: node bench/run.ts [--quick] [--only ONLY]',
  )
})
