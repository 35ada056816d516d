import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'

const { ask } = await openGateway(t, { records: ['grant ben AUTHORIZATION:* READ'] })

const question = (permission: string, type: number, user: string) =>
  `GET /authorization/check?permissionName=${permission}&resourceName=X&resourceType=${type}&userId=${user}`

const issuer = { name: 'company', issuer: 'https://login.example', audience: ['gateway'] }

t.test('a user who is in no source may change their own profile only if tokens are accepted', async (t) => {
  const identity = { source: 'file', file: 'users.yaml' }
  for (const [tokens, authorized] of [
    [null, false],
    [{ issuers: [issuer] }, true],
  ] as const) {
    const gateway = await openGateway(t, { settings: { identity: { ...identity, tokens } } })
    const answer = await gateway.ask('demo', `${question('UPDATE', 1, 'zoe')}&resourceId=zoe`)
    t.match(answer, { status: 200, body: { authorized } })
  }
})

/** As Camunda 7.22 responds. */
t.test(
  'a name that is no permission of the resource type is refused before the caller needs one',
  async (t) => {
    const { status, body } = await ask('mary', question('NOSUCH', 7, 'anna'))
    t.equal(status, 400)
    t.match(body, { message: "The permission 'NOSUCH' is not valid for 'TASK' resource type." })
  },
)

t.test('a caller who may not read authorizations learns nothing about another user', async (t) => {
  for (const permission of ['READ', 'ACCESS']) {
    const { status, body } = await ask('mary', question(permission, 2, 'anna'))
    t.equal(status, 403)
    t.match(body, { message: 'You must have READ permission for Authorization resource.' })
  }
  t.match(await ask('ben', question('READ', 2, 'anna')), { status: 200, body: { authorized: false } })
  t.match(await ask('ben', question('ACCESS', 2, 'anna')), { status: 400 })
})
