import { readFile } from 'node:fs/promises'
import t from 'tap'
import { configJsonSchema } from '../../src/config/config.ts'

t.test("the configuration's JSON schema in the repository is the code's", async (t) => {
  const written: unknown = JSON.parse(
    await readFile(new URL('../../config/gateway.schema.json', import.meta.url), 'utf8'),
  )
  t.same(written, configJsonSchema(), 'npm run schema writes it anew')
})
