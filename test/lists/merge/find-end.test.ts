import t from 'tap'
import { findEnd } from '../../../src/lists/merge/find-end.ts'

/** Searches for the end of a list of this length. Items before `known` need not be read. */
async function look(length: number, ending: Parameters<typeof findEnd>[1]) {
  const reads: number[] = []
  const lengthAt = async (from: number, size: number) => {
    reads.push(from)
    return Math.max(0, Math.min(size, length - from))
  }
  return { found: await findEnd(lengthAt, ending), reads }
}

t.test('the end is found at every position and from every first guess', async (t) => {
  for (const length of [0, 1, 9, 10, 11, 99, 100, 101, 12_345])
    for (const likely of [0, 1, 10, 90, 100, 110, 50_000]) {
      const { found, reads } = await look(length, { known: 0, likely, size: 10 })
      t.equal(found, length, `${length} near ${likely}`)
      t.ok(reads.length <= 30, `${reads.length} reads`)
      t.equal(new Set(reads).size, reads.length, 'no place is read twice')
    }
})

t.test('one read is sufficient if the first guess is near the end', async (t) => {
  t.same((await look(2000, { known: 0, likely: 1800, size: 1000 })).reads, [1800])
})

t.test('known items are not read', async (t) => {
  for (const length of [200, 201, 1200, 1201, 9000]) {
    const { found, reads } = await look(length, { known: 200, likely: 200, size: 1000 })
    t.equal(found, length)
    t.ok(reads.every((from) => from >= 200))
  }
})
