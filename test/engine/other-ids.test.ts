import t from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'

const PASSWORD = 'other-ids'

/** The engine reads a user by the id of the path, and stores what it has read, including the password, under the id of the body. */
t.test('a user’s own profile cannot overwrite another user', { skip: javaSkip }, async (t) => {
  const engine = await startEngine()
  const gateway = await startGateway(engine.base)
  t.teardown(async () => {
    await gateway.drain()
    await engine.stop()
  })
  for (const id of ['mary', 'victim']) {
    const credentials = { password: `${PASSWORD}-${id}` }
    const profile = { id, firstName: id, lastName: 'B' }
    const made = await exchange(engine.base, {
      method: 'POST',
      path: '/user/create',
      body: { profile, credentials },
    })
    t.equal(made.status, 204)
  }
  const isPasswordOf = async (username: string, owner: string): Promise<unknown> => {
    const body = { username, password: `${PASSWORD}-${owner}` }
    return (await exchange(engine.base, { method: 'POST', path: '/identity/verify', body })).body
  }
  const written = { id: 'victim', firstName: 'M', lastName: 'B' }
  const put = { method: 'PUT', path: '/user/mary/profile' } as const

  const refused = await exchange(gateway.base, { ...put, body: written }, headersOf('mary'))
  t.equal(refused.status, 403)
  t.match(refused.body, {
    type: 'AuthorizationException',
    message: "The user with id 'mary' does not have 'UPDATE' permission on resource 'victim' of type 'User'.",
  })
  t.match(await isPasswordOf('victim', 'victim'), { authenticated: true })

  const own = await exchange(gateway.base, { ...put, body: { ...written, id: 'mary' } }, headersOf('mary'))
  t.equal(own.status, 204)
  // Gives both users the same revision, because the engine overwrites only an entity of the same revision.
  const again = { method: 'PUT', path: '/user/victim/profile', body: written } as const
  t.equal((await exchange(engine.base, again)).status, 204)

  t.equal((await exchange(engine.base, { ...put, body: written })).status, 204, 'at the engine it is written')
  t.match(await isPasswordOf('victim', 'mary'), { authenticated: true }, 'with the password')
})

function headersOf(user: string): Readonly<Record<string, string>> {
  return { authorization: `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}` }
}
