import t from 'tap'
import { GatewayError } from '../../src/errors.ts'
import type { EngineRequest, EngineResponse } from '../../src/request/engine-request.ts'
import type { ImportStep } from '../../src/transfer/import-plan.ts'
import { TransferError } from '../../src/transfer/read-list.ts'
import { runImport } from '../../src/transfer/run-import.ts'

const STEPS: readonly ImportStep[] = ['1', '2', '3'].map((id) => ({
  kind: 'remove',
  what: id,
  request: { method: 'DELETE', path: `/authorization/${id}` },
}))

/** Runs the steps. The second one gets the response. */
async function run(second: () => EngineResponse) {
  const sent: EngineRequest[] = []
  const done: string[] = []
  const ask = async (request: EngineRequest) => {
    sent.push(request)
    return sent.length === 2 ? second() : { status: 204, body: Buffer.alloc(0) }
  }
  const result = await runImport(ask, STEPS, ({ what }) => done.push(what))
  return { result, done, sent: sent.map(({ path }) => path) }
}

const throwing = (error: Error) => (): never => {
  throw error
}

t.test('each step is sent once, in order', async (t) => {
  const { result, done, sent } = await run(() => ({ status: 200, body: Buffer.from('{}') }))
  t.same(result, { done: 3, failure: null })
  t.same(done, ['1', '2', '3'])
  t.same(sent, ['/authorization/1', '/authorization/2', '/authorization/3'])
})

t.test(
  'the run ends at the first step that the engine does not execute, and reports its outcome',
  async (t) => {
    const refusal = Buffer.from('{"type":"X","message":"no permission"}')
    const cases = [
      ['a refusal', () => ({ status: 403, body: refusal }), 'refused', '403 no permission'],
      ['an error of the engine', () => ({ status: 500, body: Buffer.from('<html>') }), 'refused', '500'],
      ['a response of a proxy', () => ({ status: 504, body: Buffer.from('') }), 'unknown', '504'],
      ['a redirect', () => ({ status: 302, body: Buffer.from('') }), 'refused', '302'],
      ['no connection', throwing(new GatewayError('GW_NO_NODE')), 'not sent', /No node/],
      ['a lost connection', throwing(new GatewayError('GW_OUTCOME_UNKNOWN')), 'unknown', /unknown/],
      ['a timeout', throwing(new GatewayError('GW_UPSTREAM_TIMEOUT')), 'unknown', /./],
      ['another error', throwing(new Error('x')), 'unknown', 'x'],
      ['the deadline', throwing(new TransferError('late')), 'not sent', 'late'],
    ] as const
    for (const [claim, second, outcome, reason] of cases) {
      const { result, done, sent } = await run(second)
      t.match(result, { done: 1, failure: { outcome, reason } }, claim)
      t.same(done, ['1'], claim)
      t.equal(sent.length, 2, `${claim}: it is sent once, and no later step is sent`)
    }
  },
)
