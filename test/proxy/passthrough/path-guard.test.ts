import t from 'tap'
import { parsePathRule } from '../../../src/config/path-rules.ts'
import { createPathGuard, type PathGuardOptions } from '../../../src/proxy/passthrough/path-guard.ts'

interface Setup extends Partial<Omit<PathGuardOptions, 'deny' | 'allow'>> {
  readonly deny?: readonly string[]
  readonly allow?: readonly string[]
}

/** Creates the guard of `/camunda`, whose nodes are on the host of an engine. */
function guardWith({ deny = [], allow = [], ...others }: Setup = {}) {
  return createPathGuard({
    prefix: '/camunda',
    nodePath: '/camunda',
    enginePaths: ['/engine-rest'],
    forwardsFunctions: true,
    deny: deny.map(parsePathRule),
    allow: allow.map(parsePathRule),
    ...others,
  })
}

const SETUP = [
  '/camunda/api/admin/setup/default/user/create',
  '/camunda/api/admin/setup',
  '/camunda/api/admin/setup/',
  '/camunda/api/admin/SETUP/default/user/create',
  '/camunda/API/Admin/setup/default/user/create',
  '/camunda/api/admin/setu%70/default/user/create',
  '/camunda/%61%70%69/admin/setup/x/user/create',
  '/camunda/api/admin/%EF%BD%93etup/default/user/create',
  '/camunda/api/adm%C4%B1n/setup/default/user/create',
  '/camunda/ap%C4%B0/adm%C4%B0n/setup/default/user/create',
  '/camunda/api/admin/setup%C2%AD/default/user/create',
  '/camunda/api/admin/se%E2%80%8Btup/default/user/create',
  '/camunda/api%EF%BC%8Fadmin/setup/default/user/create',
  '/camunda/api/admin%EF%BC%BCsetup/default/user/create',
  '/camunda/api/admin/setup%EF%BC%9Bx/default/user/create',
  '/camunda/services/v1/setup/default',
  '/camunda/x/api/admin/setup/default/user/create',
]

t.test('the first-time setup is refused below every prefix, whatever is configured', (t) => {
  const guards = [
    guardWith(),
    guardWith({ enginePaths: null }),
    guardWith({ enginePaths: null, allow: ['/**'] }),
    guardWith({ nodePath: '' }),
  ]
  for (const guard of guards)
    for (const path of SETUP)
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS'])
        t.equal(guard(method, path), 'first-time setup', `${method} ${path}`)
  t.end()
})

function setupRule(nodePath: string, path: string) {
  return guardWith({ nodePath, enginePaths: null })('POST', path)
}

t.test('a function is recognized by the path that the node gets', (t) => {
  t.equal(setupRule('/camunda/api/admin', '/camunda/setup/default/user/create'), 'first-time setup')
  t.equal(setupRule('/camunda/api/admin/setup', '/camunda/default/user/create'), 'first-time setup')
  t.equal(setupRule('/web/%61pi', '/camunda/admin/setup/default/user/create'), 'first-time setup')
  t.equal(setupRule('', '/camunda/setup/default/user/create'), null)
  t.end()
})

const FUNCTIONS = [
  'POST /camunda/api/admin/auth/user/default/login/cockpit',
  'GET /camunda/api/admin/auth/user/default',
  'GET /camunda/api/engine/engine/default/task',
  'GET /camunda/api/engine/engine/',
  'GET /camunda/api/cockpit/plugin/base/default/process-definition/statistics',
  'GET /camunda/api/admin/plugin/adminPlugins/default/metrics/aggregated',
  'POST /camunda/api/cockpit/plugin/base/static/app/plugin.js',
  'GET /camunda/api/tasklist',
  'POST /camunda/services/v1/auth/login',
  'GET /camunda/services/v1/plugin/x/static/app/plugin.js',
] as const

const PAGES = [
  'GET /camunda',
  'GET /camunda/',
  'GET /camunda/app/tasklist/default/',
  'HEAD /camunda/app/cockpit/scripts/x%20y.js',
  'GET /camunda/api/tasklist/plugin/tasklistPlugins/static/app/plugin.js',
  'GET /camunda/api/orders/1',
  'POST /camunda/lib/x',
] as const

function ask(guard: ReturnType<typeof guardWith>, request: string): string | null {
  const [method = '', path = ''] = request.split(' ')
  return guard(method, path)
}

t.test("the functions of an engine's web applications are refused unless they are opened", (t) => {
  for (const request of FUNCTIONS) {
    t.equal(ask(guardWith({ forwardsFunctions: false }), request), 'web application API', request)
    t.equal(ask(guardWith(), request), null, request)
    t.equal(ask(guardWith({ enginePaths: null, forwardsFunctions: false }), request), null, request)
  }
  for (const request of PAGES) t.equal(ask(guardWith({ forwardsFunctions: false }), request), null, request)
  t.end()
})

t.test('a function that is opened has one spelling', (t) => {
  for (const path of [
    '/camunda/%61pi/engine/engine/default/task',
    '/camunda/api/engine/engine/d%65fault/task',
    '/camunda/api/engine/engine/default/task%2D1',
    '/camunda/API/engine/engine/default/task',
    '/camunda/api/Engine/engine/default/task',
    '/camunda/Services/v1/x',
    '/camunda/api/%EF%BD%85ngine/engine/default/task',
    '/c%61munda/app/',
  ])
    t.equal(guardWith()('GET', path), 'spelling', path)
  for (const id of ['invoice%3A1%3A7', 'a%20b', '%C3%A4', 'x%40y'])
    t.equal(guardWith()('GET', `/camunda/api/engine/engine/default/user/${id}`), null, id)
  t.end()
})

t.test(
  'functions of the server and the API of the engine are never forwarded to the host of an engine',
  (t) => {
    const root = guardWith({ nodePath: '', enginePaths: ['/engine-rest', '/bpm/rest', ''] })
    for (const [path, rule] of [
      ['/camunda/actuator', 'server functions'],
      ['/camunda/x/Actuator/env', 'server functions'],
      ['/camunda/h2-console/login.do', 'server functions'],
      ['/camunda/jolokia/exec', 'server functions'],
      ['/camunda/druid/index.html', 'server functions'],
      ['/camunda/hawtio/', 'server functions'],
      ['/camunda/heapdump', 'server functions'],
      ['/camunda/manager/text/deploy', 'server functions'],
      ['/camunda/engine-rest/task', 'engine API'],
      ['/camunda/ENGINE-REST/Task', 'engine API'],
      ['/camunda/engine-rest/engine', 'engine API'],
      ['/camunda/bpm/rest/process-definition/x', 'engine API'],
      ['/camunda/task/x', 'engine API'],
      ['/camunda/other/engine-rest/task', 'engine API'],
      ['/camunda/app/manager/x', null],
      ['/camunda/engine-rest/custom/x', null],
      ['/camunda/bpm/rest', null],
    ] as const)
      t.equal(root('GET', path), rule, path)
    t.end()
  },
)

t.test('deny has precedence over allow, and matches every spelling', (t) => {
  const guard = guardWith({
    enginePaths: null,
    deny: ['POST /app/{name}/x', '/secret/**', 'GET /read'],
    allow: ['/app/**', '/', '/read', 'GET /list/{id}', '/secret'],
  })
  for (const [request, rule] of [
    ['GET /camunda', null],
    ['GET /camunda/', null],
    ['GET /camunda/app', null],
    ['GET /camunda/app/a/x', null],
    ['POST /camunda/app/a/x', 'deny'],
    ['POST /camunda/APP/a/%78', 'deny'],
    ['POST /camunda/app/a/x/y', null],
    ['GET /camunda/secret', 'deny'],
    ['GET /camunda/secret/a/b', 'deny'],
    ['GET /camunda/s%65cret/a/b', 'deny'],
    ['HEAD /camunda/read', 'deny'],
    ['POST /camunda/read', null],
    ['HEAD /camunda/list/1', null],
    ['POST /camunda/list/1', 'allow'],
    ['GET /camunda/list', 'allow'],
    ['GET /camunda/list/1/2', 'allow'],
    ['GET /camunda/LIST/1', 'allow'],
    ['GET /camunda/l%69st/1', 'allow'],
  ] as const)
    t.equal(ask(guard, request), rule, request)
  t.end()
})

t.test('allow opens nothing that is refused otherwise', (t) => {
  const guard = guardWith({ forwardsFunctions: false, allow: ['/api/engine/**', '/actuator/**'] })
  t.equal(guard('GET', '/camunda/api/engine/engine/default/task'), 'web application API')
  t.equal(guard('GET', '/camunda/actuator/health'), 'server functions')
  t.end()
})
