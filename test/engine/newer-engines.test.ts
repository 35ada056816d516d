import t from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'
import { seed } from './seed.ts'

const MARY = { authorization: `Basic ${Buffer.from('mary:mary').toString('base64')}` }

t.test('operations that only newer engines have are checked', { skip: javaSkip }, async (t) => {
  const engine = await startEngine({ family: 'operaton' })
  t.teardown(() => engine.stop())
  const { taskId, commentId, reviewInstanceId } = await seed(engine.base)
  const gateway = await startGateway(engine.base)
  t.teardown(() => gateway.drain())
  const message = async () => {
    const { body } = await exchange(engine.base, { method: 'GET', path: `/task/${taskId}/comment` })
    return Array.isArray(body) ? body.map((comment) => String(comment.message)) : []
  }
  for (const [of, path] of [
    ['a task', `/task/${taskId}/comment`],
    ['an instance', `/process-instance/${reviewInstanceId}/comment`],
  ] as const)
    await t.test(`a comment of ${of} is changed only with the permission to work on it`, async (t) => {
      const ask = { method: 'PUT', path, body: { id: commentId, message: `of ${of}` } } as const
      const before = await message()
      t.match(await exchange(gateway.base, ask, MARY), { status: 404, body: { message: /found for/ } })
      t.same(await message(), before)
      t.match(await exchange(gateway.base, ask, gateway.headers), { status: 204 })
      t.same(await message(), [`of ${of}`])
    })
  await t.test('comments are deleted only with the permission', async (t) => {
    for (const path of [
      `/task/${taskId}/comment/${commentId}`,
      `/process-instance/${reviewInstanceId}/comment/${commentId}`,
      `/task/${taskId}/comment`,
      `/process-instance/${reviewInstanceId}/comment`,
    ]) {
      t.match(await exchange(gateway.base, { method: 'DELETE', path }, MARY), { status: 404 })
      t.match(await exchange(gateway.base, { method: 'DELETE', path }, gateway.headers), { status: 204 })
    }
    t.same(await message(), [])
  })
})
