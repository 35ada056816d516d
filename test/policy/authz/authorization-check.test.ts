import t from 'tap'
import { answerAuthorizationCheck } from '../../../src/policy/authz/authorization-check.ts'
import { queryOf } from '../../../src/request/canonical.ts'
import { recordsOf } from '../../support/record-lines.ts'

const records = recordsOf(['grant anna TASK:* READ'])
const NO_IMPLIED = {
  implicitGrants: null,
  impliesIdentity: false,
  lookUp: async () => null,
  principalOf: async () => null,
}
const principal = { userId: 'anna', groups: [], tenants: [] }

/** The answer to a query, or the status, message and type of its refusal. */
async function answered(query: string, from = records): Promise<unknown> {
  const asked = { principal, params: {}, query: queryOf(`/?${query}`), body: undefined }
  try {
    return await answerAuthorizationCheck(asked, { ...NO_IMPLIED, records: from, groupsOf: async () => [] })
  } catch (error) {
    const { statusCode, body } = Object(error)
    return [statusCode, body.message, body.type]
  }
}

const named = (type: string) => `permissionName=READ&resourceName=Task&resourceType=${type}`
const other = (permission: string, type: number, from = records) =>
  answered(`permissionName=${permission}&resourceName=X&resourceType=${type}`, from)
const notFound = [404, 'HTTP 404 Not Found', 'QueryParamException']
const none = (name: string) => [400, `Query parameter '${name}' cannot be null`, 'InvalidRequestException']
const bad = (message: string) => [400, message, 'BadUserRequestException']

/** As Camunda 7.22 answers. */
t.test('the type of a resource is read as Java reads an integer', async (t) => {
  for (const type of ['7', '%2B7', '007', '%D9%A7'])
    t.match(await answered(named(type)), { resourceName: 'Task', authorized: true }, type)
  for (const type of ['x', '+7', '7.0', '2147483648', '%20'])
    t.same(await answered(named(type)), notFound, type)
  t.same(await answered(named('')), none('resourceType'))
  t.same(await answered('resourceType=x'), notFound, 'before anything else is looked at')
  t.same(await answered('resourceType=7'), none('permissionName'))
  t.same(await answered('permissionName=READ&resourceType=7'), none('resourceName'))
  t.match(
    await answered(named('-7')),
    bad("ENGINE-03086 The resource type 'Task' is not valid for 'READ' permission."),
  )
})

/** As Camunda 7.22 answers. */
t.test(
  'a permission of another resource is refused with the message of the engine for that resource',
  async (t) => {
    t.same(
      await other('READ_INSTANCE', 7),
      bad("The permission 'READ_INSTANCE' is not valid for 'TASK' resource type."),
    )
    t.same(
      await other('ACCESS', 6),
      bad("The permission 'ACCESS' is not valid for 'PROCESS_DEFINITION' resource type."),
    )
    t.same(
      await other('ACCESS', 2),
      bad("ENGINE-03086 The resource type 'X' is not valid for 'ACCESS' permission."),
    )
    t.same(await other('NOSUCH', 2), bad("The permission 'NOSUCH' is not valid for 'GROUP' resource type."))
  },
)

t.test('a permission of a type that the engine does not have is refused with its message', async (t) => {
  t.same(await other('NOPE', 99), bad("The permission 'NOPE' is not valid for 'null' resource type."))
  t.same(
    await other('READ', 99),
    bad("ENGINE-03086 The resource type 'X' is not valid for 'READ' permission."),
  )
})

t.test('a disabled permission is refused, whatever the resource type', async (t) => {
  const disabled = recordsOf(['grant anna TASK:* READ'], { disabledPermissions: ['READ', 'ACCESS'] })
  const refused = bad(
    "ENGINE-03088 The 'READ' permission is disabled, please check your process engine configuration.",
  )
  t.same(await other('READ', 7, disabled), refused)
  t.same(await other('READ', 99, disabled), refused)
  t.same(
    await other('ACCESS', 7, disabled),
    bad("The permission 'ACCESS' is not valid for 'TASK' resource type."),
  )
  t.match(await other('UPDATE', 7, disabled), { authorized: false })
})

const about = async (...lines: readonly string[]) => {
  const answer = await answerAuthorizationCheck(
    { principal, params: {}, query: queryOf(`/?${named('7')}&userId=ben&resourceId=t1`), body: undefined },
    {
      ...NO_IMPLIED,
      records: recordsOf(lines),
      groupsOf: async (userId) => (userId === 'ben' ? ['clerks'] : []),
    },
  )
  return Object(answer).authorized
}

t.test('for another user, only those groups of the user count that the caller may read', async (t) => {
  t.equal(await about('grant anna TASK:* READ'), false, 'the records of the caller say nothing of others')
  t.equal(await about('grant ben TASK:t1 READ'), true)
  t.equal(await about('grant ben TASK:t2 READ'), false)
  t.equal(await about('grant @clerks TASK:t1 READ', 'grant anna GROUP:clerks READ'), true)
  t.equal(await about('grant @clerks TASK:t1 READ', 'grant anna GROUP:others READ'), false)
})

/** READ and UPDATE on two tasks, of which one is completed. */
const linkedToTwo = async (taskId: string) => ({ user: ['t1', 'done'].includes(taskId) ? 6 : 0, groups: 0 })
/** Every task except `done` exists. */
const findTask = (_name: string, id: string) => (id === 'done' ? null : { id })
/** A second user of the same group. */
const KNOWN = { userId: 'ben', groups: ['clerks'], tenants: ['globex'] }

t.test('the check counts the grants that a secured engine writes automatically', async (t) => {
  const member = { userId: 'anna', groups: ['clerks'], tenants: ['acme'] }
  const authorized = async (query: string, implied: boolean) => {
    const answer = await answerAuthorizationCheck(
      { principal: member, params: {}, query: queryOf(`/?resourceName=X&${query}`), body: undefined },
      {
        records: recordsOf([]),
        groupsOf: async () => [],
        principalOf: async (userId) => (userId === KNOWN.userId ? KNOWN : null),
        lookUp: findTask,
        impliesIdentity: implied,
        implicitGrants: implied ? { on: linkedToTwo } : null,
      },
    )
    return Object(answer).authorized
  }
  for (const [query, expected] of [
    ['permissionName=UPDATE&resourceType=1&resourceId=anna', true],
    ['permissionName=UPDATE&resourceType=1&resourceId=ben', false],
    ['permissionName=READ&resourceType=1', false],
    ['permissionName=READ&resourceType=2&resourceId=clerks', true],
    ['permissionName=UPDATE&resourceType=2&resourceId=clerks', false],
    ['permissionName=READ&resourceType=11&resourceId=acme', true],
    ['permissionName=UPDATE&resourceType=7&resourceId=t1', true],
    ['permissionName=DELETE&resourceType=7&resourceId=t1', false],
    ['permissionName=READ&resourceType=7&resourceId=t2', false],
    ['permissionName=READ&resourceType=7', false],
    ['permissionName=READ&resourceType=7&resourceId=done', false],
    ['permissionName=NONE&resourceType=11&resourceId=acme', true],
    ['permissionName=NONE&resourceType=11&resourceId=globex', false],
    ['permissionName=UPDATE&resourceType=1&resourceId=ben&userId=ben', true],
    ['permissionName=UPDATE&resourceType=1&resourceId=anna&userId=ben', false],
    ['permissionName=READ&resourceType=11&resourceId=globex&userId=ben', true],
    ['permissionName=READ&resourceType=11&resourceId=acme&userId=ben', false],
    ['permissionName=READ&resourceType=1&resourceId=ghost&userId=ghost', false],
  ] as const) {
    t.equal(await authorized(query, true), expected, query)
    t.equal(await authorized(query, false), false, `${query}, without implied grants`)
  }
})
