import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { DEFAULT_TOOLS, isToolOperation } from '../../../src/operations/tool-operations.ts'
import { idsOf } from '../../sandbox/asks.ts'
import { openGateway } from '../../support/open-gateway.ts'
import { connectTools } from '../../support/tool-client.ts'

/** A refusal, or the engine's response for an instance that does not exist, which the gateway gives itself. */
const REFUSED = /^HTTP (?:403|404|500) |^The engine responded with 204 and no content/

t.test('an administrator sees every tool, and other callers those that they may use', async (t) => {
  const records = [
    'grant mary TASK:* READ,UPDATE',
    'grant ben PROCESS_DEFINITION:review READ',
    'revoke anna TASK:* ALL',
  ]
  const gateway = await openGateway(t, { settings: { mcp: {} }, records, listen: true })
  const namesOf = async (user: string) => (await connectTools(t, gateway.origin, user)).names()
  t.same([...(await namesOf('demo'))].sort(), [...DEFAULT_TOOLS].sort())
  const mary = await namesOf('mary')
  t.ok(mary.includes('complete') && mary.includes('claim'))
  t.notOk(mary.includes('startProcessInstanceByKey'))
  const ben = await namesOf('ben')
  t.ok(ben.includes('getProcessDefinition'))
  t.notOk(ben.includes('setAssignee') && ben.includes('deliverMessage'))
})

/** A message with a name that reaches nothing is permitted for every caller. */
const WITHOUT_NAME = /^HTTP 400 InvalidRequestException \(GW_INVALID_BODY\): No message name supplied/

t.test('the tools that a caller does not see are refused, and reach no engine', async (t) => {
  const records = [
    'grant mary TASK:* READ',
    'grant ben PROCESS_DEFINITION:review READ,READ_INSTANCE,CREATE_INSTANCE',
    'grant ben PROCESS_INSTANCE:* CREATE',
    'grant @clerks DECISION_DEFINITION:* READ',
    'grant anna PROCESS_INSTANCE:* READ,UPDATE',
  ]
  const gateway = await openGateway(t, { settings: { mcp: {} }, records, listen: true })
  const ids = await Promise.all(
    ['/task', '/process-instance', '/process-definition', '/external-task'].map(async (path) => {
      const [id = 'none'] = await idsOf(gateway.engine.base, path)
      return id
    }),
  )
  let hidden = 0
  for (const user of ['mary', 'ben', 'anna', 'nobody']) {
    const { client, names, call } = await connectTools(t, gateway.origin, user)
    const { tools } = await (await connectTools(t, gateway.origin, 'demo')).client.listTools()
    const visible = new Set(await names())
    for (const { name, inputSchema } of tools) {
      if (visible.has(name)) continue
      hidden += 1
      for (const id of ids) {
        const args = Object.fromEntries(
          (inputSchema.required ?? []).map((one) => [one, one === 'body' ? bodyOf(name) : id]),
        )
        const before = gateway.engine.requests
        const result = await call(name, args)
        t.match(
          result.texts,
          [name === 'deliverMessage' ? WITHOUT_NAME : REFUSED],
          `${user} ${name} ${JSON.stringify(args)}`,
        )
        const sent = gateway.engine.seen.slice(before - gateway.engine.requests || Infinity)
        t.same(
          sent.filter(({ method }) => method !== 'GET').map(({ method, url }) => `${method} ${url}`),
          [],
        )
      }
    }
    t.ok(client)
  }
  t.ok(hidden > 20, `${hidden} hidden tools`)
})

function bodyOf(name: string): object {
  return name.startsWith('setJob') ? { retries: 1 } : {}
}

for (const ceiling of ['read', 'safe'] as const)
  t.test(`with the ceiling ${ceiling}, no other write is a tool or passes`, async (t) => {
    const settings = {
      mcp: { tools: 'all' },
      limits: { pressure: { eventLoopDelay: null }, ceilings: [{ ceiling, users: ['demo'] }] },
    }
    const gateway = await openGateway(t, { settings, listen: true })
    const { client, call } = await connectTools(t, gateway.origin, 'demo')
    const { tools } = await client.listTools()
    t.ok(tools.length > 150)
    for (const { name, annotations } of tools)
      t.match(annotations, ceiling === 'read' ? { readOnlyHint: true } : { destructiveHint: false }, name)
    const visible = new Set(tools.map(({ name }) => name))
    const others = OPERATIONS.filter((operation) => isToolOperation(operation) && !visible.has(operation.id))
    t.ok(others.length > 80)
    const before = gateway.engine.seen.length
    for (const { id, template } of others) {
      const path = [...template.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, 'a'] as const)
      for (const body of [{}, { body: {} }]) await call(id, { ...Object.fromEntries(path), ...body })
    }
    t.same(
      gateway.engine.seen.slice(before).filter(({ method }) => method !== 'GET'),
      [],
    )
    const refused = await call('deleteProcessInstance', { id: 'a' })
    t.match(refused.texts, [/HTTP 403 \w+ \(GW_CEILING\)/])
  })
