import t from 'tap'
import { traceIdOf } from '../../src/request/trace-parent.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

for (const traceparent of [
  `00-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-00`,
  `01-${TRACE}-${SPAN}-01-later`,
])
  t.test(`${traceparent} has a trace id`, async (t) => t.equal(traceIdOf(traceparent), TRACE))

for (const traceparent of [
  undefined,
  '',
  '00-1-2-01',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01x`,
  [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
])
  t.test(`${String(traceparent)} has no trace id`, async (t) => t.equal(traceIdOf(traceparent), null))
