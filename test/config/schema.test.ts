import { readFile } from 'node:fs/promises'
import t from 'tap'
import { valuesSchema } from '../../helm/schema.ts'
import { configJsonSchema } from '../../src/config/config.ts'

t.test('the JSON schema of the configuration in the repository equals the schema in the code', async (t) => {
  const written: unknown = JSON.parse(
    await readFile(new URL('../../config/gateway.schema.json', import.meta.url), 'utf8'),
  )
  t.same(written, configJsonSchema(), 'npm run schema writes it anew')
})

t.test('the schema of the chart in the repository contains the schema of the configuration', async (t) => {
  const file = new URL('../../helm/engine-gateway/values.schema.json', import.meta.url)
  const written: unknown = JSON.parse(await readFile(file, 'utf8'))
  t.same(written, valuesSchema(), 'npm run schema writes it anew')
})

t.test('the schema allows a URL to be or contain a variable', async (t) => {
  const urls: string[] = []
  JSON.stringify(configJsonSchema(), (_, value: unknown) => {
    if (/URL/.test(textAt(value, 'title')) && textAt(value, 'type') === 'string')
      urls.push(textAt(value, 'pattern'))
    return value
  })
  t.ok(urls.length >= 4)
  for (const pattern of urls.map((one) => new RegExp(one))) {
    for (const url of ['http://a:8080/b', '${URL}', 'http://${HOST}:8080/b']) t.match(url, pattern)
    t.notMatch('engine:8080', pattern)
  }
})

function textAt(value: unknown, name: string): string {
  const found = Object.entries(Object(value)).find(([key]) => key === name)?.[1]
  return typeof found === 'string' ? found : ''
}
