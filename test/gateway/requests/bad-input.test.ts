import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { authorizationOf, openGateway, type Answer, type Ask } from '../../support/open-gateway.ts'

const gateway = await openGateway(t, { settings: { limits: { body: '100KiB', deploymentBody: '200KiB' } } })

/** Tests that the gateway itself refuses the request: an error in the engine's shape with a gateway code, and no request to the engine. */
function refuses(claim: string, route: string, ask: Ask, [status, code]: readonly [number, string]): void {
  t.test(claim, async (t) => {
    const answer = await gateway.ask('demo', route, ask)
    t.match(answer, { status, headers: { 'x-gateway-error': code, 'content-type': 'application/json' } })
    t.match(answer.body, { type: String, message: String, code: null })
    t.same(answer.forwarded, [])
  })
}

/** Tests a response that a secured engine would give itself. No header shows that the gateway wrote it. */
function decision(claim: string, route: string, status: number, body: unknown): void {
  t.test(claim, async (t) => {
    const ask = route.startsWith('POST') ? { body: {} } : {}
    const { headers, ...given } = await gateway.ask('demo', route, ask)
    t.match(given, { status, body })
    t.notOk(headers['x-gateway-error'])
    t.same(given.forwarded, [])
  })
}

const BAD_JSON = [400, 'GW_BAD_JSON'] as const
const json = (text: string | Buffer): Ask => ({ body: text })

refuses('half a body is refused', 'POST /task', json('{"a":'), BAD_JSON)
refuses('a body that goes on after its end is refused', 'POST /task', json('{} {"x":1}'), BAD_JSON)
refuses('a bare null is refused', 'POST /task', json('null'), BAD_JSON)
refuses('a comment is refused', 'POST /task', json('{/**/}'), BAD_JSON)
refuses('a single quote is refused', 'POST /task', json("{'a':1}"), BAD_JSON)
refuses('a name of a member without quotes is refused', 'POST /task', json('{name:"x"}'), BAD_JSON)
refuses('a trailing comma is refused', 'POST /task', json('{"a":1,}'), BAD_JSON)
refuses('NaN is refused', 'POST /task', json('{"priority":NaN}'), BAD_JSON)
refuses('a member given twice is refused', 'POST /task', json('{"name":"a","name":"b"}'), BAD_JSON)
refuses('one of them escaped too', 'POST /task', json('{"name":"a","n\\u0061me":"b"}'), BAD_JSON)
refuses(
  'a member given twice within another is refused',
  'POST /task',
  json('{"orQueries":[{"name":"a","name":"b"}]}'),
  BAD_JSON,
)
refuses('a member named __proto__ is refused', 'POST /task', json('{"__proto__":{"a":1}}'), BAD_JSON)
refuses(
  'bytes that are not UTF-8 are refused',
  'POST /task',
  json(Buffer.from('7b2261223a22ff227d', 'hex')),
  BAD_JSON,
)
refuses('UTF-16 is refused', 'POST /task', json(Buffer.from('\ufeff{"name":"a"}', 'utf16le')), BAD_JSON)
refuses(
  'a thousand and one levels are refused',
  'POST /task',
  json('['.repeat(1001) + ']'.repeat(1001)),
  BAD_JSON,
)
refuses(
  'a number of 1,100 digits is refused',
  'POST /task',
  json(`{"priority":${'1'.repeat(1100)}}`),
  BAD_JSON,
)
refuses('a name of 60,000 characters is refused', 'POST /task', json(`{"${'k'.repeat(60_000)}":1}`), BAD_JSON)

const MEDIA = [415, 'GW_UNSUPPORTED_MEDIA'] as const
const typed = (type: string, coding = 'identity'): Ask => ({
  body: '{}',
  headers: { 'content-type': type, 'content-encoding': coding },
})
for (const type of [
  'text/plain',
  'application/jsonx',
  'application/json; charset=utf-16',
  'application/json, text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=b',
])
  refuses(`${type} is no body for an operation that takes JSON`, 'POST /task', typed(type), MEDIA)
refuses('JSON is no body for an upload', 'POST /deployment/create', typed('application/json'), MEDIA)
refuses('a compressed body is refused', 'POST /task', typed('application/json', 'gzip'), MEDIA)

refuses('a body over the limit is refused', 'POST /task', json(`{"name":"${'a'.repeat(101 * 1024)}"}`), [
  413,
  'GW_BODY_TOO_LARGE',
])
refuses(
  'an upload over its own limit is refused',
  'POST /deployment/create',
  { body: 'x'.repeat(201 * 1024), headers: { 'content-type': 'multipart/form-data; boundary=b' } },
  [413, 'GW_BODY_TOO_LARGE'],
)
refuses(
  'a form without its boundary is refused',
  'POST /deployment/create',
  { body: 'nothing', headers: { 'content-type': 'multipart/form-data; boundary=b' } },
  [400, 'GW_BAD_MULTIPART'],
)

refuses('an expression in a query is refused', 'POST /task', json('{"assigneeExpression":"${x}"}'), [
  400,
  'GW_HAZARD',
])
refuses('and in an or-block', 'POST /task', json('{"orQueries":[{"assigneeExpression":"${x}"}]}'), [
  400,
  'GW_HAZARD',
])
refuses('and in a query string', 'GET /task?assigneeExpression=x', {}, [400, 'GW_HAZARD'])
refuses('a member of the wrong type is refused', 'POST /task', json('{"orQueries":"a"}'), [
  400,
  'GW_INVALID_BODY',
])
refuses('and in a body without rules of its own', 'PUT /job/a/retries', json('{"retries":"many"}'), [
  400,
  'GW_INVALID_BODY',
])
refuses('a list where an object is due is refused', 'POST /task', json('[]'), [400, 'GW_INVALID_BODY'])

const TARGET = [400, 'GW_BAD_TARGET'] as const
refuses('an encoded slash is refused', 'GET /task/a%2Fb', {}, TARGET)
refuses('an encoded backslash is refused', 'GET /task/a%5cb', {}, TARGET)
refuses('a matrix parameter is refused', 'GET /task;x=1/count', {}, TARGET)
refuses('an encoded semicolon is refused', 'GET /task/a%3Bx', {}, TARGET)
refuses('an encoded control character is refused', 'GET /task/a%00', {}, TARGET)
refuses('a second decoding is refused', 'GET /task/a%252Fb', {}, TARGET)
refuses('half an escape is refused', 'GET /task/a%2', {}, TARGET)
refuses('a path that is not UTF-8 is refused', 'GET /task/a%ff', {}, TARGET)
refuses('overlong UTF-8 is refused', 'GET /task/%c0%ae', {}, TARGET)
refuses('a double slash is refused', 'GET //task', {}, TARGET)
refuses('a query string that is not UTF-8 is refused', 'GET /task?name=%ff', {}, TARGET)
refuses('overlong UTF-8 in a query string is refused', 'GET /task?nameLike=%c0%af', {}, TARGET)
refuses('half a character in a query string is refused', 'GET /task?name=%zz%C3', {}, TARGET)

const NOT_FOUND = { type: 'NotFoundException', message: 'HTTP 404 Not Found', code: null }
decision('an unknown operation does not exist', 'GET /application.wadl', 404, NOT_FOUND)
decision('nor does one with a suffix', 'GET /user/demo/profile.json', 404, NOT_FOUND)
decision('nor does one in other case', 'GET /Task', 404, NOT_FOUND)
decision('nor does one with an encoded letter', 'GET /%74ask', 404, NOT_FOUND)
decision('nor does an engine literal in other spelling', 'GET /engin%65/second/task', 404, NOT_FOUND)
decision('nor does the base itself', 'GET ', 404, NOT_FOUND)
decision('an engine that is not configured is named', 'GET /engine/nosuch/task', 404, {
  type: 'InvalidRequestException',
  message: 'Process engine nosuch not available',
  code: null,
})
decision('engine names are case-sensitive', 'GET /engine/DEFAULT/task', 404, {
  message: 'Process engine DEFAULT not available',
})
decision('a number that is none is refused as the engine does', 'POST /task?maxResults=abc', 404, {
  type: 'QueryParamException',
  message: 'HTTP 404 Not Found',
  code: null,
})

t.test('a path that names an operation is not read as an id by a method that only the id has', async (t) => {
  // `DELETE /task/count` does not delete a task `count`: the engine responds with 405.
  const routes = OPERATIONS.flatMap(({ template }) => {
    const path = pathOf(template)
    const own = new Set(OPERATIONS.filter((one) => pathOf(one.template) === path).map(({ method }) => method))
    const wider = OPERATIONS.filter((one) => fits(one.template, path) && !own.has(one.method))
    return wider.map(({ method }) => `${method} ${path}`)
  })
  t.ok(routes.length > 90)
  for (const route of new Set(routes)) {
    const { status, forwarded } = await gateway.ask('demo', route)
    t.same([status, forwarded], [405, []], route)
  }
})

function pathOf(template: string): string {
  return template.replaceAll(/:\w+/g, 'x')
}

function fits(template: string, path: string): boolean {
  const [pattern, segments] = [template.split('/'), path.split('/')]
  return (
    pattern.length === segments.length &&
    pattern.every((text, at) => text.startsWith(':') || text === segments[at])
  )
}

t.test('an unsupported method of a known path gets 405 with the allowed methods', async (t) => {
  for (const [route, allow] of [
    ['DELETE /task', 'GET, HEAD, POST'],
    ['PATCH /task/x', 'GET, HEAD, PUT, DELETE'],
    ['OPTIONS /task', 'GET, HEAD, POST'],
    ['GET /engine/second/signal', 'POST'],
  ] as const) {
    const { status, headers, body, forwarded } = await gateway.ask('demo', route)
    t.match(
      { status, headers, body },
      {
        status: 405,
        headers: { allow },
        body: { type: 'NotAllowedException', message: 'HTTP 405 Method Not Allowed', code: null },
      },
    )
    t.same(forwarded, [])
  }
})

t.test(
  'a request without credentials gets 401 for every path below the base, even if the path does not exist',
  async (t) => {
    for (const route of [
      'GET /task',
      'GET /engine',
      'GET /nosuch',
      'GET /engine/nosuch/task',
      'PATCH /task',
      'OPTIONS /user',
    ]) {
      const answer = await gateway.ask(null, route)
      t.match(answer, {
        status: 401,
        headers: { 'www-authenticate': 'Basic realm="default"', 'content-length': '0' },
      })
      t.same([answer.body, answer.headers['content-type'], answer.forwarded], ['', undefined, []], route)
    }
  },
)

t.test('wrong or unreadable credentials get the same response as no credentials', async (t) => {
  const none = await gateway.ask(null, 'GET /task')
  for (const authorization of [
    authorizationOf('demo', 'wrong'),
    authorizationOf('stranger'),
    authorizationOf('DEMO', 'demo'),
    'Bearer abc',
    'Basic %%%',
    'Basic ZGVtbw==',
    `Basic ZGVtbzpkZW1v!`,
    'Basic',
  ]) {
    const answer = await gateway.ask(null, 'GET /task', { headers: { authorization } })
    t.same(comparable(answer), comparable(none), authorization)
  }
})

t.test('the challenge names the requested engine as its realm', async (t) => {
  for (const path of ['/task', '/nosuch', '/task/x/nosuch']) {
    const { status, headers } = await gateway.ask(null, `GET /engine/second${path}`)
    t.match(
      { status, headers },
      { status: 401, headers: { 'www-authenticate': 'Basic realm="second"' } },
      path,
    )
  }
})

t.test('the scheme of the credentials is case-insensitive', async (t) => {
  const authorization = authorizationOf('demo').replace('Basic', 'bASIC')
  t.match(await gateway.ask(null, 'GET /version', { headers: { authorization } }), { status: 200 })
})

function guess(number: number): Promise<Answer> {
  const headers = { authorization: authorizationOf('mary', `${number}`) }
  return gateway.ask(null, 'GET /task', { headers })
}

t.test('concurrent wrong passwords beyond the queue of verifications get 429', async (t) => {
  const answers = await Promise.all(Array.from({ length: 40 }, (_, number) => guess(number)))
  const refused = answers.filter(({ status }) => status === 429)
  t.equal(answers.filter(({ status }) => status === 401).length + refused.length, answers.length)
  t.ok(refused.length > 0)
  for (const { headers: given, body } of refused) {
    t.match(given, { 'retry-after': /^\d+$/, 'x-gateway-error': 'GW_THROTTLED' })
    t.match(body, { type: 'TooManyRequestsException' })
  }
})

t.test('a path outside the base gets 404 without authentication', async (t) => {
  const before = gateway.engine.requests
  for (const url of ['/', '/nosuch', '/engine-restx/task']) {
    const response = await gateway.app.inject({ url })
    t.match({ status: response.statusCode, body: response.json() }, { status: 404, body: NOT_FOUND })
  }
  t.equal(gateway.engine.requests, before)
})

/** Removes the members that differ between any two responses. */
function comparable({ status, body, forwarded, headers }: Answer) {
  const { date: _, 'x-request-id': __, ...others } = headers
  return { status, body, forwarded, headers: others }
}
