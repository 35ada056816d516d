import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { openGateway } from '../../support/open-gateway.ts'

const { ask } = await openGateway(t, {
  settings: { authorization: { mode: 'off', records: { source: 'file', file: 'records.yaml' } } },
  engine: (_request, response) => response.writeHead(204).end(),
})
const BODIES = [
  ['application/x-www-form-urlencoded', 'a=b'],
  ['application/json', '{x'],
  ['text/plain', 'hello'],
  ['multipart/form-data', '--'],
] as const

t.test('an operation that takes no body is sent without one, whatever the client sent', async (t) => {
  for (const { method, template } of OPERATIONS.filter(({ media }) => media === 'none')) {
    const route = `${method} ${template.replace(/:\w+/g, 'x')}`
    for (const [type, body] of BODIES) {
      const headers = { 'content-type': type, 'content-encoding': 'x-unknown' }
      const { status, forwarded } = await ask('demo', route, { headers, body })
      t.equal(status, 204, `${route} ${type}`)
      const [seen] = forwarded
      t.match(
        seen,
        { body: { length: 0 }, headers: { 'content-type': undefined, 'content-encoding': undefined } },
        route,
      )
    }
  }
})

t.test('an operation that takes a body refuses other content types', async (t) => {
  const { status, forwarded } = await ask('demo', 'POST /task/x/claim', {
    headers: { 'content-type': 'text/plain' },
    body: 'hello',
  })
  t.equal(status, 415)
  t.same(forwarded, [])
})
