import t from 'tap'
import { GatewayError } from '../../src/errors.ts'
import { comparisonOf } from '../../src/pipeline/compare-decision.ts'
import { ANONYMOUS } from '../../src/request/principal.ts'

const COMPARED: Parameters<typeof comparisonOf>[0] = {
  engine: { authorization: 'report' as const, decidesItself: true },
  operation: { id: 'getTasks' },
  principal: ANONYMOUS,
  origin: { kind: 'node', node: 'http://engine', body: Buffer.alloc(0) },
  refusal: null,
  reports: [],
}

t.test('only a response of an engine that decides itself is compared', (t) => {
  t.equal(comparisonOf(COMPARED, 403), 'wider')
  for (const other of [
    { engine: { authorization: 'report' as const, decidesItself: false } },
    { engine: { authorization: 'engine' as const, decidesItself: true } },
    { engine: null },
    { operation: null },
    { principal: null },
    { origin: { kind: 'gateway' as const } },
    { refusal: new GatewayError('GW_UPSTREAM_INVALID') },
  ])
    t.equal(comparisonOf({ ...COMPARED, ...other }, 403), null)
  t.end()
})
