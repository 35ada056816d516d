import t, { type Test } from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { type RealGateway, startGateway } from './gateway.ts'
import { seed } from './seed.ts'

const SECRET = Buffer.alloc(32, 7).toString('base64')
const MARY = { authorization: `Basic ${Buffer.from('mary:mary').toString('base64')}` }

/** Returns the users that the engine stores for a comment (demo), a started instance and a claimed task (mary). */
async function authorsOf(t: Test, { base, headers: demo }: RealGateway, taskId: string) {
  const post = async (path: string, body: object, headers: Readonly<Record<string, string>>) => {
    const claims = { ...headers, 'context-user-id': 'somebody' }
    const answer = await exchange(base, { method: 'POST', path, body }, claims)
    t.ok(answer.status < 300, `${path}: ${answer.status}`)
    return Object(answer.body)
  }
  const comment = await post(`/task/${taskId}/comment/create`, { message: 'seen' }, demo)
  const { id } = await post('/process-definition/key/review/start', {}, MARY)
  await post(`/task/${taskId}/claim`, { userId: 'mary' }, MARY)
  const read = async (path: string) => Object((await exchange(base, { method: 'GET', path }, demo)).body)
  const instance = await read(`/history/process-instance/${id}`)
  const [entry] = await read(`/history/user-operation?taskId=${taskId}&operationType=Claim`)
  return [comment.userId, instance.startUserId, entry?.userId]
}

void t.test(
  'an engine that takes the caller from a header stores the user',
  { skip: javaSkip },
  async (t) => {
    for (const [what, args, credentials, expected] of [
      ['without', [], '', [null, null, undefined]],
      ['plain', ['--gateway.user-header=Context-User-ID'], '{ header: Context-User-ID }', 'mary'],
      [
        'signed',
        ['--gateway.user-header=Authorization', `--gateway.user-secret=${SECRET}`],
        `{ header: Authorization, sign: { secret: ${SECRET} } }`,
        'mary',
      ],
    ] as const) {
      const engine = await startEngine({ args })
      const extra = credentials === '' ? '' : `, credentials: ${credentials}`
      const gateway = await startGateway(engine.base, extra)
      try {
        const { taskId } = await seed(engine.base, {})
        const wanted = expected === 'mary' ? ['demo', 'mary', 'mary'] : expected
        t.same(await authorsOf(t, gateway, taskId), wanted, what)
        if (what === 'signed') {
          const forged = { authorization: 'Bearer e30.e30.e30' }
          const { status } = await exchange(engine.base, { method: 'GET', path: '/task' }, forged)
          t.equal(status, 401, 'the engine looks at the signature')
        }
      } finally {
        await gateway.drain()
        await engine.stop()
      }
    }
  },
)
