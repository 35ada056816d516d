import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { GatewayError } from '../../src/errors.ts'
import { auditRecordOf } from '../../src/metrics/audit-log.ts'
import { auditsOf } from '../../src/pipeline/audit.ts'
import { receive, type RequestContext } from '../../src/pipeline/context.ts'

const SETTINGS = { reads: [], logins: false, reasons: false }
const END = { status: 403, durationMs: 1, traceId: null, comparison: null }

/** Returns the audit lines of a refused request. */
function linesOf(prepare: (context: RequestContext) => void): readonly Readonly<Record<string, unknown>>[] {
  const context = receive('r', '127.0.0.1')
  context.stage = 'permit'
  context.refusal = new GatewayError('GW_CHECK_NOT_EXACT')
  prepare(context)
  const request = {
    raw: new IncomingMessage(new Socket()),
    method: 'POST',
    headers: {},
    host: 'gateway',
    url: '/x',
    originalUrl: '/x',
    routeOptions: { config: {}, bodyLimit: 0 },
    params: {},
    context,
  }
  return auditsOf(request, END, SETTINGS).map((audit) => JSON.parse(JSON.stringify(auditRecordOf(audit))))
}

t.test('the audit line of a request by a tool names the tool, without invisible characters', (t) => {
  const lines = linesOf((context) => {
    context.via = { way: 'mcp', tool: 'complete\u202ETask' }
  })
  t.match(lines, [{ via: 'mcp', tool: 'complete\uFFFDTask' }])
  t.end()
})

t.test('the audit line of a request to the API names no way', (t) => {
  const [line = {}] = linesOf(() => undefined)
  t.equal(line['rule'], 'GW_CHECK_NOT_EXACT')
  t.notOk('via' in line || 'tool' in line)
  t.end()
})
