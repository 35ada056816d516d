import t from 'tap'
import { errors } from 'undici'
import { GatewayError } from '../../../src/errors.ts'
import {
  endedByOf,
  failureOf,
  faultOf,
  isStaleConnection,
  isUnsent,
} from '../../../src/proxy/wire/failure.ts'

const coded = (code: string): Error => Object.assign(new Error(code), { code })
const reset = new errors.SocketError('other side closed')

// cause, whether the request was sent, status of the response head, fault, error code for a read, error code for a write
const CASES: [string, Error, boolean, number, string, string, string][] = [
  ['refused', coded('ECONNREFUSED'), false, 0, 'refused', 'GW_NO_NODE', 'GW_NO_NODE'],
  ['unknown name', coded('ENOTFOUND'), false, 0, 'refused', 'GW_NO_NODE', 'GW_NO_NODE'],
  [
    'no connection in time',
    new errors.ConnectTimeoutError(),
    false,
    0,
    'timeout',
    'GW_NO_NODE',
    'GW_NO_NODE',
  ],
  ['reset while connecting', coded('ECONNRESET'), false, 0, 'refused', 'GW_NO_NODE', 'GW_NO_NODE'],
  [
    'no head in time',
    new errors.HeadersTimeoutError(),
    true,
    0,
    'timeout',
    'GW_UPSTREAM_TIMEOUT',
    'GW_UPSTREAM_TIMEOUT',
  ],
  [
    'no rest in time',
    new errors.BodyTimeoutError(),
    true,
    200,
    'timeout',
    'GW_UPSTREAM_TIMEOUT',
    'GW_UPSTREAM_TIMEOUT',
  ],
  ['closed', reset, true, 0, 'reset', 'GW_UPSTREAM_FAILED', 'GW_OUTCOME_UNKNOWN'],
  ['reset', coded('ECONNRESET'), true, 0, 'reset', 'GW_UPSTREAM_FAILED', 'GW_OUTCOME_UNKNOWN'],
  ['broken pipe', coded('EPIPE'), true, 0, 'reset', 'GW_UPSTREAM_FAILED', 'GW_OUTCOME_UNKNOWN'],
  ['an error without a code', new Error('x'), true, 0, 'reset', 'GW_UPSTREAM_FAILED', 'GW_OUTCOME_UNKNOWN'],
  [
    'short answer',
    new errors.ResponseContentLengthMismatchError(),
    true,
    200,
    'reset',
    'GW_UPSTREAM_FAILED',
    'GW_OUTCOME_UNKNOWN',
  ],
  [
    'ambiguous framing',
    new errors.ResponseContentLengthMismatchError(),
    true,
    0,
    'invalid',
    'GW_UPSTREAM_INVALID',
    'GW_UPSTREAM_INVALID',
  ],
  ['no HTTP', new errors.HTTPParserError(), true, 0, 'invalid', 'GW_UPSTREAM_INVALID', 'GW_UPSTREAM_INVALID'],
  [
    'head too large',
    new errors.HeadersOverflowError(),
    true,
    0,
    'invalid',
    'GW_UPSTREAM_INVALID',
    'GW_UPSTREAM_INVALID',
  ],
  [
    'unwritable head',
    coded('ERR_INVALID_CHAR'),
    true,
    200,
    'invalid',
    'GW_UPSTREAM_INVALID',
    'GW_UPSTREAM_INVALID',
  ],
]
for (const [what, cause, sent, status, fault, read, write] of CASES) {
  t.test(`${what}: the fault is ${fault}, and a write fails with ${write}`, (t) => {
    t.equal(faultOf(cause, { sent, status }), fault)
    t.match(failureOf(cause, { sent, status, repeatable: true }), { code: read, cause })
    t.match(failureOf(cause, { sent, status, repeatable: false }), { code: write, cause })
    t.end()
  })
}

const GONE = [coded('ECONNRESET'), coded('EPIPE'), coded('ETIMEDOUT'), coded('HPE_INVALID_CONSTANT')]
for (const cause of GONE) {
  t.test(
    `${cause.message} of a keep-alive connection before a byte was written is not a fault of the node`,
    (t) => {
      const progress = { sent: false, status: 0, isReused: true }
      t.equal(faultOf(cause, progress), 'reset')
      t.ok(isStaleConnection(cause, progress))
      t.notOk(isStaleConnection(cause, { ...progress, isReused: false }))
      t.match(failureOf(cause, { ...progress, repeatable: false }), { code: 'GW_NO_NODE', cause })
      t.end()
    },
  )
}

t.test('a keep-alive connection is stale only after a break, and only before the response', (t) => {
  const kept = { sent: true, status: 0, isReused: true }
  t.ok(isStaleConnection(reset, kept))
  t.notOk(isStaleConnection(reset, { ...kept, status: 200 }))
  t.notOk(isStaleConnection(new errors.HeadersTimeoutError(), kept))
  t.notOk(isStaleConnection(new GatewayError('GW_OVERLOADED'), { ...kept, sent: false }))
  t.notOk(isStaleConnection(new errors.ClientDestroyedError(), { ...kept, sent: false }))
  t.end()
})

function secondsOf(cause: Error, sent: boolean): number | null {
  return failureOf(cause, { sent, status: 0, repeatable: true }).retryAfterSeconds
}

t.test('only an unreachable node causes a Retry-After', (t) => {
  t.equal(secondsOf(coded('ECONNREFUSED'), false), 1)
  t.equal(secondsOf(reset, true), null)
  t.end()
})

t.test('an error of the gateway is the fault invalid if the request was sent, and timeout if not', (t) => {
  const cause = new GatewayError('GW_UPSTREAM_INVALID')
  for (const isReused of [false, true]) {
    t.equal(faultOf(cause, { sent: true, status: 200, isReused }), 'invalid')
    t.equal(faultOf(cause, { sent: false, status: 0, isReused }), 'timeout')
  }
  t.end()
})

t.test('an error of the gateway itself is kept unchanged', (t) => {
  const ours = new GatewayError('GW_OVERLOADED')
  t.equal(failureOf(ours, { sent: false, status: 0, repeatable: false }), ours)
  t.end()
})

t.test('a closed upstream is draining, and a request that undici refuses is an internal error', (t) => {
  const progress = { sent: false, status: 0, repeatable: true }
  t.match(failureOf(new errors.ClientClosedError(), progress), { code: 'GW_DRAINING' })
  t.match(failureOf(new errors.ClientDestroyedError(), progress), { code: 'GW_DRAINING' })
  t.match(failureOf(new errors.InvalidArgumentError(), progress), { code: 'GW_INTERNAL' })
  t.end()
})

t.test('an error code proves that nothing was sent only if no connection was established', (t) => {
  t.ok(isUnsent(coded('ECONNREFUSED')))
  t.ok(isUnsent(new errors.ConnectTimeoutError()))
  t.notOk(isUnsent(coded('ECONNRESET')))
  t.notOk(isUnsent(reset))
  t.notOk(isUnsent(null))
  t.end()
})

t.test(
  'the end of a failed attempt is attributed to its client, the gateway, a stale connection or the node',
  async (t) => {
    const attempt = { sent: true, status: 0, isReused: false, isCancelled: false }
    t.equal(endedByOf(reset, attempt), 'node')
    t.equal(endedByOf(reset, { ...attempt, isReused: true }), 'stale')
    t.equal(endedByOf(reset, { ...attempt, isReused: true, status: 200 }), 'node')
    t.equal(endedByOf(new GatewayError('GW_UPSTREAM_TIMEOUT'), attempt), 'gateway')
    t.equal(endedByOf(new GatewayError('GW_OVERLOADED'), { ...attempt, sent: false }), 'gateway')
    t.equal(endedByOf(new errors.HeadersTimeoutError(), attempt), 'node')
    for (const isReused of [true, false])
      for (const sent of [true, false]) {
        const gone = { sent, status: 0, isReused, isCancelled: true }
        t.equal(endedByOf(new errors.RequestAbortedError(), gone), 'client')
      }
  },
)
