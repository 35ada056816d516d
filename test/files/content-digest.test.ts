import { hash } from 'node:crypto'
import t from 'tap'
import { contentDigestOf } from '../../src/files/content-digest.ts'

const MiB = 1024 ** 2

t.test('the digest is the SHA-256 of the whole content', async (t) => {
  for (const length of [0, 1, MiB - 1, MiB, MiB + 1, 2 * MiB + 7]) {
    const content = Buffer.alloc(length, 'abcdefg')
    t.equal(await contentDigestOf(content), hash('sha256', content), `${length} bytes`)
  }
})

t.test('a long content is hashed in pieces, and other work is done between them', async (t) => {
  const content = Buffer.alloc(8 * MiB)
  const digest = contentDigestOf(content)
  // Only the first piece is hashed before the first pause. Only this test changes a content during the work.
  content.fill(1, MiB)
  const expected = hash('sha256', content)
  setImmediate(() => content.fill(2, 0, MiB))
  t.equal(await digest, expected)
  t.equal(content[0], 2)
})
