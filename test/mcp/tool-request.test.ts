import t from 'tap'
import { createTools } from '../../src/mcp/operation-tools.ts'
import { toolRequestOf } from '../../src/mcp/tool-request.ts'
import { OPERATIONS } from '../../src/operations/all.ts'
import { readJson } from '../../src/request/json.ts'
import { isObject } from '../../src/request/value.ts'

const LIMITS = { defaultResults: 20, maxResults: 100 }
const TOOLS = await createTools(OPERATIONS, 'all', LIMITS)

/** Builds the request for arguments in JSON, as the endpoint reads them. */
function requestOf(name: string, json: string) {
  const tool = TOOLS.get(name)
  const given = readJson(Buffer.from(json))
  if (tool === undefined || !isObject(given)) throw new Error(`no tool: ${name}`)
  const built = toolRequestOf(tool, given, LIMITS)
  return 'problem' in built ? built.problem : { ...built, body: built.body?.toString() ?? null }
}

t.test('arguments have their places in the path, in the query and in the body', (t) => {
  t.same(requestOf('getTask', '{"id":"a1"}'), { method: 'GET', target: '/task/a1', body: null })
  t.same(requestOf('getTasks', '{"assignee":"mary ann","unassigned":false,"maxResults":5}'), {
    method: 'GET',
    target: '/task?assignee=mary%20ann&maxResults=5&unassigned=false',
    body: null,
  })
  t.same(requestOf('claim', '{"id":"a1","body":{"userId":"mary"}}'), {
    method: 'POST',
    target: '/task/a1/claim',
    body: '{"userId":"mary"}',
  })
  t.end()
})

t.test('a list without maxResults gets the default number of items', (t) => {
  t.match(requestOf('getIncidents', '{}'), { target: '/incident?maxResults=20' })
  t.match(requestOf('queryTasks', '{"body":{}}'), { target: '/task?maxResults=20' })
  t.match(requestOf('getTasksCount', '{}'), { target: '/task/count' })
  for (const wrong of ['101', '0', '-1', '1.5', '"x"', 'true', '1e9', '""'])
    t.match(requestOf('getIncidents', `{"maxResults":${wrong}}`), /from 1 to 100/, wrong)
  t.end()
})

const target = (id: string) => requestOf('getTask', JSON.stringify({ id }))

t.test('an argument of the path stays one segment', (t) => {
  for (const [id, path] of [
    ['a/b', 'a%2Fb'],
    ['../../authorization', '..%2F..%2Fauthorization'],
    ['a?b=c#d', 'a%3Fb%3Dc%23d'],
    ['a\\b', 'a%5Cb'],
    ['%2e%2e', '%252e%252e'],
    ['a\u0000b', 'a%00b'],
    ['a\r\nHost: x', 'a%0D%0AHost%3A%20x'],
    ['…', '%E2%80%A6'],
    [':id', '%3Aid'],
    ['$&', '%24%26'],
  ] as const)
    t.match(target(id), { target: `/task/${path}` }, id)
  for (const id of ['', '.', '..', '\ud800']) t.match(target(id), /id must be a text/)
  for (const id of ['null', '[]', '{}', '["a"]'])
    t.match(requestOf('getTask', `{"id":${id}}`), /id must be a text/)
  t.end()
})

t.test('an argument of the query adds no other parameter', (t) => {
  t.match(requestOf('getTasksCount', '{"assignee":"a&tenantIdIn=b#c\\r\\n"}'), {
    target: '/task/count?assignee=a%26tenantIdIn%3Db%23c%0D%0A',
  })
  for (const value of ['null', '["a"]', '{}', '"\\ud800"'])
    t.match(requestOf('getTasksCount', `{"assignee":${value}}`), /assignee must be/, value)
  t.end()
})

t.test('unknown and missing arguments are refused', (t) => {
  t.match(requestOf('getTask', '{"id":"a","other":1}'), /no argument "other"/)
  t.match(requestOf('getTask', '{"id":"a","body":{}}'), /no argument "body"/)
  t.match(requestOf('getTask', '{"constructor":"a","id":"a"}'), /no argument "constructor"/)
  t.match(requestOf('getTask', '{}'), /id is missing/)
  t.match(requestOf('claim', '{"id":"a"}'), /body is missing/)
  for (const body of ['null', '[]', '"{}"', '1'])
    t.match(requestOf('claim', `{"id":"a","body":${body}}`), /body must be an object/)
  t.match(requestOf('getTask', JSON.stringify({ id: 'a', ['x'.repeat(1000)]: 1 })), /^.{1,100}$/)
  t.end()
})

t.test('a long target is refused, and a long body is not', (t) => {
  t.match(requestOf('getTask', JSON.stringify({ id: 'a'.repeat(9000) })), /too long/)
  t.match(requestOf('claim', JSON.stringify({ id: 'a', body: { userId: 'a'.repeat(9000) } })), {
    method: 'POST',
  })
  t.end()
})

t.test('numbers keep their digits', (t) => {
  const body = '{"variables":{"a":{"value":12345678901234567890.10},"b":{"value":1e3}}}'
  t.match(requestOf('complete', `{"id":"a","body":${body}}`), { body })
  t.match(requestOf('getTasksCount', '{"priority":9007199254740993}'), {
    target: '/task/count?priority=9007199254740993',
  })
  t.end()
})
