import t from 'tap'
import { createLogger } from '../../src/log.ts'
import { changeShift } from '../../src/server/change-shift.ts'
import { SHIFT } from '../../src/server/questions.ts'
import { createChangeShift } from '../../src/server/shift-shares.ts'
import { openGateway } from '../support/open-gateway.ts'

const groups = ['old', 'new'].map((group, at) => ({ url: `http://127.0.0.1:${at + 1}/engine-rest`, group }))
const { dependencies } = await openGateway(t, {
  engines: { default: { nodes: groups, shift: { to: 'new', reads: '10%' } } },
})
const change = (given: unknown) => changeShift(dependencies.engines, given)
const BEGIN = { engine: 'default', to: 'new', from: 'old', reads: 0.1, writes: 0, returned: null }

t.test('without shares, the current ones are reported', (t) => {
  for (const given of [undefined, null, {}, { engine: 'default' }]) t.same(change(given), BEGIN)
  t.end()
})

t.test('a change that is not valid changes nothing', (t) => {
  for (const given of [
    { engine: 'second', reads: '1%' },
    { engine: 'nosuch', reads: '1%' },
    { engine: 1, reads: '1%' },
    { reads: '101%' },
    { reads: '-1%' },
    { reads: '5' },
    { reads: 0.5 },
    { reads: null },
    { writes: '' },
    { reads: '${SHARE}' },
    { reads: '1%', polls: '1%' },
    ['1%'],
    '1%',
  ])
    t.type(Object(change(given)).problem, 'string', JSON.stringify(given))
  t.same(change({}), BEGIN)
  t.end()
})

t.test('each share changes alone', (t) => {
  t.same(change({ writes: '2.5%' }), { ...BEGIN, writes: 0.025 })
  t.same(change({ reads: '100%' }), { ...BEGIN, reads: 1, writes: 0.025 })
  t.same(change({ reads: '0%', writes: '0%' }), { ...BEGIN, reads: 0 })
  t.end()
})

/** Returns the response if two processes are configured and give these answers. */
const reportOf = (answers: readonly unknown[]) =>
  createChangeShift({
    processes: {
      askEach: async ({ isAnswer }) => answers.filter(isAnswer),
      askOne: async () => null,
      configured: 2,
    },
    log: createLogger({ level: 'info', destination: { write: () => undefined } }),
  })({})

t.test('a change that one process did not answer is a 503, and one that is not valid is a 400', async (t) => {
  t.match(await reportOf([BEGIN]), {
    status: 503,
    value: { error: 'Only 1 of 2 processes responded', reads: 0.1 },
  })
  t.match(await reportOf([]), { status: 503, value: { error: 'Only 0 of 2 processes responded' } })
  t.match(await reportOf([{ problem: 'no' }, { problem: 'no' }]), { status: 400, value: { error: 'no' } })
  t.match(await reportOf([BEGIN, { ...BEGIN, reads: 0, returned: 'errors' }]), {
    status: 200,
    value: { reads: 0, returned: 'errors' },
  })
  for (const value of [null, {}, { reads: '1' }, { problem: 1 }]) t.notOk(SHIFT.isAnswer(value))
})
