import t from 'tap'
import { requestHeaders, responseHeaders } from '../../src/config/header-names.ts'

t.test('names of request headers that carry no identity are accepted and converted to lower case', (t) => {
  const names = ['X-Correlation-Id', 'baggage', 'HX-Request', 'Ocp-Apim-Subscription-Key', 'Cache-Control']
  t.same(
    requestHeaders.parse(names),
    names.map((name) => name.toLowerCase()),
  )
  t.end()
})

const REFUSED = [
  'Authorization',
  'Client-Cert',
  'Connection',
  'Content-Length',
  'Context-User-ID',
  'Cookie',
  'Expect',
  'Forwarded',
  'Host',
  'Idempotency-Key',
  'Proxy-Authorization',
  'Remote-User',
  'Sec-WebSocket-Key',
  'TE',
  'Transfer-Encoding',
  'Upgrade',
  'Via',
  'X-Amzn-Oidc-Identity',
  'X-Authorized-Groups',
  'X-Client-IP',
  'X-Engine',
  'X-Forwarded-For',
  'X-Fxn-Engine',
  'X-HTTP-Method-Override',
  'X-Original-URL',
  'X-Real-IP',
  'X-Remote-User',
  'X-Request-Id',
  'X-Rewrite-URL',
  'X-SSL-Client-DN',
  'X-Tenant-Id',
  'X-WEBAUTH-USER',
  'X_User',
  'a b',
  '',
  '__proto__',
]
for (const name of REFUSED)
  t.test(`the request header ${JSON.stringify(name)} is refused in the list of additional headers`, (t) => {
    t.notOk(requestHeaders.safeParse([name]).success)
    t.end()
  })

t.test('response headers that set cookies, redirect or belong to the gateway cannot be allowed', (t) => {
  t.same(responseHeaders.parse(['X-Node-Version', 'Server']), ['x-node-version', 'server'])
  for (const name of [
    'Set-Cookie',
    'Location',
    'Refresh',
    'Access-Control-Allow-Origin',
    'X-Gateway-Error',
    'Content-Length',
    'Cache-Status',
    'X-Request-Id',
    'Via',
    'Strict-Transport-Security',
    'Transfer-Encoding',
  ])
    t.notOk(responseHeaders.safeParse([name]).success, name)
  t.end()
})
