import t from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'
import { seed } from './seed.ts'

/** One more than the repeats: each that loses a race has another's commit before it, so the third try of three wins. */
const AT_ONCE = 3
const ROUNDS = 30
const ALL = AT_ONCE * ROUNDS

t.test('transactions that race for one row', { skip: javaSkip, timeout: 120_000 }, async (t) => {
  const engine = await startEngine()
  const gateway = await startGateway(engine.base)
  t.teardown(async () => {
    await gateway.drain()
    await engine.stop()
  })
  await exchange(engine.base, { method: 'POST', path: '/task/create', body: { id: 'raced' } })
  const { externalTaskId } = await seed(engine.base)

  await t.test('where the table allows it, those that lost are sent again', async (t) => {
    const path = `/external-task/${externalTaskId}/priority`
    const atEngine = await race(engine.base, path)
    t.ok(atEngine.lost > 0, `at the engine itself ${atEngine.lost} are told that another was quicker`)
    t.equal(atEngine.won + atEngine.lost, ALL)
    t.same(await race(gateway.base, path, gateway.headers), { won: ALL, lost: 0 })
  })

  await t.test('where listeners run their clients are told, as by the engine', async (t) => {
    const path = '/task/raced/localVariables/b'
    const { won, lost } = await race(gateway.base, path, gateway.headers)
    t.ok(lost > 0, `${lost} of ${ALL}`)
    t.equal(won + lost, ALL)
  })
})

/** How many of all that set one value at the same moment win, and how many are told that another was quicker. */
async function race(base: string, path: string, headers = {}): Promise<{ won: number; lost: number }> {
  let won = 0
  let lost = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const asks = Array.from({ length: AT_ONCE }, (_, value) =>
      exchange(
        base,
        { method: 'PUT', path, body: { value, type: 'Integer', priority: round * AT_ONCE + value } },
        headers,
      ),
    )
    for (const { status, body } of await Promise.all(asks)) {
      if (status === 204) won += 1
      if (status === 500 && isConflict(body)) lost += 1
    }
  }
  return { won, lost }
}

function isConflict(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'code' in body && body.code === 1
}
