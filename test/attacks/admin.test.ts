import t from 'tap'
import type { AdminAccess } from '../../src/metrics/admin-access.ts'
import { createAdmin } from '../../src/metrics/admin-listener.ts'
import { ADMIN_ROUTES, adminRoutesOf } from '../../src/server/admin-routes.ts'
import { administered } from '../support/administered.ts'
import { speak } from '../support/raw.ts'

const TOKEN = 'a-token-of-the-operators'
const ACCESS: AdminAccess = { host: '127.0.0.1', hosts: [], token: TOKEN, tokens: [] }
const POSTS = Object.values(ADMIN_ROUTES).filter(({ method }) => method === 'POST')
const BASIC = Buffer.from(`x:${TOKEN}`).toString('base64')

const requested: unknown[] = []
const record = async (request: unknown) => {
  requested.push(request)
  return { status: 200, value: {} } as const
}
const admin = await createAdmin({
  access: () => ACCESS,
  slowGuesses: (_address, verify) => verify(),
  host: '127.0.0.1',
  port: 0,
  routes: adminRoutesOf(
    administered({
      explain: (question) => void requested.push(question),
      shift: record,
      purge: record,
      drain: { run: record },
      reload: {
        run: async () => {
          requested.push('reload')
          return { result: 'applied', changed: [] }
        },
      },
    }),
  ),
  tls: null,
  log: { error: () => undefined, info: () => undefined },
})
t.teardown(() => admin.close())

/** Sends a POST with these lines and this body. Returns the status of the response. */
async function post(path: string, lines: readonly string[], body = '{}'): Promise<number | undefined> {
  const { host } = new URL(admin.address)
  const common = [
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  const named = lines.some((line) => line.startsWith('Host:')) ? lines : [`Host: ${host}`, ...lines]
  const head = [`POST ${path} HTTP/1.1`, ...named, ...common].join('\r\n')
  const [answer] = await speak(admin.address, `${head}\r\n\r\n${body}`)
  return answer?.status
}

const AUTHORIZATION = `Authorization: Bearer ${TOKEN}`
const REQUESTED = 'X-Requested-By: attack'

/** Headers of requests that must not change anything. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'without a token': [REQUESTED],
  'the beginning of the token': [`Authorization: Bearer ${TOKEN.slice(0, -1)}`, REQUESTED],
  'the token and one more letter': [`${AUTHORIZATION}x`, REQUESTED],
  'the token in another case': [`Authorization: Bearer ${TOKEN.toUpperCase()}`, REQUESTED],
  'the token and another one': [AUTHORIZATION, AUTHORIZATION.replace(TOKEN, 'other'), REQUESTED],
  'the token twice': [AUTHORIZATION, AUTHORIZATION, REQUESTED],
  'the token of another scheme': [`Authorization: Digest ${TOKEN}`, REQUESTED],
  'the token as the name of a user': [
    `Authorization: Basic ${Buffer.from(`${TOKEN}:`).toString('base64')}`,
    REQUESTED,
  ],
  'without the header that pages cannot send': [AUTHORIZATION],
  'a page of another origin': [AUTHORIZATION, REQUESTED, 'Origin: https://evil.example'],
  'a page without an origin': [AUTHORIZATION, REQUESTED, 'Origin: null'],
  'a page of another site': [`Authorization: Basic ${BASIC}`, REQUESTED, 'Sec-Fetch-Site: cross-site'],
  'a name that was rebound': ['Host: evil.example', AUTHORIZATION, REQUESTED],
}

for (const [hope, lines] of Object.entries(REFUSED))
  t.test(`no function of the admin listener is executed in this request: ${hope}`, async (t) => {
    for (const { path } of POSTS) {
      const status = await post(path, lines)
      t.ok(status === 401 || status === 403, `${path}: ${status}`)
    }
    t.same(requested, [])
  })

t.test('a body that two parsers read differently reaches no function of the admin listener', async (t) => {
  for (const body of [
    '{"__proto__":{"engine":"default"}}',
    '{"engine":"default","constructor":{"prototype":{"reads":"100%"}}}',
    '{"engine":"default"}{}',
    '{"engine":"default"',
    "{'engine':'default'}",
    '{"engine":NaN}',
    '{"engine":"default",}',
    '{"engine":"default"}\u0000',
  ])
    for (const { path } of POSTS) {
      const status = await post(path, [AUTHORIZATION, REQUESTED], body)
      t.ok(status !== undefined && status >= 400 && status < 500, `${path} ${body}: ${status}`)
    }
  t.same(requested, [])
})
