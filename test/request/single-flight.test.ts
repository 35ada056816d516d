import t from 'tap'
import { oneAfterAnother, SingleFlight } from '../../src/request/single-flight.ts'

/** Returns a call that ends when the test ends it. */
function createCall() {
  let end: ((value: string) => void) | undefined
  const promise = new Promise<string>((resolve) => {
    end = resolve
  })
  return { call: () => promise, resolve: (value: string) => end?.(value) }
}

t.test('a call is found while it runs, and not afterwards', async (t) => {
  const flights = new SingleFlight<string>()
  const { call, resolve } = createCall()
  const result = flights.begin('a', null, call)
  t.equal(flights.running('a')?.result, result)
  t.equal(flights.running('b'), undefined)
  resolve('done')
  t.equal(await result, 'done')
  t.equal(flights.running('a'), undefined)
})

t.test('a call that fails is not found afterwards', async (t) => {
  const flights = new SingleFlight<string>()
  await t.rejects(
    flights.begin('a', null, () => Promise.reject(new Error('no'))),
    { message: 'no' },
  )
  t.equal(flights.running('a'), undefined)
})

t.test('the end of a replaced call does not remove its replacement', async (t) => {
  const flights = new SingleFlight<string, number>()
  const [first, second] = [createCall(), createCall()]
  const old = flights.begin('a', 1, first.call)
  void flights.begin('a', 2, second.call)
  first.resolve('old')
  t.equal(await old, 'old')
  t.equal(flights.running('a')?.state, 2)
})

t.test('an abandoned call ends for its waiting callers, and is no longer found', async (t) => {
  const flights = new SingleFlight<string, number>()
  const { call, resolve } = createCall()
  const result = flights.begin('a', 1, call)
  void flights.begin('b', 2, call)
  t.same(
    flights.abandon((state) => state === 1),
    [1],
  )
  t.equal(flights.running('a'), undefined)
  t.equal(flights.running('b')?.state, 2)
  resolve('late')
  t.equal(await result, 'late')
})

t.test('callers during a run share the next run, which begins after it', async (t) => {
  const calls = [createCall(), createCall()]
  const begun: string[] = []
  const run = oneAfterAnother((name: string) => calls[begun.push(name) - 1]?.call() ?? Promise.resolve(''))
  const [first, second, third] = [run('first'), run('second'), run('third')]
  t.equal(second, third)
  t.same(begun, ['first'])
  calls[0]?.resolve('1')
  t.equal(await first, '1')
  calls[1]?.resolve('2')
  t.equal(await third, '2')
  t.same(begun, ['first', 'second'])
})

t.test('a failed run does not delay the next one', async (t) => {
  let count = 0
  const run = oneAfterAnother(async () => {
    count += 1
    if (count === 1) throw new Error('no')
    return count
  })
  const [first, second] = [run(), run()]
  await t.rejects(first, { message: 'no' })
  t.equal(await second, 2)
})
