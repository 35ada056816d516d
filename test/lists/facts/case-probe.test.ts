import t from 'tap'
import { createCaseProbe } from '../../../src/lists/facts/case-probe.ts'

/** Opens a probe of an engine without cases, whose reads the test ends. */
function open() {
  const clock = { ms: 0 }
  const pending: PromiseWithResolvers<unknown>[] = []
  const caseKeys = createCaseProbe(
    () => {
      const one = Promise.withResolvers<unknown>()
      pending.push(one)
      return one.promise
    },
    () => clock.ms,
  )
  const loadFirst = async () => {
    const first = caseKeys()
    pending.shift()?.resolve({ count: 0 })
    await first
  }
  return { clock, pending, caseKeys, loadFirst }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

t.test('the keys are read again in the background, and no request waits', async (t) => {
  const { clock, pending, caseKeys, loadFirst } = open()
  await loadFirst()
  clock.ms = 1_400
  t.same(await caseKeys(), [])
  t.equal(pending.length, 0)
  clock.ms = 1_401
  for (let count = 0; count < 3; count += 1) t.same(await caseKeys(), [])
  t.equal(pending.length, 1)
  clock.ms = 1_900
  pending.shift()?.resolve({ count: 1 })
  await settle()
  pending.shift()?.resolve([{ key: 'claim' }])
  await settle()
  clock.ms = 2_001
  t.same(await caseKeys(), ['claim'])
  t.equal(pending.length, 0)
  clock.ms = 3_402
  const next = caseKeys()
  t.equal(pending.length, 1, 'the age counts from the beginning of the read')
  pending.shift()?.resolve({ count: 0 })
  await next
})

t.test('a read in the background that fails is not repeated, and the keys keep their time', async (t) => {
  const { clock, pending, caseKeys, loadFirst } = open()
  await loadFirst()
  clock.ms = 1_500
  await caseKeys()
  pending.shift()?.reject(new Error('away'))
  await settle()
  t.same(await caseKeys(), [])
  t.equal(pending.length, 0)
  clock.ms = 2_001
  const failed = caseKeys()
  pending.shift()?.reject(new Error('still away'))
  await t.rejects(failed, { message: 'still away' })
})
