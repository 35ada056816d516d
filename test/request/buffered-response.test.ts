import t from 'tap'
import { releaseBody } from '../../src/request/buffered-response.ts'

t.test('a body releases its own memory, and keeps memory that it shares', async (t) => {
  const own = Buffer.allocUnsafeSlow(8192).fill('a')
  const memory = own.buffer
  releaseBody({ body: own })
  t.equal(own.length, 0)
  t.equal(memory.byteLength, 0)
  const shared = Buffer.from(new ArrayBuffer(16), 4, 8).fill('b')
  releaseBody({ body: shared })
  t.equal(shared.toString(), 'bbbbbbbb')
  const empty = Buffer.alloc(0)
  releaseBody({ body: empty })
  releaseBody({ body: empty })
  t.equal(empty.length, 0)
})
