import { readFileSync } from 'node:fs'
import t from 'tap'
import { CODES } from '../src/errors.ts'

const ROW = /^\| `(GW_[A-Z_]+)` \| (\d{3}) \|/gm

t.test('docs/errors.md lists every error code with its status, and no other code', (t) => {
  const text = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8')
  const told = [...text.matchAll(ROW)].map(([, code, status]) => `${code} ${status}`)
  t.same(
    told.toSorted(),
    Object.entries(CODES)
      .map(([code, [status]]) => `${code} ${status}`)
      .toSorted(),
  )
  t.end()
})
