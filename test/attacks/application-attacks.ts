import { authorizationOf } from '../support/open-gateway.ts'
import { handshake } from '../support/web-socket-node.ts'

/** A hostile request to a prefix without credentials, and the status that it must get. */
export interface ApplicationAttack {
  readonly hope: string
  readonly target: string
  readonly status: number
}

/** `/app` requires credentials, and `/open` does not. */
export const APPLICATION_ATTACKS: readonly ApplicationAttack[] = [
  { hope: 'a prefix that only begins like another', target: '/appx', status: 404 },
  { hope: 'a parent of an open prefix', target: '/open/../app/x', status: 400 },
  { hope: 'an encoded parent of an open prefix', target: '/open/%2e%2e/app/x', status: 400 },
  { hope: 'a matrix parameter of an open prefix', target: '/open;/x', status: 400 },
  { hope: 'an encoded matrix parameter before a parent', target: '/open%3b/../app', status: 400 },
  { hope: 'a prefix in other case', target: '/APP/x', status: 404 },
  { hope: 'an empty segment before the prefix of another application', target: '/open//app', status: 400 },
  { hope: 'a NUL behind an open prefix', target: '/open%00/x', status: 400 },
  { hope: 'backslashes as separators', target: '/open/%5c..%5capp', status: 400 },
  { hope: 'an absolute target', target: 'http://127.0.0.1/open/x', status: 400 },
  { hope: 'the prefix without a path', target: '/app', status: 401 },
  { hope: 'an open prefix in the query', target: '/app?x=/open/', status: 401 },
]

/** A request whose body is followed by a second request for a prefix that requires credentials. */
export const SECOND_REQUEST =
  `POST /open/x HTTP/1.1\r\nHost: g\r\nAuthorization: ${authorizationOf('demo')}\r\nContent-Length: 3\r\n\r\n` +
  'abcGET /app/y HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n'

/** A hostile request of `mary`, or without credentials, to a function that an application must not get. */
export interface FunctionAttack {
  readonly hope: string
  readonly bytes: string
}

const SETUP = '/api/admin/setup/default/user/create'

/** Paths below a prefix that name the first-time setup. */
export const SETUP_SPELLINGS: readonly string[] = [
  SETUP,
  `${SETUP}/`,
  `${SETUP}?x=/app`,
  '/api/admin/setup/d%65fault/user/create',
  '/api/admin/setup/%64%65%66%61%75%6C%74/user/create',
  '/api/admin/setup/default/%75ser/create',
  '/api/admin/setup/default/user/cre%61te',
  '/api/admin/setu%70/default/user/create',
  '/api/admin/%73%65%74%75%70/default/user/create',
  '/api/%61dmin/setup/default/user/create',
  '/%61pi/admin/setup/default/user/create',
  '/api/admin/SETUP/default/user/create',
  '/api/Admin/Setup/default/user/create',
  '/API/ADMIN/SETUP/DEFAULT/USER/CREATE',
  '/api/admin/%53ETUP/default/user/create',
  '/api/admin/%EF%BD%93etup/default/user/create',
  '/api/admin/setup;x/default/user/create',
  '/api/admin;x=1/setup/default/user/create',
  '/api;/admin/setup/default/user/create',
  '/api/admin/setup%3Bx/default/user/create',
  '/api/admin/setup/default;jsessionid=1/user/create',
  '/api//admin/setup/default/user/create',
  '//api/admin/setup/default/user/create',
  '/api/admin/setup//default/user/create',
  '/api/./admin/setup/default/user/create',
  '/api/admin/x/../setup/default/user/create',
  '/api/admin/%2e/setup/default/user/create',
  '/api/x/%2e%2e/admin/setup/default/user/create',
  '/x/..;/api/admin/setup/default/user/create',
  '/api%2Fadmin%2Fsetup/default/user/create',
  '/api/admin%2fsetup/default/user/create',
  '/api/admin%5Csetup/default/user/create',
  '/api\\admin\\setup\\default/user/create',
  '/api/admin/setup%00/default/user/create',
  '/api/admin/setup%20/../setup/default/user/create',
  '/api/admin/%2573etup/default/user/create',
  '/api/admin/set%u0075p/default/user/create',
  '/api/admin/setup/default/user/create#x',
  '/api/admin/setup/%C3%A4/user/create',
  '/x/api/admin/setup/default/user/create',
  '/api/admin/setup/default%20/user/create',
  '/api/admin/setup/second/user/create',
  '/api/admin/setup/default/user/create/%20',
  '/api/admin/setup/default/user/%63%72%65%61%74%65',
  '/%61%70%69/%61%64%6D%69%6E/%73%65%74%75%70/default/user/create',
  '/api/admin/setup/./default/user/create',
  '/api/admin/setup/default/user/create;.js',
  '/app/api/admin/setup/default/user/create',
  '/api/adm%C4%B1n/setup/default/user/create',
  '/ap%C4%B0/admin/setup/default/user/create',
  '/api/admin/se%E2%80%8Btup/default/user/create',
  '/api%EF%BC%8Fadmin/setup/default/user/create',
  '/api/admin/setup%EF%BC%9Bx/default/user/create',
  '/services/v1/setup/default',
  '/services/v1/Setup/default',
]

/** Other functions that are never forwarded to the host of an engine. \`/root\` forwards those of web applications. */
const OTHER_FUNCTIONS: readonly string[] = [
  'GET /root/actuator/heapdump',
  'GET /root/ACTUATOR/env',
  'GET /root/%61ctuator/env',
  'POST /root/h2-console/login.do',
  'POST /root/jolokia/exec',
  'PUT /root/manager/text/deploy',
  'GET /root/engine-rest/task',
  'GET /root/Engine-Rest/task',
  'GET /root/engine-rest/t%61sk',
  'GET /root/engine-rest/engine/default/user',
  'GET /root/camunda/%61pi/engine/engine/default/task',
  'GET /root/camunda/API/engine/engine/default/task',
  'GET /open/api/engine/engine/default/task',
  'GET /open/api/engine/engine',
  'POST /open/api/admin/auth/user/default/login/cockpit',
  'GET /open/api/cockpit/plugin/base/default/process-definition/statistics',
  'GET /app/api/admin/plugin/adminPlugins/default/metrics/aggregated',
  'HEAD /app/api/engine/engine/default/task',
]

function requestOf(route: string, ...lines: readonly string[]): string {
  const head = [
    `${route} HTTP/1.1`,
    'Host: g',
    `Authorization: ${authorizationOf('mary')}`,
    'Connection: close',
  ]
  return `${[...head, ...lines].join('\r\n')}\r\n\r\n`
}

function setupOf(path: string, method = 'POST', ...lines: readonly string[]): string {
  return requestOf(`${method} ${path}`, 'Content-Length: 0', ...lines)
}

export const FUNCTION_ATTACKS: readonly FunctionAttack[] = [
  ...SETUP_SPELLINGS.flatMap((path) => [
    { hope: `the setup as ${path}`, bytes: setupOf(`/app${path}`) },
    { hope: `the setup without credentials as ${path}`, bytes: setupOf(`/open${path}`) },
  ]),
  ...['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => ({
    hope: `the setup with ${method}`,
    bytes: setupOf(`/open${SETUP}`, method, 'X-HTTP-Method-Override: POST'),
  })),
  ...['X-HTTP-Method-Override: GET', 'X-Original-URL: /open/x', 'X-Forwarded-Prefix: /x'].map((line) => ({
    hope: `the setup with ${line}`,
    bytes: setupOf(`/open${SETUP}`, 'POST', line),
  })),
  { hope: 'the setup below a removed prefix', bytes: setupOf(`/root/camunda${SETUP}`) },
  { hope: 'the setup in a handshake', bytes: handshake(`/root/camunda${SETUP}`) },
  ...OTHER_FUNCTIONS.map((route) => ({ hope: route, bytes: requestOf(route, 'Content-Length: 0') })),
]
