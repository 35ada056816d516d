import t from 'tap'
import { availableBytes, heapLimitBytes, heapTooLarge } from '../../src/assembly/process-memory.ts'

const MIB = 1024 ** 2

t.test('a heap that leaves too little memory for everything else is reported with the setting', (t) => {
  for (const [memory, workers, heap, advised] of [
    [256, 1, 256, 128],
    [256, 1, 193, 128],
    [1024, 2, 512, 256],
    [512, 4, 256, 64],
    [1, 8, 256, 1],
  ] as const)
    t.same(
      heapTooLarge(workers, heap * MIB, memory * MIB),
      { memory, heap, processes: workers, set: `NODE_OPTIONS=--max-old-space-size=${advised}` },
      `${memory}`,
    )
  t.end()
})

t.test('the heap limits of the chart, and those of Node.js in a larger container, are not reported', (t) => {
  for (const [memory, workers, heap] of [
    [256, 1, 128],
    [256, 1, 192],
    [512, 1, 256],
    [1024, 2, 256],
    [24_000, 1, 4144],
  ] as const)
    t.equal(heapTooLarge(workers, heap * MIB, memory * MIB), null, `${memory}`)
  t.end()
})

t.test('this process has a heap limit and memory', (t) => {
  t.ok(heapLimitBytes() > 32 * MIB)
  t.ok(availableBytes() > heapLimitBytes() / 4)
  t.end()
})
