import t from 'tap'
import { heapMiBOf, parseLimits } from '../../src/parsing/parse-limits.ts'

const GiB = 1024 ** 3

t.test('the heap of a thread fits into the free memory, and is at most as large as the main heap', (t) => {
  const cases: readonly (readonly [
    claim: string,
    limit: number,
    used: number,
    mainHeap: number,
    mib: number,
  ])[] = [
    ['a large machine', 32 * GiB, GiB, 4 * GiB, 1024],
    ['a small heap of the main thread', 32 * GiB, GiB, GiB / 2, 512],
    ['a container with little free memory', GiB / 2, GiB / 4, GiB, 192],
    ['no free memory', GiB / 2, GiB / 2, GiB, 128],
    ['no free memory and a small heap', GiB / 2, GiB, GiB / 16, 64],
  ]
  for (const [claim, limit, used, mainHeap, mib] of cases)
    t.equal(heapMiBOf({ limit, used, mainHeap }), mib, claim)
  t.end()
})

t.test('this process has a heap for a thread', (t) => {
  const mib = parseLimits().heapMiB()
  t.ok(Number.isInteger(mib) && mib >= 64 && mib <= 1024, `${mib}`)
  t.end()
})
