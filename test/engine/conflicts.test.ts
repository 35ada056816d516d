import t from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'
import { seed } from './seed.ts'

/** One more than the number of retries. A request loses only to the commit of another one, so the third attempt of three succeeds. */
const AT_ONCE = 3
const ROUNDS = 30
const ALL = AT_ONCE * ROUNDS

t.test('concurrent transactions on one row', { skip: javaSkip, timeout: 120_000 }, async (t) => {
  const engine = await startEngine()
  const gateway = await startGateway(engine.base)
  t.teardown(async () => {
    await gateway.drain()
    await engine.stop()
  })
  await exchange(engine.base, { method: 'POST', path: '/task/create', body: { id: 'raced' } })
  const { externalTaskId } = await seed(engine.base)

  await t.test('lost transactions are retried if the table of operations allows it', async (t) => {
    const path = `/external-task/${externalTaskId}/priority`
    const atEngine = await race(engine.base, path)
    t.ok(atEngine.lost > 0, `at the engine itself ${atEngine.lost} are told that another was quicker`)
    t.equal(atEngine.won + atEngine.lost, ALL)
    t.same(await race(gateway.base, path, gateway.headers), { won: ALL, lost: 0 })
  })

  await t.test('a lost transaction of an operation with listeners returns a conflict', async (t) => {
    const path = '/task/raced/localVariables/b'
    const { won, lost } = await race(gateway.base, path, gateway.headers)
    t.ok(lost > 0, `${lost} of ${ALL}`)
    t.equal(won + lost, ALL)
  })
})

/** Sets one value with concurrent requests. Returns how many succeed, and how many get a conflict. */
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
