import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import type { Operation } from '../../../src/operations/table.ts'
import { openGateway } from '../../support/open-gateway.ts'
import { type Decided, watchPermits } from '../../support/watched.ts'

const decided: Decided[] = []

const LONG_VALUE = `a-b.c_${'x'.repeat(249)}`
const BOUNDARY = 'x-boundary-x'
const JSON_BODY = '{"n": 12345678901234567890, "s":"\\u00e9" }'
const FORM_BODY = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="x"\r\n\r\n1.0\r\n--${BOUNDARY}--\r\n`

const gateway = await openGateway(t, {
  engine: (_request, response) => response.setHeader('content-type', 'application/json').end('{"id":"x"}'),
  settings: { validation: { mode: 'off' } },
  wrap: watchPermits(decided),
})

for (const [prefix, remote] of [
  ['', '/engine-rest'],
  ['/engine/second', '/engine-rest/engine/second'],
] as const) {
  t.test(
    `every operation is found below '${prefix}', and the engine receives the authorized request`,
    async (t) => {
      for (const operation of OPERATIONS) {
        const { id, method, template, handler, expressions } = operation
        const { body = '', headers = {} } = bodyOf(operation)
        const path = fill(template, valuesOf(template))
        decided.length = 0
        const ask = body === '' ? {} : { body, headers }
        const { status, forwarded } = await gateway.ask('demo', `${method} ${prefix}${path}`, ask)
        const params = decided[0]?.params ?? {}
        const seen = forwarded.map((one) => [one.method, one.url, one.body.toString()])
        // The expressions of a stored filter are checked before the engine evaluates them.
        const stored =
          expressions === 'checked with filter'
            ? [['GET', remote + path.replace(/\/[a-zA-Z]+$/, ''), '']]
            : []
        const sent = [...stored, [method, remote + path, body]]
        // The gateway answers some operations itself.
        const isOwn = handler === 'engine names' || handler === 'authorization check'
        const expected = isOwn ? { status, seen: [] } : { status: 200, seen: sent }
        t.same({ params, status, seen }, { params: valuesOf(template), ...expected }, id)
      }
    },
  )
}

t.test('a path parameter is passed on with every character that a segment may contain', async (t) => {
  for (const value of ['review:1:a', 'ä b', '100%', "!$&'()*+,=:@~", '€', 'count', '日本', 'A%-z']) {
    decided.length = 0
    const { forwarded } = await gateway.ask('demo', `GET /task/${encodeURIComponent(value)}/variables/v`)
    t.match(decided, [{ params: { id: value, varName: 'v' } }])
    t.same(
      forwarded.map(({ url }) => url),
      [`/engine-rest/task/${encodeURIComponent(value)}/variables/v`],
    )
  }
})

t.test('a literal segment has priority over a parameter, and HEAD uses the operation of GET', async (t) => {
  decided.length = 0
  await gateway.ask('demo', 'GET /task/count')
  const { forwarded } = await gateway.ask('demo', 'HEAD /task/x')
  t.match(decided, [{ template: '/task/count' }, { template: '/task/:id', params: { id: 'x' } }])
  t.match(forwarded, [{ method: 'HEAD', url: '/engine-rest/task/x' }])
})

function valuesOf(template: string): Record<string, string> {
  const names = template.split('/').filter((segment) => segment.startsWith(':'))
  return Object.fromEntries(
    names.map((name, index) => [name.slice(1), `${index}${LONG_VALUE}`.slice(0, 255)]),
  )
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}

function bodyOf({ method, media }: Operation): { body?: string; headers?: Record<string, string> } {
  if (method === 'GET' || method === 'OPTIONS' || method === 'DELETE' || media === 'none') return {}
  if (media !== 'multipart') return { body: JSON_BODY }
  return { body: FORM_BODY, headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` } }
}
