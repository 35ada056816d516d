import t from 'tap'
import { parse } from 'yaml'
import { EXAMPLES, exampleOf } from '../../docs/configuration/examples.ts'
import { referenceKeys } from '../../docs/configuration/generate.ts'
import { writeCertificates } from '../support/certificates.ts'
import { problemsIn } from '../support/config-file.ts'

const SECRET = Buffer.alloc(64, 'example').toString('base64')
const ENVIRONMENT = {
  ADMIN_TOKEN: SECRET,
  AUDIT_KEY: SECRET,
  READ_TOKEN: `${SECRET} to read`.replaceAll(' ', '-'),
  COLLECTOR_TOKEN: SECRET,
  ENGINE_PASSWORD: SECRET,
  ENGINE_SECRET: SECRET,
  REDIS_PASSWORD: SECRET,
  SENTINEL_PASSWORD: SECRET,
  SESSION_SECRET: SECRET,
  SIGNING_KEY: SECRET,
}

t.test('each document of the examples is a valid configuration', (t) => {
  t.ok(EXAMPLES.length > 3)
  const files = writeCertificates(t)
  for (const { text } of EXAMPLES) {
    const own = text
      .replaceAll(/tls\/(?:clients|engines|redis|web)\.pem/g, files['ca.crt'])
      .replaceAll(/tls\/\w+\.pem/g, files['server.crt'])
      .replaceAll(/tls\/\w+\.key/g, files['server.key'])
    t.same(problemsIn(t, own, ENVIRONMENT), [], text)
  }
  t.end()
})

t.test('each key of the reference has an example', (t) => {
  const keys = referenceKeys()
  t.ok(keys.length > 213)
  t.same(
    keys.filter((key) => exampleOf(key) === null),
    [],
  )
  t.end()
})

t.test('an example is short, and begins with the last name of its key', (t) => {
  for (const key of referenceKeys()) {
    const example = exampleOf(key) ?? ''
    t.doesNotThrow(() => parse(example), example)
    t.ok(example.length <= 200, `${key}: ${example.length} characters`)
    t.equal(example.split(':')[0], key.split('.').at(-1)?.replace('[]', ''), key)
  }
  t.end()
})
