import t from 'tap'
import { openGateway, type Seen } from '../../support/open-gateway.ts'

const { ask } = await openGateway(t, {
  records: ['grant mary PROCESS_INSTANCE:i1 READ', 'grant mary TASK:* READ', 'revoke mary TASK:t9 READ'],
  settings: { authorization: { tenants: 'ignore', records: { source: 'file', file: 'records.yaml' } } },
  engine: ({ url, body }, response) => {
    const isUnknownSort = String(body).includes('nosuch')
    response.writeHead(isUnknownSort ? 400 : 200, { 'content-type': 'application/json', vary: 'Accept' })
    response.end(isUnknownSort ? '{"message":"bad sort"}' : url.includes('/count') ? '{"count":2}' : '[]')
  },
})

/** Members that mean nothing for a count. */
const BODY = {
  sorting: [{ sortBy: 'caseInstanceId', sortOrder: 'asc' }],
  withTaskVariablesInReturn: true,
  firstResult: 1,
}

function listsIn(forwarded: readonly Seen[], list: string): readonly Seen[] {
  return forwarded.filter(({ url }) => url.startsWith(`/engine-rest${list}?`))
}

for (const list of ['/task', '/variable-instance'])
  t.test(`members of a list do not reach ${list} if it answers a count`, async (t) => {
    const { status, headers, forwarded } = await ask('mary', `POST ${list}/count`, {
      body: { ...BODY, a: 1 },
    })
    t.equal(status, 200)
    t.equal(headers['vary'], undefined, 'a count has one form')
    const lists = listsIn(forwarded, list)
    t.ok(lists.length > 0, 'the list is read')
    for (const { body } of lists) t.same(JSON.parse(String(body)).sorting ?? null, null)
    for (const { body, url } of lists) {
      t.notMatch(String(body), /InReturn|firstResult/)
      if (list === '/variable-instance') t.match(url, /deserializeValues=false/)
    }
  })

t.test('the engine validates these members with the count', async (t) => {
  const body = { sorting: [{ sortBy: 'nosuch', sortOrder: 'asc' }] }
  const { status, forwarded } = await ask('mary', 'POST /variable-instance/count', { body })
  t.equal(status, 400)
  t.same(listsIn(forwarded, '/variable-instance'), [])
})
