import t from 'tap'
import { checkMove, type MoveCheckOptions } from '../../src/move/check-move.ts'
import { isObstacle, type MoveFinding } from '../../src/move/move-finding.ts'
import { aboutEngine, stubEngine, type StubResponse } from './stub-engine.ts'

const BOTH_GROUPS = ['camunda-admin', 'operaton-admin']

const GROUP = { release: null, readVersions: async () => [] }

interface Move {
  readonly old?: Readonly<Record<string, StubResponse>>
  readonly next?: Readonly<Record<string, StubResponse>>
  readonly options?: Partial<MoveCheckOptions>
}

/** Checks a move from Camunda 7.24.0 to Operaton 1.0.3. The members replace responses and options. */
function check({ old = {}, next = {}, options = {} }: Move = {}): Promise<readonly MoveFinding[]> {
  const from = stubEngine({ ...aboutEngine('Camunda', '7.24.0', '7.24.0'), ...old })
  const to = stubEngine({ ...aboutEngine('Operaton', '1.0.3', '7.24.0'), ...next })
  return checkMove({
    from: { ...GROUP, name: 'old', ask: from.ask },
    to: { ...GROUP, name: 'new', ask: to.ask },
    administrators: { groups: BOTH_GROUPS, users: [], areAtEngine: true },
    isDeploymentAware: false,
    hasTime: () => true,
    onProgress: () => undefined,
    ...options,
  })
}

const obstaclesOf = (findings: readonly MoveFinding[]) =>
  findings
    .filter(isObstacle)
    .map(({ severity, subject, group, found }) => `${severity} ${group} ${subject}: ${found}`)

t.test('two families on one database with a current schema have no obstacle', async (t) => {
  const findings = await check()
  t.same(obstaclesOf(findings), [])
  t.match(
    findings.filter(({ subject }) => subject === 'family'),
    [
      { group: 'old', found: 'the nodes run Camunda 7.24.0' },
      { group: 'new', found: 'the nodes run Operaton 1.0.3' },
    ],
  )
  t.match(
    findings.find(({ subject }) => subject === 'deployment-aware'),
    { severity: 'info', action: /jobExecutorDeploymentAware/ },
  )
  t.ok(findings.every((finding) => !isObstacle(finding) || finding.action !== null))
})

const logOf = (...versions: readonly string[]) =>
  versions.map((version, at) => ({ id: String(at), timestamp: '2026', version }))

t.test('a schema that is too old is an error for the group that needs a newer one', async (t) => {
  const log = { '/schema/log': logOf('7.22.0') }
  const old = { ...log, '/version': { version: '7.22.0' } }
  const findings = await check({ old, next: log })
  t.match(obstaclesOf(findings), [
    /^error new schema: Operaton 1\.0\.3 needs the schema 7\.23, and .* has 7\.22\.0/,
  ])
  t.match(findings.find(isObstacle)?.action, /upgrade scripts from 7\.22\.0 to 7\.24/)
  const migrated = { '/schema/log': logOf('7.22.0', '7.23.0') }
  t.same(obstaclesOf(await check({ old: { ...old, ...migrated }, next: migrated })), [])
})

t.test('groups with different databases are an error', async (t) => {
  const next = { '/schema/log': logOf('7.24.0', '7.24.0') }
  t.match(obstaclesOf(await check({ next })), [/^error null database: GET \/schema\/log differs/])
})

t.test('a family or a schema that is not shown is a warning', async (t) => {
  const hidden = { '/telemetry/data': 403, '/schema/log': 403 }
  t.match(obstaclesOf(await check({ next: hidden })), [
    /^warning new family: the nodes run an engine of an unknown family 1\.0\.3/,
    /^warning new schema: it is not known whether the schema fits/,
  ])
  const from = stubEngine({ ...aboutEngine('Camunda', '7.24.0', '7.24.0'), '/telemetry/data': 404 })
  const options = { from: { ...GROUP, name: 'old', ask: from.ask, release: 'Camunda 7.24' } } as const
  t.same(obstaclesOf(await check({ options })), [], 'a configured release names the family')
})

const ask = () => Promise.reject(new Error('refused'))

t.test('a group that does not respond is an error, and the other group is checked', async (t) => {
  const findings = await check({ options: { to: { ...GROUP, name: 'new', ask } } })
  t.match(obstaclesOf(findings), [/^error new connection: no node of the group responds: refused$/])
  t.ok(findings.some(({ subject, group }) => subject === 'schema' && group === 'old'))
})

t.test('settings that differ are warnings', async (t) => {
  const next = { '/history/cleanup/configuration': { enabled: false }, '/identity/password-policy': 404 }
  t.match(obstaclesOf(await check({ next })), [
    /^warning null setting: the history cleanup differs .* old has {"enabled":true}, new has {"enabled":false}$/,
  ])
})

t.test('missing admin groups and administrators are warnings', async (t) => {
  const administrators = { groups: ['camunda-admin'], users: ['mary'], areAtEngine: true }
  const found = obstaclesOf(await check({ old: { '/user': [] }, options: { administrators } }))
  t.match(found, [
    /^warning new admin-group: authorization\.adminGroups does not name operaton-admin/,
    /^warning old admin-group: the user mary of authorization\.adminUsers does not exist at the engine$/,
  ])
  const inFile = { ...administrators, groups: BOTH_GROUPS, areAtEngine: false }
  t.same(obstaclesOf(await check({ old: { '/user': [] }, options: { administrators: inFile } })), [])
})

/** Returns the response to a query for the members of a group. */
function membersOf(group: string, members: readonly string[] | number) {
  const path = `/user?memberOfGroup=${group}&maxResults=1001`
  return { [path]: typeof members === 'number' ? members : members.map((id) => ({ id })) }
}

/** Returns the obstacles if the old admin group has these members, and the new one has mary. */
async function foundWith(
  members: readonly string[] | number,
  options?: Partial<MoveCheckOptions>,
): Promise<readonly string[]> {
  const old = { ...membersOf('camunda-admin', members), ...membersOf('operaton-admin', ['mary']) }
  return obstaclesOf(await check({ old, ...(options !== undefined && { options }) }))
}

t.test('administrators of the old family who are none of the new one are a warning', async (t) => {
  t.same(await foundWith(['mary']), [])
  t.same(await foundWith(['mary', 'ben', 'ann']), [
    'warning new admin-group: members of camunda-admin who are not members of operaton-admin: ben, ann (2 in total)',
  ])
  const many = Array.from({ length: 1000 }, (_, at) => `u${at}`)
  t.match(await foundWith(many), [/: members of camunda-admin .*: u0, u1, .*, u9 … \(1000 in total\)$/])
  for (const unreadable of [[...many, 'one more'], 403] as const)
    t.match(await foundWith(unreadable), [/^warning new admin-group: the members .* cannot be compared/])
  const administrators = { groups: BOTH_GROUPS, users: [], areAtEngine: false }
  t.same(await foundWith(['ben'], { administrators }), [], 'the users are in a file')
  const unnamed = { ...administrators, groups: ['operaton-admin'], areAtEngine: true }
  t.same(await foundWith(['ben'], { administrators: unnamed }), [
    'warning old admin-group: authorization.adminGroups does not name camunda-admin, whose members are administrators at Camunda',
  ])
})

t.test(
  'deployments that are not registered are a warning if the configuration is deployment aware',
  async (t) => {
    const old = { '/deployment/registered': ['d1', 'd2'] }
    const next = { '/deployment/registered': ['d2'] }
    t.same(obstaclesOf(await check({ old, next })), [])
    t.match(obstaclesOf(await check({ old, next, options: { isDeploymentAware: true } })), [
      /^warning new deployment-aware: 1 deployments that a node of old has registered are not registered/,
    ])
  },
)

t.test('nodes that cannot be used, or have other versions, are warnings', async (t) => {
  const stub = stubEngine(aboutEngine('Operaton', '1.0.3', '7.24.0'))
  const checkNodes = (versions: readonly (readonly [version: string | null, problem: string | null])[]) => {
    const nodes = versions.map(([version, problem], at) => ({ node: `n${at}`, version, problem }))
    return check({
      options: { to: { ...GROUP, name: 'new', ask: stub.ask, readVersions: async () => nodes } },
    })
  }
  t.same(
    obstaclesOf(
      await checkNodes([
        ['1.0.3', null],
        ['1.0.3', null],
      ]),
    ),
    [],
  )
  t.same(
    obstaclesOf(
      await checkNodes([
        ['1.0.3', null],
        ['1.0.2', null],
        [null, 'refused'],
      ]),
    ),
    [
      'warning new connection: the node n2 cannot be used: refused',
      'warning new family: the nodes of the group run different versions: n0: 1.0.3, n1: 1.0.2',
    ],
  )
})
