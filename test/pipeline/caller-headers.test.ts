import t from 'tap'
import { callerHeadersOf } from '../../src/pipeline/caller-headers.ts'

type Context = Parameters<typeof callerHeadersOf>[1]
type Request = Parameters<typeof callerHeadersOf>[2]

function headersFor(userId: string, credentials: object) {
  const context = {
    engine: { requestPolicy: { credentials, host: 'client' }, forwarded: 'none' },
    accessRequest: { principal: { userId, groups: [], tenants: [] } },
  }
  const request = { raw: { rawHeaders: ['Accept', 'a/b'] } }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- callerHeadersOf reads only these members
  return callerHeadersOf({ publicAddress: () => null }, context as unknown as Context, request as Request)
}

t.test('a user id that a plain header cannot carry is refused, and not sent in an altered form', (t) => {
  const plain = { header: 'context-user-id' }
  for (const id of ['mary', 'a b', 'jürgen'.normalize('NFKD').replace(/[^ -~]/g, ''), '!~'])
    t.equal(headersFor(id, plain)['context-user-id'], id)
  for (const id of ['jürgen', ' mary', 'mary ', 'a\tb', 'a\r\nb', 'a\u0000', '名'])
    t.throws(() => headersFor(id, plain), { code: 'GW_USER_NOT_TOLD', statusCode: 403 }, id)
  const sign = { secret: 'x', algorithm: 'HS256', lifetime: 1000 }
  t.equal(headersFor('jürgen', { header: 'x-user', sign })['x-user'], 'jürgen', 'a token can')
  t.end()
})
