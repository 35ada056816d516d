import t, { type Test } from 'tap'
import { ConfigError } from '../../src/config/config.ts'
import { configOf } from '../support/open-gateway.ts'

const ENDPOINT = 'http://collector:4318'

function problemsWith(t: Test, traces: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    configOf(t, 'http://node', { settings: { traces: { endpoint: ENDPOINT, ...traces } } })
    return []
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [String(error)]
  }
}

t.test('without the section traces no traces are exported', async (t) => {
  t.equal(configOf(t, 'http://node').traces, null)
})

t.test('an endpoint is a sufficient trace setting', async (t) => {
  t.same(configOf(t, 'http://node', { settings: { traces: { endpoint: ENDPOINT } } }).traces, {
    endpoint: ENDPOINT,
    headers: {},
    sampleRatio: 0.1,
    trustParent: false,
    serviceName: 'engine-gateway',
    queue: 4096,
    timeout: 5000,
  })
})

t.test('the trace endpoint is refused if it contains /v1/traces or credentials', async (t) => {
  const problemOf = (endpoint: string) => problemsWith(t, { endpoint }).join('\n')
  t.equal(problemOf('https://collector/otlp/'), '')
  t.match(
    problemOf('http://collector:4318/v1/traces'),
    'traces.endpoint: leave out /v1/traces: the gateway adds it',
  )
  t.match(
    problemOf('http://me:secret@collector'),
    /^traces\.endpoint: the URL must not contain a user or password.*`traces\.headers`$/,
  )
  t.match(problemOf('collector:4317'), 'traces.endpoint: an http:// or https:// URL is needed')
})

t.test('only headers that an export may have are accepted', async (t) => {
  t.same(problemsWith(t, { headers: { 'x-api-key': 'a b', authorization: 'Bearer x' } }), [])
  for (const name of ['Content-Type', 'content-length', 'Host', 'a b', ''])
    t.match(problemsWith(t, { headers: { [name]: 'x' } }).join('\n'), /^traces\.headers/, name)
  t.match(
    problemsWith(t, { headers: { a: 'x\r\ny: z' } }).join('\n'),
    'traces.headers.a: up to 8,192 ASCII characters',
  )
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`x-${index}`, '']))
  t.match(problemsWith(t, { headers: many }).join('\n'), 'traces.headers: at most 16 headers are permitted')
})

t.test('unknown trace keys and values out of bounds are refused', async (t) => {
  t.match(problemsWith(t, { sampleRate: 1 }).join('\n'), /traces\.sampleRate: .*sampleRatio/)
  t.match(
    problemsWith(t, { sampleRatio: '200%' }).join('\n'),
    'traces.sampleRatio: a share from 0% to 100% is needed, for example 25%',
  )
  t.match(problemsWith(t, { queue: 1 }).join('\n'), 'traces.queue: a whole number from 16 to 65536 is needed')
})
