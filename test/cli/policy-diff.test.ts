import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { bounded } from '../../src/metrics/access-log.ts'
import { runInProcess } from '../support/run-command.ts'

const folder = mkdtempSync(join(tmpdir(), 'policy-diff-'))
t.teardown(() => rmSync(folder, { recursive: true }))

function write(name: string, content: unknown): string {
  const file = join(folder, name)
  writeFileSync(
    file,
    typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content),
  )
  return file
}

const HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
const userOf = (id: string, groups: readonly string[] = []) => ({ id, passwordHash: HASH, groups })
const USERS = write('users.yaml', {
  users: [
    userOf('mary', ['clerks']),
    userOf('john', ['clerks']),
    userOf('anna'),
    userOf('root', ['camunda-admin']),
  ],
})

const PROCESS_DEFINITION = 6
const PROCESS_INSTANCE = 8
const DEPLOYMENT = 9
const TASK = 7
const BATCH = 13

const grantOf = (
  subject: object,
  resourceType: number,
  resourceId: string,
  permissions: readonly string[],
) => ({
  type: 1,
  ...subject,
  resourceType,
  resourceId,
  permissions,
})

const START = [
  grantOf({ groupId: 'clerks' }, PROCESS_INSTANCE, '*', ['CREATE']),
  grantOf({ userId: 'anna' }, PROCESS_INSTANCE, '*', ['CREATE']),
]

let lines = 0
function lineOf(user: string, operation: string, rest: object = {}): string {
  lines += 1
  return JSON.stringify({
    level: 'info',
    time: '2026-01-31T09:13:40.002Z',
    stream: 'audit',
    requestId: `r${lines}`,
    user,
    authenticated: 'basic',
    engine: 'default',
    operation,
    method: 'POST',
    decision: 'permitted',
    status: 200,
    durationMs: 1,
    ...rest,
  })
}

const startOf = (user: string, key: string, rest: object = {}) =>
  lineOf(user, 'startProcessInstanceByKey', { params: { key }, ...rest })

const diff = (...argv: readonly string[]) => runInProcess(['policy', 'diff', ...argv])

async function diffJson(...argv: readonly string[]) {
  const { code, out, err } = await diff(...argv, '--format', 'json')
  return { code, err, ...JSON.parse(out) }
}

t.test('policy diff shows who loses what, who does not, and which requests change', async (t) => {
  const key = grantOf({ groupId: 'clerks' }, PROCESS_DEFINITION, 'invoice', ['CREATE_INSTANCE', 'READ'])
  const covering = grantOf({ userId: 'john' }, PROCESS_DEFINITION, '*', ['CREATE_INSTANCE'])
  const before = write('before.yaml', { authorizations: [...START, key, covering] })
  const after = write('after.yaml', {
    authorizations: [...START, { ...key, permissions: ['READ'] }, covering],
  })
  const audit = write(
    'audit.jsonl',
    [startOf('mary', 'invoice'), startOf('john', 'invoice'), startOf('mary', 'invoice')].join('\n'),
  )
  const { code, out, err } = await diff(before, after, '--users', USERS, '--audit', audit)
  t.match({ code, err }, { code: 1, err: '' })
  t.same(out.split('\n'), [
    'Records:',
    '  changed GRANT to group clerks on ProcessDefinition invoice: -CREATE_INSTANCE',
    '',
    'Permissions:',
    '  group clerks; user mary',
    '    loses CREATE_INSTANCE on ProcessDefinition invoice (before: granted by GRANT to group clerks on invoice (step 5); after: no record)',
    '',
    'Without effect:',
    '  CREATE_INSTANCE for user john: GRANT to group clerks on ProcessDefinition invoice: granted by GRANT to user john on * (step 3)',
    '',
    'Requests:',
    '  permitted → refused  startProcessInstanceByKey  mary  2 times  for example POST /process-definition/key/invoice/start (request r1)',
    '',
    '3 audit lines: 2 would change, 1 would not, 0 not decidable from the line, 0 not decided by OLD',
    '1 record differs; callers gain or lose permissions',
    '',
  ])
})

t.test('policy diff exits with 0 if no caller gains or loses a permission', async (t) => {
  const before = write('order.yaml', { authorizations: START })
  const after = write('reversed.yaml', { authorizations: START.toReversed() })
  t.match(await diff(before, after, '--users', USERS), {
    code: 0,
    out: '0 records differ; no caller gains or loses a permission\n',
  })
  const covered = grantOf({ groupId: 'clerks' }, PROCESS_INSTANCE, 'i1', ['CREATE'])
  const added = write('added.yaml', { authorizations: [...START, covered] })
  t.match(await diffJson(before, added, '--users', USERS), {
    code: 0,
    effects: [],
    covered: [{ subject: { kind: 'group' } }, { subject: { name: 'mary' } }, { subject: { name: 'john' } }],
  })
})

const subjectOf = (at: number) => (at % 2 === 0 ? { userId: 'anna' } : { groupId: 'clerks' })

const missingOf = (resourceId: string) => ({
  decision: 'refused',
  status: 403,
  stage: 'permit',
  rule: 'check 2',
  missing: [{ permission: 'CREATE_INSTANCE', resource: 'ProcessDefinition', resourceId, need: 0 }],
})

/** Returns a refusal that lacks so many permissions. */
const missingIn = (count: number) => ({
  ...missingOf('invoice'),
  missing: Array.from({ length: count }, () => missingOf('invoice').missing[0]),
})

t.test('each of 100 planted changes is named with a request, and no other request is named', async (t) => {
  const keys = Array.from({ length: 200 }, (_, at) => `key${at}`)
  const records = keys.map((key, at) => grantOf(subjectOf(at), PROCESS_DEFINITION, key, ['CREATE_INSTANCE']))
  // Half of the changes grant the first 50 keys anew, and half revoke the next 50.
  const others = [
    ...START,
    { type: 0, userId: '*', resourceType: PROCESS_DEFINITION, resourceId: '*', permissions: ['READ'] },
  ]
  const before = write('planted.yaml', { authorizations: [...others, ...records.slice(50)] })
  const after = write('planted-after.yaml', {
    authorizations: [...others, ...records.slice(0, 50), ...records.slice(100)],
  })
  const audit = write(
    'planted.jsonl.gz',
    gzipSync(
      keys
        .map((key, at) => startOf(at % 2 === 0 ? 'anna' : 'mary', key, at < 50 ? missingOf(key) : {}))
        .join('\n'),
    ),
  )
  const named = new Set<string>()
  const { code, requests, effects } = await diffJson(before, after, '--users', USERS, '--audit', audit)
  t.equal(code, 1)
  t.match(requests, { lines: 200, changed: 100, unchanged: 100, undecidable: 0, notByOld: 0 })
  for (const { subjects, changes } of effects)
    for (const { resourceId, state } of changes) named.add(`${subjects[0].name} ${resourceId} ${state.after}`)
  t.same(
    named,
    new Set(
      keys
        .slice(0, 100)
        .map((key, at) => `${at % 2 === 0 ? 'anna' : 'clerks'} ${key} ${at < 50 ? 'granted' : 'no record'}`),
    ),
  )
  t.same(
    requests.changes
      .map(({ user, before: old, after: fresh, times }: Record<string, unknown>) => [user, old, fresh, times])
      .toSorted(),
    [
      ['anna', 'permitted', 'refused', 25],
      ['anna', 'refused', 'permitted', 25],
      ['mary', 'permitted', 'refused', 25],
      ['mary', 'refused', 'permitted', 25],
    ],
  )
})

t.test('a request is not decidable if the line does not name what the decision depends on', async (t) => {
  const before = write('tasks.yaml', {
    authorizations: [grantOf({ userId: 'anna' }, PROCESS_DEFINITION, 'invoice', ['UPDATE_TASK'])],
  })
  const after = write('no-tasks.yaml', { authorizations: [] })
  const audit = write('tasks.jsonl', lineOf('anna', 'complete', { params: { id: 't1' }, status: 204 }))
  t.match(await diffJson(before, after, '--users', USERS, '--audit', audit), {
    code: 1,
    requests: {
      changed: 0,
      undecidable: 1,
      undecided: [
        {
          user: 'anna',
          operation: 'complete',
          after: null,
          times: 1,
          reason: /^not in the line: processDefinitionKey of the task/,
        },
      ],
    },
  })
})

const deleted = (id: string, key: string, times = 1) =>
  lineOf('anna', 'deleteProcessInstance', {
    params: { id },
    status: 204,
    permittedBy: Array.from({ length: times }, () => ({
      check: 0,
      by: 'record',
      permission: 'DELETE_INSTANCE',
      resource: 'ProcessDefinition',
      record: {
        type: 1,
        userId: 'anna',
        resourceType: 6,
        resource: 'ProcessDefinition',
        resourceId: key,
        position: 0,
      },
    })),
  })

t.test('the reasons of a line make a request decidable that depends on an entity', async (t) => {
  const before = write('reason.yaml', {
    authorizations: [
      grantOf({ userId: 'anna' }, PROCESS_DEFINITION, 'invoice', ['DELETE_INSTANCE']),
      grantOf({ userId: 'anna' }, PROCESS_DEFINITION, 'order', ['DELETE_INSTANCE']),
    ],
  })
  const after = write('no-invoice.yaml', {
    authorizations: [grantOf({ userId: 'anna' }, PROCESS_DEFINITION, 'order', ['DELETE_INSTANCE'])],
  })
  // A line has at most 20 reasons, so with 20 of them it may lack others.
  const all = [deleted('i1', 'invoice'), deleted('i2', 'order'), deleted('i3', 'invoice', 20)]
  const audit = write('reasons.jsonl', all.join('\n'))
  t.match(await diffJson(before, after, '--users', USERS, '--audit', audit), {
    code: 1,
    requests: {
      changed: 1,
      unchanged: 1,
      undecidable: 1,
      changes: [
        {
          operation: 'deleteProcessInstance',
          after: 'refused',
          example: { request: 'DELETE /process-instance/i1' },
        },
      ],
    },
  })
})

t.test(
  'a request is not decidable if its line lacks ids, the groups of the caller or a set of entities',
  async (t) => {
    const before = write('all.yaml', {
      authorizations: [
        { type: 0, userId: '*', resourceType: PROCESS_DEFINITION, resourceId: '*', permissions: ['ALL'] },
        grantOf({ userId: 'anna' }, PROCESS_INSTANCE, '*', ['ALL']),
      ],
    })
    const after = write('nothing.yaml', { authorizations: [] })
    const cases = [
      [startOf('anna', 'invoice', { authenticated: 'oidc keycloak' }), /groups of the token/],
      [startOf('anna', bounded('x'.repeat(257)) ?? ''), /complete ids/],
      // A pair of surrogates at the end is not cut in half, so the text is shorter by one.
      [startOf('anna', bounded(`${'x'.repeat(254)}😀${'x'.repeat(9)}`) ?? ''), /complete ids/],
      [startOf('anna', 'invoice', missingIn(100)), /complete ids/],
      [startOf('anna', 'invoice', { ...missingIn(1), missing: [{ permission: 'CREATE' }] }), /complete ids/],
      [startOf('anna', 'a\uFFFD'), /complete ids/],
      [
        lineOf('anna', 'throwSignal', { permittedBy: [{ by: 'no check' }], status: 204 }),
        /signalSubscriptions/,
      ],
    ] as const
    for (const [line, reason] of cases) {
      const { requests } = await diffJson(
        before,
        after,
        '--users',
        USERS,
        '--audit',
        write('one.jsonl', line),
      )
      t.match(requests, { changed: 0, undecidable: 1, undecided: [{ reason }] }, line)
    }
  },
)

t.test(
  'a request whose body selects entities is not decidable if a permission of the caller changes',
  async (t) => {
    const kept = [
      grantOf({ userId: 'anna' }, BATCH, '*', ['ALL']),
      grantOf({ userId: 'anna' }, PROCESS_INSTANCE, '*', ['ALL']),
    ]
    const before = write('selects.yaml', {
      authorizations: [...kept, grantOf({ userId: 'anna' }, TASK, 'x', ['READ'])],
    })
    const after = write('selects-less.yaml', { authorizations: kept })
    const audit = write('selects.jsonl', lineOf('anna', 'setExternalTaskRetriesAsyncOperation'))
    t.match(await diffJson(before, after, '--users', USERS, '--audit', audit), {
      requests: { undecidable: 1, undecided: [{ reason: /the entities that the body selects/ }] },
    })
  },
)

t.test('users of an htpasswd file have the groups of the file with memberships', async (t) => {
  const hash = `$2y$04$${'a'.repeat(53)}`
  const passwords = write('htpasswd', `mary:${hash}\n`)
  const records = write('clerks.yaml', { authorizations: START })
  const configOf = (name: string, groups: readonly string[]) =>
    write(name, {
      version: 1,
      engines: { default: { nodes: ['http://127.0.0.1:1/engine-rest'] } },
      identity: {
        source: 'htpasswd',
        file: passwords,
        groupsFile: write(`groups-${name}`, { users: [{ id: 'mary', groups }] }),
      },
      authorization: { records: { source: 'file', file: records } },
    })
  t.match(await diffJson(configOf('in.yaml', ['clerks']), configOf('out.yaml', [])), {
    code: 1,
    users: [{ user: 'mary', groups: { lost: ['clerks'] } }],
  })
})

t.test('a line that OLD cannot have decided is counted separately', async (t) => {
  const before = write('none.yaml', { authorizations: [] })
  const after = write('deploy.yaml', {
    authorizations: [grantOf({ userId: 'anna' }, DEPLOYMENT, '*', ['CREATE'])],
  })
  const audit = write('deploy.jsonl', lineOf('anna', 'createDeployment'))
  t.match(await diffJson(before, after, '--users', USERS, '--audit', audit), {
    requests: {
      changed: 0,
      undecidable: 0,
      notByOld: 1,
      exampleNotByOld: { request: 'POST /deployment/create' },
    },
  })
})

t.test('a line without a decision of the policy decides no request', async (t) => {
  const before = write('has-deploy.yaml', {
    authorizations: [grantOf({ userId: 'anna' }, DEPLOYMENT, '*', ['CREATE'])],
  })
  const after = write('no-deploy.yaml', { authorizations: [] })
  const of = (rest: object) => lineOf('anna', 'createDeployment', rest)
  const reported = { decision: 'reported', rule: 'GW_HAZARD' }
  const none = { lines: 1, changed: 0, unchanged: 0, undecidable: 0, notByOld: 0 }
  const cases = [
    [of({ permittedBy: [{ by: 'authorization off' }] }), { ...none, notByOld: 1 }],
    [of({ permittedBy: [{ by: 'engine' }] }), { ...none, notByOld: 1 }],
    [of({ decision: 'of another version' }), { ...none, notByOld: 1 }],
    [of({ ...reported, stage: 'rules' }), { ...none, undecidable: 1 }],
    [of({ ...reported, stage: 'permit' }), { ...none, undecidable: 1 }],
    [lineOf('root', 'createDeployment', { ...reported, stage: 'rules' }), { ...none, undecidable: 1 }],
    [lineOf('root', 'createDeployment'), { ...none, changed: 1 }],
    [of({ authenticated: 'of another version' }), { ...none, undecidable: 1 }],
    [lineOf('anna', 'deleteDeployment'), { ...none, undecidable: 1 }],
    [of({ decision: 'refused', stage: 'rules', rule: 'GW_HAZARD' }), { ...none, unchanged: 1 }],
    [of({ permittedBy: [{ by: 'open operation' }] }), { ...none, unchanged: 1 }],
    [of({ decision: 'changed' }), { ...none, changed: 1 }],
  ] as const
  const config = (name: string, users: readonly object[], records: string) =>
    write(name, {
      version: 1,
      engines: { default: { nodes: ['http://127.0.0.1:1/engine-rest'] } },
      identity: { source: 'file', file: write(`users-${name}`, { users }) },
      authorization: { records: { source: 'file', file: records } },
    })
  const all = [userOf('anna'), userOf('root', ['camunda-admin'])]
  const policies = [
    config('with-root.yaml', all, before),
    config('without-root.yaml', all.slice(0, 1), after),
  ] as const
  for (const [line, requests] of cases)
    t.match(await diffJson(...policies, '--audit', write('decision.jsonl', line)), { requests }, line)
})

t.test('lines that are cut are counted, because their requests are not known', async (t) => {
  const records = write('uncut.yaml', { authorizations: START })
  const line = startOf('anna', 'invoice')
  const audit = write('cut.jsonl', [line, line.slice(0, -9)].join('\n'))
  const argv = [records, records, '--users', USERS, '--audit', audit]
  t.match(await diffJson(...argv), { requests: { lines: 1, unreadable: 1 } })
  t.match((await diff(...argv)).out, /^1 line could not be read as JSON\n1 audit line: 0 would change/m)
})

t.test('lines of logins and events are no requests', async (t) => {
  const before = write('login.yaml', { authorizations: START })
  const after = write('login-after.yaml', { authorizations: [] })
  const login = lineOf('anna', 'startProcessInstanceByKey', {
    params: { key: 'invoice' },
    stage: 'authenticate',
    rule: 'login',
    status: 403,
  })
  const event = JSON.stringify({ stream: 'audit', event: 'policy', engine: 'default', policy: 'p' })
  const audit = write('login.jsonl', [login, event].join('\n'))
  const { code, err } = await diff(before, after, '--users', USERS, '--audit', audit)
  t.equal(code, 2)
  t.match(err, /There is no audit line of a request/)
})

t.test('without users, requests of affected policies are not decidable', async (t) => {
  const before = write('u1.yaml', { authorizations: START })
  const after = write('u2.yaml', { authorizations: [] })
  const audit = write('u.jsonl', startOf('mary', 'invoice'))
  t.match(await diffJson(before, after, '--audit', audit), {
    requests: { undecidable: 1, undecided: [{ reason: /the groups of the user are not known/ }] },
  })
})

t.test('policy diff compares configurations with their users and settings', async (t) => {
  const records = write('records.yaml', { authorizations: START })
  const config = (name: string, users: string, rest: object = {}) =>
    write(name, {
      version: 1,
      engines: { default: { nodes: ['http://127.0.0.1:1/engine-rest'] } },
      identity: { source: 'file', file: users },
      authorization: { records: { source: 'file', file: records }, ...rest },
    })
  const moved = write('moved.yaml', { users: [userOf('mary'), userOf('john', ['clerks'])] })
  const result = await diffJson(
    config('one.yaml', USERS),
    config('two.yaml', moved, { adminUsers: ['john'] }),
  )
  t.match(result, {
    code: 1,
    records: [],
    users: [
      { user: 'mary', change: 'changed', groups: { gained: [], lost: ['clerks'] } },
      { user: 'john', change: 'changed', administrator: 'gained' },
      { user: 'anna', change: 'removed' },
      { user: 'root', change: 'removed' },
    ],
  })
})

t.test('a setting that changes decisions is named, and is a change without any other', async (t) => {
  const records = write('same.yaml', { authorizations: START })
  const config = (name: string, authorization: object) =>
    write(name, {
      version: 1,
      engines: { default: { nodes: ['http://127.0.0.1:1/engine-rest'] } },
      identity: { source: 'engine' },
      authorization: { records: { source: 'file', file: records }, ...authorization },
    })
  const plain = config('plain.yaml', {})
  const cases = [
    [{ mode: 'off' }, ['authorization.mode'], 1],
    [{ tenants: 'ignore' }, ['authorization.tenants'], 1],
    [{ adminUsers: ['john'] }, ['authorization.adminUsers'], 1],
    [{ implied: { tasks: false } }, ['authorization.implied.tasks'], 1],
    [{ specificVariablePermissions: true }, ['authorization.specificVariablePermissions'], 1],
    // For this setting, the effect on permissions is compared. Here it has no effect.
    [{ revokes: 'never' }, ['authorization.revokes'], 0],
  ] as const
  for (const [authorization, settings, code] of cases)
    t.match(
      await diffJson(plain, config('other.yaml', authorization)),
      { code, settings, records: [], users: [], effects: [] },
      JSON.stringify(authorization),
    )
  const { out } = await diff(plain, config('off.yaml', { mode: 'off' }))
  t.match(out, /^Settings:\n {2}authorization\.mode differs\n/)
  t.match(await diffJson(plain, plain), { code: 0, settings: [] })
})

t.test('a request whose operation has other checks is not decidable', async (t) => {
  const records = write('variables.yaml', { authorizations: [] })
  const config = (name: string, specificVariablePermissions: boolean) =>
    write(name, {
      version: 1,
      engines: { default: { nodes: ['http://127.0.0.1:1/engine-rest'] } },
      identity: { source: 'file', file: USERS },
      authorization: {
        records: { source: 'file', file: records },
        implied: { tasks: false },
        specificVariablePermissions,
      },
    })
  const audit = write('variables.jsonl', lineOf('anna', 'getTaskVariables', { params: { id: 't1' } }))
  const [before, after] = [config('general.yaml', false), config('specific.yaml', true)]
  t.match(await diffJson(before, after, '--audit', audit), {
    requests: {
      undecidable: 1,
      undecided: [{ reason: 'specificVariablePermissions changes the checks of the operation' }],
    },
  })
})

t.test('policy diff reports files and arguments that it cannot use', async (t) => {
  const records = write('ok.yaml', { authorizations: [] })
  const invalid = write('invalid.yaml', { authorizations: [{ type: 7 }] })
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[records], /missing required argument 'NEW'/],
    [[records, join(folder, 'absent.yaml')], /absent\.yaml has 1 problem/],
    [[records, invalid], /invalid\.yaml has \d+ problem/],
    [[records, records, '--audit', join(folder, 'absent.jsonl.gz')], /absent\.jsonl\.gz does not exist/],
    [[records, records, '--audit', write('empty.jsonl', '')], /There is no audit line/],
    [
      [records, records, '--audit', write('other.jsonl', startOf('mary', 'x', { engine: 'orders' }))],
      /No line is of engine default, but of orders/,
    ],
  ]
  for (const [argv, problem] of cases) {
    const { code, out, err } = await diff(...argv)
    t.match({ code, out }, { code: 2, out: '' }, argv.join(' '))
    t.match(err, problem)
  }
})
