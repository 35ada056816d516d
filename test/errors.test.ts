import { readFileSync } from 'node:fs'
import t from 'tap'
import { operatorText, CODES, EngineRefusal, GatewayError } from '../src/errors.ts'

const ROW = /^\| `(GW_[A-Z_]+)` \| (\d{3}) \|/gm

t.test('docs/errors.md lists every error code with its status, and no other code', (t) => {
  const text = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8')
  const told = [...text.matchAll(ROW)].map(([, code, status]) => `${code} ${status}`)
  t.same(
    told.toSorted(),
    Object.entries(CODES)
      .map(([code, [status]]) => `${code} ${status}`)
      .toSorted(),
  )
  t.end()
})

t.test('a refusal with a denial reason is a copy that gives the same response', (t) => {
  const denialReason = { rule: operatorText`check 0`, missing: [] }
  const headers = { 'x-a': 'b' }
  for (const refusal of [
    new GatewayError('GW_CHECK_NOT_EXACT'),
    new GatewayError('GW_OVERLOADED', {
      message: operatorText`m`,
      cause: 'c',
      rule: operatorText`r`,
      retryAfterSeconds: 1,
      headers,
    }),
    new EngineRefusal({ status: 204, reason: operatorText`r` }),
    new EngineRefusal({ status: 404, reason: operatorText`r`, body: { message: 'm' }, headers }),
  ]) {
    const denied = refusal.withDenialReason(denialReason)
    t.equal(denied.constructor, refusal.constructor)
    t.same(membersOf(denied), { ...membersOf(refusal), denialReason })
    t.equal(refusal.denialReason, null)
  }
  t.end()
})

function membersOf(refusal: GatewayError | EngineRefusal): object {
  const { message, cause, ...members } = {
    message: refusal.message,
    cause: refusal.cause,
    ...Object.fromEntries(Object.entries(refusal)),
  }
  return { message, cause, ...members }
}

t.test('a refusal of the engine collects no stack, and other errors do', (t) => {
  const refusal = new EngineRefusal({ status: 403, reason: operatorText`no permission` })
  t.notMatch(refusal.stack, /\n +at /)
  t.match(new Error('other').stack, /\n +at /)
  t.end()
})
