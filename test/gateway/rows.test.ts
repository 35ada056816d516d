import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { Operation } from '../../src/operations/table.ts'
import type { Parts } from '../../src/parts.ts'
import type { Asked } from '../../src/policy/asked.ts'
import { openGateway } from './open-gateway.ts'

/** What the permits were asked about, in the order of the requests. */
const authorized: Asked['params'][] = []

/** Permits that let everybody do everything, and write down for what they were asked. */
function watchPermits(parts: Parts): Parts {
  const permit = {
    before: ({ params }: Asked) => {
      authorized.push(params)
      return { permitted: true as const }
    },
    after: null,
    rows: null,
    keepOffers: null,
    answerCheck: async () => ({}),
  }
  const engines = [...parts.engines].map(
    ([name, engine]) =>
      [
        name,
        {
          ...engine,
          permits: new Map(OPERATIONS.map((operation) => [operation.id, { ...permit, operation }])),
        },
      ] as const,
  )
  return { ...parts, engines: new Map(engines) }
}

/** Answered by the gateway itself. */
const UNFORWARDED = new Set(['engine-names', 'authorization-check'])
const LONG_VALUE = `a-b.c_${'x'.repeat(249)}`
const BOUNDARY = 'x-boundary-x'
const JSON_BODY = '{"n": 12345678901234567890, "s":"\\u00e9" }'
const FORM_BODY = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="x"\r\n\r\n1.0\r\n--${BOUNDARY}--\r\n`

const gateway = await openGateway(t, {
  engine: (_request, response) => response.setHeader('content-type', 'application/json').end('{"id":"x"}'),
  settings: { validation: { mode: 'off' } },
  wrap: watchPermits,
})

for (const [prefix, remote] of [
  ['', '/engine-rest'],
  ['/engine/second', '/engine-rest/engine/second'],
] as const) {
  t.test(`every row is found below '${prefix}', and the engine gets what was authorized`, async (t) => {
    for (const operation of OPERATIONS) {
      const { method, template, answer } = operation
      const values = valuesOf(template)
      authorized.length = 0
      const { status, forwarded } = await gateway.ask(
        'demo',
        `${method} ${prefix}${fill(template, values)}`,
        {
          ...bodyOf(operation),
        },
      )
      t.equal(status, 200, operation.id)
      const [asked = {}] = authorized
      t.match(asked, values, `${operation.id} was authorized for its own parameters`)
      if (answer !== undefined && UNFORWARDED.has(answer)) continue
      t.equal(forwarded.length, 1)
      t.match(forwarded[0], { method, url: remote + fill(template, asked) }, operation.id)
      t.equal(forwarded[0]?.body.toString(), bodyOf(operation).body ?? '', `${operation.id} got its bytes`)
    }
  })
}

t.test('a parameter comes through in whatever characters a segment may hold', async (t) => {
  for (const value of ['review:1:a', 'ä b', '100%', "!$&'()*+,=:@~", '€', 'count', '日本', 'A%-z']) {
    authorized.length = 0
    const { forwarded } = await gateway.ask('demo', `GET /task/${encodeURIComponent(value)}/variables/v`)
    t.same(authorized, [{ id: value, varName: 'v' }])
    t.same(
      forwarded.map(({ url }) => url),
      [`/engine-rest/task/${encodeURIComponent(value)}/variables/v`],
    )
  }
})

t.test('a literal wins over a parameter, and HEAD runs the row of GET', async (t) => {
  authorized.length = 0
  await gateway.ask('demo', 'GET /task/count')
  const { forwarded } = await gateway.ask('demo', 'HEAD /task/x')
  t.same(authorized, [{}, { id: 'x' }])
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
  if (method === 'GET' || method === 'OPTIONS' || method === 'DELETE') return {}
  if (media !== 'multipart') return { body: JSON_BODY }
  return { body: FORM_BODY, headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` } }
}
