import t from 'tap'
import { createCors, type CorsSettings } from '../../src/request/cors.ts'

const PAGE = 'https://app.example'
const SETTINGS: CorsSettings = {
  origins: [PAGE, 'http://localhost:3000'],
  credentials: false,
  allowedHeaders: ['Authorization', 'Content-Type'],
  maxAge: 90_500,
}
const VARY = { vary: 'Origin' }
const METHODS = 'GET, HEAD, POST'

/** Returns the headers of the response to a preflight. */
function preflight(
  headers: Readonly<Record<string, string>>,
  { methods = METHODS, method = 'OPTIONS', settings = SETTINGS } = {},
) {
  return createCors(settings).preflightHeaders({ method, headers }, () => methods)
}

t.test('a response names its origin if it is listed, and varies by Origin for every request', (t) => {
  const { responseHeaders: answerHeaders } = createCors(SETTINGS)
  const allowed = answerHeaders(PAGE)
  t.match(allowed, { ...VARY, 'access-control-allow-origin': PAGE })
  t.match(allowed['access-control-expose-headers'], /ETag.*RateLimit-Policy, Retry-After, X-Gateway-Error/)
  t.notOk('access-control-allow-credentials' in allowed)
  for (const origin of [
    undefined,
    'null',
    '',
    '*',
    'https://app.example.evil',
    'https://APP.example',
    'https://app.example:443',
    'https://app.example/',
    'http://app.example',
    `${PAGE}, ${PAGE}`,
  ])
    t.same(answerHeaders(origin), VARY, String(origin))
  t.end()
})

t.test('credentials are allowed by the setting only', (t) => {
  const settings = { ...SETTINGS, credentials: true }
  const asked = { origin: PAGE, 'access-control-request-method': 'GET' }
  t.equal(createCors(settings).responseHeaders(PAGE)['access-control-allow-credentials'], 'true')
  t.match(preflight(asked, { settings }), { 'access-control-allow-credentials': 'true' })
  t.notOk('access-control-allow-credentials' in Object(preflight(asked)))
  t.end()
})

t.test(
  'a preflight gets the methods of the path, the configured headers and the time for which they are valid',
  (t) => {
    const asked = {
      origin: PAGE,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-other',
      'access-control-request-private-network': 'true',
    }
    t.same(preflight(asked), {
      ...VARY,
      'access-control-allow-origin': PAGE,
      'access-control-allow-headers': 'Authorization, Content-Type',
      'access-control-allow-methods': METHODS,
      'access-control-max-age': '90',
    })
    t.end()
  },
)

t.test('a preflight for an unknown method or path allows nothing', (t) => {
  for (const wanted of ['DELETE', 'get', 'GET, HEAD', 'GE', '', '*'])
    t.same(preflight({ origin: PAGE, 'access-control-request-method': wanted }), VARY, wanted)
  const { preflightHeaders } = createCors(SETTINGS)
  const asked = { origin: PAGE, 'access-control-request-method': 'GET' }
  t.same(
    preflightHeaders({ method: 'OPTIONS', headers: asked }, () => null),
    VARY,
  )
  t.end()
})

t.test('a request that is not a preflight of a listed origin gets no preflight headers', (t) => {
  const wanted = { 'access-control-request-method': 'GET' }
  t.equal(preflight({ origin: PAGE }), null)
  t.equal(preflight(wanted), null)
  for (const origin of ['null', 'https://other.example']) t.equal(preflight({ ...wanted, origin }), null)
  t.equal(preflight({ ...wanted, origin: PAGE }, { method: 'GET' }), null)
  t.end()
})

t.test('headers of a protocol are added to those of the API', (t) => {
  const cors = createCors(SETTINGS, { allowed: ['Last-Event-ID'], exposed: ['WWW-Authenticate'] })
  t.match(
    cors.responseHeaders(PAGE)['access-control-expose-headers'],
    /^Cache-Status,.*X-Request-Id, WWW-Authenticate$/,
  )
  const asked = { origin: PAGE, 'access-control-request-method': 'POST' }
  t.match(
    cors.preflightHeaders({ method: 'OPTIONS', headers: asked }, () => METHODS),
    {
      'access-control-allow-headers': 'Authorization, Content-Type, Last-Event-ID',
    },
  )
  t.end()
})
