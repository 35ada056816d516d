import t from 'tap'
import type { Told } from '../engine/readers/wire.ts'
import { reasonOf } from './documented.ts'

const request = { method: 'POST', target: '/task', contentType: null, accept: null, body: Buffer.from('{}') }

function told(status: number, type = 'RestException', code?: string): Told {
  const own = code === undefined ? {} : { 'x-gateway-error': code }
  return {
    status,
    headers: { 'content-type': 'application/json', ...own },
    bytes: Buffer.from(JSON.stringify({ type })),
  }
}

t.test('responses are equal if they have the same status, and errors the same type', (t) => {
  t.equal(reasonOf({ request, engine: told(200, 'a'), gateway: told(200, 'b') }), 'equal')
  t.equal(reasonOf({ request, engine: told(404), gateway: told(404) }), 'equal')
  t.equal(reasonOf({ request, engine: told(404), gateway: told(404, 'NotFoundException') }), null)
  t.equal(reasonOf({ request, engine: told(200), gateway: told(204) }), null)
  t.end()
})

t.test('a refusal of a request that the engine accepts is unexplained, unless it is a hazard', (t) => {
  for (const code of [
    'GW_INVALID_BODY',
    'GW_INVALID_QUERY',
    'GW_BAD_JSON',
    'GW_BAD_TARGET',
    'GW_ITEMS_NOT_EXACT',
  ])
    t.equal(
      reasonOf({ request, engine: told(200), gateway: told(400, 'InvalidRequestException', code) }),
      null,
      code,
    )
  t.equal(reasonOf({ request, engine: told(200), gateway: told(400, '', 'GW_HAZARD') }), 'a hazard')
  t.equal(reasonOf({ request, engine: told(404), gateway: told(400, '', 'GW_INVALID_BODY') }), null)
  t.end()
})

t.test('a response on one side alone is unexplained', (t) => {
  t.equal(reasonOf({ request, engine: null, gateway: told(200) }), null)
  t.equal(reasonOf({ request, engine: told(200), gateway: null }), null)
  t.match(reasonOf({ request, engine: null, gateway: null }), /^equal/)
  t.end()
})
