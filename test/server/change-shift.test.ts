import t from 'tap'
import { createLogger } from '../../src/log.ts'
import { changeShift } from '../../src/server/change-shift.ts'
import type { Dependencies } from '../../src/pipeline/dependencies.ts'
import { followShifts } from '../../src/server/known-shifts.ts'
import { type ProcessQuestion, SHIFT } from '../../src/server/questions.ts'
import { createChangeShift } from '../../src/server/shift-shares.ts'
import { openGateway } from '../support/open-gateway.ts'

const groups = ['old', 'new'].map((group, at) => ({ url: `http://127.0.0.1:${at + 1}/engine-rest`, group }))
const { dependencies } = await openGateway(t, {
  engines: { default: { nodes: groups, shift: { to: 'new', reads: '10%' } } },
})
const change = (given: unknown) => changeShift(dependencies, given)
const BEGIN = {
  engine: 'default',
  to: 'new',
  from: 'old',
  reads: 0.1,
  writes: 0,
  returned: null,
  finding: null,
  refused: null,
  revision: 0,
  shared: null,
}

t.test('without shares, the current ones are reported', async (t) => {
  for (const given of [undefined, null, {}, { engine: 'default' }]) t.same(await change(given), BEGIN)
})

t.test('a change that is not valid changes nothing', async (t) => {
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
    t.type(Object(await change(given)).problem, 'string', JSON.stringify(given))
  t.same(await change({}), BEGIN)
})

t.test('each share changes alone', async (t) => {
  t.same(await change({ writes: '2.5%' }), { ...BEGIN, writes: 0.025, revision: 1 })
  t.same(await change({ reads: '100%' }), { ...BEGIN, reads: 1, writes: 0.025, revision: 2 })
  t.same(await change({ reads: '0%', writes: '0%' }), { ...BEGIN, reads: 0, revision: 3 })
})

t.test('a group that is refused gets no shares, and can lose them', async (t) => {
  const engine = dependencies.engines.get('default')
  const shift = engine?.shift ?? null
  if (engine === undefined || shift === null) throw new Error('there are no groups')
  const refused = { ...engine, shift: { ...shift, refusal: () => 'old', recheck: async () => 'old' } }
  const ask = (given: unknown) =>
    changeShift({ ...dependencies, engines: new Map([['default', refused]]) }, given)
  t.same(await ask({ reads: '5%' }), { problem: 'old' })
  t.same(await ask({ reads: '0%', writes: '0%' }), { ...BEGIN, reads: 0, refused: 'old', revision: 4 })
  t.same(await ask({}), { ...BEGIN, reads: 0, refused: 'old', revision: 4 })
})

/** Returns the answers of several processes to a question of the admin listener. */
function answersOf(
  question: ProcessQuestion<unknown>,
  gateways: readonly Dependencies[],
  given: unknown,
): Promise<readonly unknown[]> {
  return Promise.all(
    gateways.map(async (gateway) =>
      question.name === 'shares' ? followShifts(gateway.engines, given) : await changeShift(gateway, given),
    ),
  )
}

t.test('of several processes, one changes the shares and all have the same revision', async (t) => {
  const settings = { engines: { default: { nodes: groups, shift: { to: 'new', reads: '10%' } } } }
  const all = await Promise.all([1, 2, 3].map(async () => (await openGateway(t, settings)).dependencies))
  const [, second] = all
  const ask = createChangeShift({
    processes: {
      askEach: async (question, given) => (await answersOf(question, all, given)).filter(question.isAnswer),
      askOne: async (question, given) =>
        (await answersOf(question, all.slice(0, 1), given)).find(question.isAnswer) ?? null,
      configured: 3,
    },
    log: createLogger({ level: 'silent' }),
  })
  // The second process has returned its requests alone.
  const alone = second?.engines.get('default')?.shift
  const zero = { shares: { reads: 0, writes: 0 }, returned: 'errors', revision: 4 } as const
  alone?.follow({ ...alone.lastChange(), state: zero })
  t.match(await ask({ writes: '50%' }), { status: 200, value: { reads: 0, writes: 0.5, revision: 5 } })
  const states = all.map(({ engines }) => engines.get('default')?.shift?.state())
  t.same(
    states,
    Array.from({ length: 3 }, () => ({ shares: { reads: 0, writes: 0.5 }, returned: null, revision: 5 })),
  )
  t.match(await ask({ reads: '200%' }), { status: 400 })
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
