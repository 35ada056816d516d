import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const RECORD = {
  id: 'a1',
  type: 1,
  userId: 'z',
  groupId: null,
  resourceType: 7,
  resourceId: '*',
  permissions: [],
}

const { ask } = await openGateway(t, {
  records: ['grant anna AUTHORIZATION:* READ', 'grant ben AUTHORIZATION:* READ,UPDATE'],
  engine({ url, method }, response) {
    const isMissing = method === 'GET' && url !== `${BASE}/authorization/a1`
    response.writeHead(isMissing ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isMissing ? {} : RECORD))
  },
})

const NOPE = { userId: 'z', resourceType: 7, permissions: ['NOPE'] }

for (const [id, body, status, message] of [
  ['unknown', NOPE, 404, 'Authorization with id unknown does not exist.'],
  ['a1', NOPE, 400, "The permission 'NOPE' is not valid for 'TASK' resource type."],
  [
    'a1',
    { ...NOPE, permissions: ['READ'], groupId: 'g' },
    500,
    "Authorization must either have a 'userId' or a 'groupId'.",
  ],
  ['a1', { userId: 'z', resourceType: 4, permissions: ['ACCESS'] }, 400, /^ENGINE-03087 /],
  ['a1', { userId: 'z' }, 403, /does not have 'UPDATE' permission/],
] as const)
  t.test(
    `without UPDATE, the body ${JSON.stringify(body)} for authorization ${id} gets ${status}`,
    async (t) => {
      const answer = await ask('anna', `PUT /authorization/${id}`, { body })
      t.match(answer, { status, body: { message } })
      t.same(
        answer.forwarded.filter(({ method }) => method === 'PUT'),
        [],
      )
    },
  )

t.test('the engine validates the body of a caller who may update the record', async (t) => {
  for (const id of ['a1', 'unknown']) {
    const { forwarded } = await ask('ben', `PUT /authorization/${id}`, { body: NOPE })
    t.same(
      forwarded.map(({ method }) => method),
      ['PUT'],
    )
  }
})

t.test('a permission that does not exist is refused before READ is checked', async (t) => {
  const path = '/authorization/check?resourceName=x&resourceType=99&userId=z'
  t.match(await ask('nobody', `GET ${path}&permissionName=NOPE`), {
    status: 400,
    body: { message: "The permission 'NOPE' is not valid for 'null' resource type." },
  })
  t.match(await ask('nobody', `GET ${path}&permissionName=READ`), {
    status: 403,
    body: { message: /^You must have READ permission/ },
  })
})
