import { readFile } from 'node:fs/promises'
import t from 'tap'
import { valuesSchema } from '../../helm/schema.ts'
import { configJsonSchema } from '../../src/config/config.ts'

t.test("the configuration's JSON schema in the repository is the code's", async (t) => {
  const written: unknown = JSON.parse(
    await readFile(new URL('../../config/gateway.schema.json', import.meta.url), 'utf8'),
  )
  t.same(written, configJsonSchema(), 'npm run schema writes it anew')
})

t.test("the chart's schema in the repository has that of the configuration", async (t) => {
  const file = new URL('../../helm/engine-gateway/values.schema.json', import.meta.url)
  const written: unknown = JSON.parse(await readFile(file, 'utf8'))
  t.same(written, valuesSchema(), 'npm run schema writes it anew')
})
