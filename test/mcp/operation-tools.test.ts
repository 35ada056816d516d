import t from 'tap'
import { createTools, pathParametersOf } from '../../src/mcp/operation-tools.ts'
import { BODY_ARGUMENT } from '../../src/mcp/tool-schema.ts'
import { OPERATIONS } from '../../src/operations/all.ts'
import { DEFAULT_TOOLS, isToolOperation } from '../../src/operations/tool-operations.ts'

const LIMITS = { defaultResults: 20, maxResults: 100 }
const ALL = await createTools(OPERATIONS, 'all', LIMITS)

t.test('every operation that can be a tool has one, with a name that all clients accept', (t) => {
  t.equal(ALL.size, OPERATIONS.filter(isToolOperation).length)
  t.ok(ALL.size > 350)
  for (const [name, { description }] of ALL) {
    t.match(name, /^[A-Za-z0-9_-]{1,64}$/)
    t.equal(description.name, name)
    t.ok(description.description.length > 10, name)
  }
  t.end()
})

t.test('the default list has about forty operations that exist and can be tools', async (t) => {
  t.equal(new Set(DEFAULT_TOOLS).size, DEFAULT_TOOLS.length)
  t.ok(DEFAULT_TOOLS.length >= 35 && DEFAULT_TOOLS.length <= 50)
  const tools = await createTools(OPERATIONS, 'default', LIMITS)
  t.same([...tools.keys()].sort(), [...DEFAULT_TOOLS].sort())
})

t.test('the configured operations are the tools', async (t) => {
  const tools = await createTools(OPERATIONS, ['getTask', 'claim'], LIMITS)
  t.same([...tools.keys()].sort(), ['claim', 'getTask'])
})

t.test('an argument has one place: no parameter of the path, of the query and the body share a name', (t) => {
  for (const [name, { operation, query }] of ALL) {
    const path = pathParametersOf(operation)
    const names = [...path, ...query, BODY_ARGUMENT]
    t.equal(new Set(names).size, names.length, name)
  }
  t.end()
})

t.test('the schema names every parameter, requires those of the path, and permits no others', (t) => {
  t.same(ALL.get('getTask')?.description.inputSchema, {
    type: 'object',
    properties: { id: { type: 'string', minLength: 1 } },
    required: ['id'],
    additionalProperties: false,
  })
  const list = ALL.get('getTasks')?.description.inputSchema
  t.match(list?.properties, {
    assignee: { type: 'string' },
    unassigned: { type: 'boolean' },
    maxResults: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  })
  t.equal(list?.required, undefined)
  t.match(ALL.get('getHistoricProcessInstances')?.description.inputSchema.properties['startedAfter'], {
    type: 'string',
    description: /2026-01-31T12:00:00\.000\+0100/,
  })
  const complete = ALL.get('complete')?.description.inputSchema
  t.same(complete?.required, ['id', 'body'])
  t.match(complete?.properties['body'], {
    properties: {
      variables: { additionalProperties: { properties: { value: {}, type: { type: 'string' } } } },
    },
  })
  t.end()
})

t.test('a query that contains queries of its own kind has a description that ends', (t) => {
  const text = JSON.stringify(ALL.get('queryTasks')?.description)
  t.match(text, /orQueries/)
  t.ok(text.length < 100_000)
  t.end()
})

const hints = (name: string) => ALL.get(name)?.description.annotations

t.test('hints say which tools only read, and which may destroy', (t) => {
  t.match(hints('getTasks'), { readOnlyHint: true, destructiveHint: false, idempotentHint: true })
  t.match(hints('complete'), { readOnlyHint: false, destructiveHint: false, idempotentHint: false })
  t.match(hints('deleteProcessInstance'), {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
  })
  t.match(hints('queryTasks'), { readOnlyHint: true })
  t.end()
})

t.test('other work runs between the tools', async (t) => {
  let turns = 0
  const count = () => {
    turns += 1
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  await createTools(OPERATIONS, 'all', LIMITS)
  clearImmediate(next)
  t.ok(turns >= 8, `${turns} turns`)
})
