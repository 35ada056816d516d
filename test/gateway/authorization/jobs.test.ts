import t, { type Test } from 'tap'
import { CHECKED_COMMANDS, OPEN_COMMANDS } from '../../../src/operations/job-command-names.ts'
import { buildDryRun } from '../../../src/gateway.ts'
import { createExplain, questionOf } from '../../../src/pipeline/explain.ts'
import { BASE, openGateway } from '../../support/open-gateway.ts'

/** Permissions that a grant on all must contain for each command. A secured engine checks the same permissions. */
const NEEDED: Readonly<Record<(typeof CHECKED_COMMANDS)[number], readonly string[]>> = {
  'activate-job-definition': ['PROCESS_DEFINITION UPDATE,UPDATE_INSTANCE'],
  'activate-processdefinition': ['PROCESS_DEFINITION SUSPEND,SUSPEND_INSTANCE'],
  'correlate-message': ['PROCESS_INSTANCE UPDATE'],
  'historic-decision-instance-deletion': ['DECISION_DEFINITION DELETE_HISTORY'],
  'historic-instance-deletion': ['PROCESS_DEFINITION DELETE_HISTORY'],
  'instance-deletion': ['PROCESS_INSTANCE DELETE'],
  'instance-migration': ['PROCESS_DEFINITION MIGRATE_INSTANCE'],
  'instance-modification': ['PROCESS_INSTANCE UPDATE,DELETE'],
  'instance-restart': ['PROCESS_DEFINITION READ_HISTORY,CREATE_INSTANCE', 'PROCESS_INSTANCE CREATE'],
  'instance-update-suspension-state': ['PROCESS_INSTANCE SUSPEND'],
  'set-external-task-retries': ['PROCESS_DEFINITION UPDATE_INSTANCE'],
  'set-job-retries': ['PROCESS_INSTANCE RETRY_JOB'],
  'set-variables': ['PROCESS_INSTANCE UPDATE_VARIABLE'],
  'suspend-job-definition': ['PROCESS_DEFINITION UPDATE', 'PROCESS_INSTANCE UPDATE'],
  'suspend-processdefinition': ['PROCESS_DEFINITION SUSPEND', 'PROCESS_INSTANCE SUSPEND'],
}
/** Commands of jobs without a job definition. */
const LOGGED: ReadonlySet<string> = new Set([
  ...CHECKED_COMMANDS.filter((command) => command.endsWith('definition')),
  'history-cleanup',
  'strange',
])

interface World {
  /** Members of every job. */
  readonly job?: Readonly<Record<string, unknown>>
  /** True if the job log is empty. */
  readonly unlogged?: boolean
  /** The only entry of the job log, whatever the query. */
  readonly log?: Readonly<Record<string, unknown>>
  /** Tenant ids of the items of each list, in the ascending order of the engine. */
  readonly tenantIds?: readonly (string | null)[]
  readonly records?: readonly string[]
  readonly tenants?: 'check' | 'ignore'
}

/** Opens a gateway whose engine has a job `x` for each command `x`. */
function openJobs(t: Test, world: World) {
  const { records = [], tenants = 'ignore' } = world
  return openGateway(t, {
    records,
    settings: {
      cache: { memory: { maxBytes: '0B' } },
      authorization: { tenants, records: { source: 'file', file: 'records.yaml' } },
    },
    engine: ({ method, url }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://engine')
      const body = answerTo(decodeURIComponent(pathname.slice(BASE.length)), searchParams, world)
      const status = method === 'POST' ? 204 : body === undefined ? 404 : 200
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(status === 200 ? JSON.stringify(body) : undefined)
    },
  })
}

function answerTo(path: string, query: URLSearchParams, { job, log, unlogged, tenantIds = [null] }: World) {
  const [, kind, id = ''] = path.split('/')
  if (query.get('sortBy') === 'tenantId' && query.get('maxResults') === '1') {
    const rows = query.get('sortOrder') === 'asc' ? tenantIds : tenantIds.toReversed()
    return rows.slice(0, 1).map((tenantId) => ({ kind, tenantId }))
  }
  const jobId = query.get('jobId')
  const answers: Readonly<Record<string, unknown>> = {
    [`/job/${id}`]: {
      id,
      jobDefinitionId: LOGGED.has(id) ? null : id,
      processDefinitionKey: null,
      processInstanceId: null,
      tenantId: null,
      ...job,
    },
    [`/job-definition/${id}`]: {
      id,
      jobType: id,
      processDefinitionId: null,
      processDefinitionKey: null,
      tenantId: null,
    },
    [`/process-instance/${id}`]: { id, definitionId: 'review:1', tenantId: tenantIds[0] },
    '/process-definition/review:1': { id: 'review:1', key: 'review', tenantId: null },
    '/history/job-log': unlogged === true ? [] : [log ?? { jobId, jobDefinitionType: jobId }],
  }
  return answers[path]
}

type Gateway = Awaited<ReturnType<typeof openJobs>>

/** Executes the job. Returns the status or the error code, and whether the engine received the request. */
async function execute({ ask }: Gateway, user: string, id: string) {
  const { status, headers, body, forwarded } = await ask(user, `POST /job/${id}/execute`)
  const isExecuted = forwarded.some(({ method }) => method === 'POST')
  return { status, code: headers['x-gateway-error'], body, isExecuted, requests: forwarded.length }
}

const REFUSED = { status: 403, code: 'GW_CHECK_NOT_EXACT', isExecuted: false }
const EXECUTED = { status: 204, isExecuted: true }

/** Returns a grant on all for each line such as `PROCESS_INSTANCE UPDATE,DELETE`, without one of the permissions. */
function grants(user: string, needed: readonly string[], without = ''): readonly string[] {
  return needed.flatMap((line) => {
    const [resource, names = ''] = line.split(' ')
    const left = names.split(',').filter((name) => `${resource}.${name}` !== without)
    return left.length === 0 ? [] : [`grant ${user} ${resource}:* ${left.join(',')}`]
  })
}

function permissionsOf(needed: readonly string[]): readonly string[] {
  return needed.flatMap((line) => {
    const [resource, names = ''] = line.split(' ')
    return names.split(',').map((name) => `${resource}.${name}`)
  })
}

t.test(
  'a job without a definition is not executed for a caller who lacks the permissions of its command',
  async (t) => {
    const gateway = await openJobs(t, {})
    for (const command of CHECKED_COMMANDS) {
      const answer = await execute(gateway, 'mary', command)
      t.match(answer, { status: 403, isExecuted: false }, command)
    }
  },
)

for (const command of CHECKED_COMMANDS)
  t.test(`${command} needs each of its permissions on all resources`, async (t) => {
    const needed = NEEDED[command]
    // Each of these users lacks a different permission.
    const users = ['anna', 'ben', 'nobody'].slice(0, permissionsOf(needed).length)
    const lacking = permissionsOf(needed).flatMap((without, at) => grants(users[at] ?? '', needed, without))
    const gateway = await openJobs(t, { records: [...grants('mary', needed), ...lacking] })
    t.match(await execute(gateway, 'mary', command), EXECUTED)
    for (const user of users)
      t.match(await execute(gateway, user, command), { status: 403, isExecuted: false }, user)
  })

t.test('a job is refused if a revocation may apply to an entity that it acts on', async (t) => {
  const all = grants('mary', ['PROCESS_DEFINITION ALL', 'PROCESS_INSTANCE ALL', 'DECISION_DEFINITION ALL'])
  const gateway = await openJobs(t, { records: [...all, 'revoke mary PROCESS_DEFINITION:other ALL'] })
  for (const command of CHECKED_COMMANDS) {
    const isOfAll = command === 'historic-decision-instance-deletion'
    t.match(await execute(gateway, 'mary', command), isOfAll ? EXECUTED : REFUSED, command)
  }
})

t.test('a command that a secured engine runs for every user is executed for every caller', async (t) => {
  for (const unlogged of [false, true]) {
    const gateway = await openJobs(t, { unlogged })
    for (const command of OPEN_COMMANDS) {
      // For a job without a job definition, only the log shows the command.
      const isTold = command !== 'history-cleanup' || !unlogged
      t.match(await execute(gateway, 'nobody', command), isTold ? EXECUTED : REFUSED, command)
    }
  }
})

t.test('a job with an unknown command is executed for callers who may run all known commands', async (t) => {
  const all = ['PROCESS_DEFINITION ALL', 'PROCESS_INSTANCE ALL', 'DECISION_DEFINITION ALL']
  const records = [
    ...grants('mary', all),
    ...grants('anna', all.slice(1)),
    ...grants('ben', all.slice(0, 2)),
    ...grants('nobody', [all[0] ?? '', all[2] ?? '']),
  ]
  for (const [command, unlogged] of [
    ['strange', false],
    ['strange', true],
    ['suspend-processdefinition', true],
  ] as const) {
    const gateway = await openJobs(t, { unlogged, records })
    t.match(await execute(gateway, 'mary', command), EXECUTED, command)
    for (const user of ['anna', 'ben', 'nobody'])
      t.match(await execute(gateway, user, command), REFUSED, user)
    const restricted = await openJobs(t, { unlogged, records, tenants: 'check' })
    t.match(await execute(restricted, 'mary', command), REFUSED, 'it may act on any tenant’s')
    t.match(await execute(restricted, 'demo', command), EXECUTED)
  }
})

t.test('a log entry of another job is ignored', async (t) => {
  const gateway = await openJobs(t, { log: { jobId: 'another', jobDefinitionType: 'history-cleanup' } })
  t.match(await execute(gateway, 'mary', 'history-cleanup'), REFUSED)
})

t.test('a tenant member may execute a job that cannot act on entities of other tenants', async (t) => {
  const all = grants('mary', ['PROCESS_DEFINITION ALL', 'PROCESS_INSTANCE ALL', 'DECISION_DEFINITION ALL'])
  const open = (world: World) => openJobs(t, { records: all, tenants: 'check', ...world })
  const none = await open({ tenantIds: [null, null] })
  const some = await Promise.all(
    [
      [null, 'globex'],
      ['globex', null],
      ['acme', null],
    ].map((tenantIds) => open({ tenantIds })),
  )
  const own = await open({ tenantIds: [null, 'globex'], job: { tenantId: 'acme' } })
  const anothers = await open({ job: { tenantId: 'globex' } })
  for (const command of CHECKED_COMMANDS) {
    const isOfAll = command === 'historic-decision-instance-deletion'
    t.match(await execute(none, 'mary', command), EXECUTED, `${command}: nothing is of a tenant`)
    for (const gateway of some) {
      t.match(
        await execute(gateway, 'mary', command),
        isOfAll ? EXECUTED : REFUSED,
        `${command}: something is`,
      )
      t.match(await execute(gateway, 'demo', command), EXECUTED, 'an admin is not restricted')
    }
    t.match(await execute(own, 'mary', command), EXECUTED, `${command}: the batch is of the own tenant`)
    t.match(await execute(anothers, 'mary', command), { status: 404, isExecuted: false }, command)
  }
})

t.test('a job that names its instance is decided by the instance', async (t) => {
  const job = { processInstanceId: 'one' }
  const open = (world: World) => openJobs(t, { job, ...world })
  for (const [command, own] of [
    ['set-variables', ['PROCESS_INSTANCE:one UPDATE_VARIABLE', 'PROCESS_DEFINITION:review UPDATE_INSTANCE']],
    ['correlate-message', ['PROCESS_INSTANCE:one UPDATE', 'PROCESS_DEFINITION:review UPDATE_INSTANCE']],
  ] as const) {
    const refused = await execute(await open({}), 'mary', command)
    t.match(refused, { status: 403, code: undefined, isExecuted: false }, command)
    t.match(refused.body, { type: 'AuthorizationException', message: /resource 'one' of type 'ProcessInst/ })
    for (const right of own)
      t.match(await execute(await open({ records: [`grant mary ${right}`] }), 'mary', command), EXECUTED)
    const others = ['grant mary PROCESS_INSTANCE:two ALL', 'grant mary PROCESS_DEFINITION:other ALL']
    t.match(await execute(await open({ records: others }), 'mary', command), {
      status: 403,
      isExecuted: false,
    })
    const records = [`grant mary ${own[0]}`]
    const mine = await open({ records, tenants: 'check', tenantIds: ['acme'] })
    t.match(await execute(mine, 'mary', command), EXECUTED)
    const anothers = await open({ records, tenants: 'check', tenantIds: ['globex'] })
    const message =
      "ENGINE-13034 Cannot update the process instance 'one' because it belongs to no authenticated tenant."
    t.match(
      await execute(anothers, 'mary', command),
      command === 'set-variables'
        ? { status: 404, isExecuted: false, body: { type: 'InvalidRequestException', message } }
        : REFUSED,
    )
  }
  // Other jobs that name an instance may act on more entities.
  const records = ['grant mary PROCESS_INSTANCE:one ALL']
  t.match(await execute(await open({ records }), 'mary', 'instance-deletion'), REFUSED)
})

t.test('a job of a process definition is decided by the definition, and is looked up once', async (t) => {
  const job = { processInstanceId: 'one', processDefinitionKey: 'review', jobDefinitionId: 'd' }
  const records = ['grant mary PROCESS_DEFINITION:review UPDATE_INSTANCE']
  const { requests, ...answer } = await execute(
    await openJobs(t, { job, records }),
    'mary',
    'instance-deletion',
  )
  t.match(answer, EXECUTED)
  t.equal(requests, 2)
  t.match(await execute(await openJobs(t, { job }), 'mary', 'instance-deletion'), {
    status: 403,
    body: { type: 'AuthorizationException' },
    isExecuted: false,
  })
})

t.test('a caller who may run all commands causes no lookup', async (t) => {
  t.match(await execute(await openJobs(t, {}), 'demo', 'instance-deletion'), { ...EXECUTED, requests: 1 })
})

t.test(
  'other requests on a job without a definition are open to every caller, as in the engine',
  async (t) => {
    const { ask } = await openJobs(t, { job: { processInstanceId: 'one' } })
    for (const [route, body] of [
      ['PUT /job/set-variables/retries', { retries: 1 }],
      ['PUT /job/set-variables/duedate', { duedate: null }],
      ['PUT /job/set-variables/priority', { priority: 1 }],
      ['DELETE /job/set-variables', undefined],
      ['GET /job/set-variables', undefined],
      ['GET /job/set-variables/stacktrace', undefined],
      ['PUT /job-definition/set-variables/retries', { retries: 1 }],
      ['PUT /job-definition/set-variables/suspended', { suspended: true, includeJobs: true }],
      ['PUT /job-definition/set-variables/jobPriority', { priority: 1, includeJobs: true }],
    ] as const) {
      const { forwarded } = await ask('nobody', route, body === undefined ? {} : { body })
      t.equal(forwarded.at(-1)?.method, route.split(' ')[0], route)
      t.equal(`${BASE}${route.split(' ')[1]}`, forwarded.at(-1)?.url, route)
    }
  },
)

t.test('suspending a job without a definition is decided by the instance that it names', async (t) => {
  const route = 'PUT /job/set-variables/suspended'
  const body = { suspended: true }
  const open = (records: readonly string[], job = {}) => openJobs(t, { records, job })
  const one = { processInstanceId: 'one' }
  const refused = await (await open([], one)).ask('mary', route, { body })
  t.match(refused, {
    status: 403,
    body: { missingAuthorizations: [{ resourceId: 'one' }, { resourceId: 'review' }] },
  })
  t.notOk(refused.forwarded.some(({ method }) => method === 'PUT'))
  const permitted = await (await open(['grant mary PROCESS_DEFINITION:review UPDATE_INSTANCE'], one)).ask(
    'mary',
    route,
    { body },
  )
  t.equal(permitted.forwarded.at(-1)?.method, 'PUT')
  t.equal((await (await open([])).ask('mary', route, { body })).forwarded.at(-1)?.method, 'PUT')
})

t.test(
  'explain names the command of the job and reports that the check cannot be decided exactly',
  async (t) => {
    const gateway = await openJobs(t, {})
    const { decision, policy, response } = await createExplain(
      gateway.dependencies,
      buildDryRun,
    )(questionOf({ user: 'mary', request: 'POST /job/instance-deletion/execute' }))
    t.equal(decision, 'refused')
    t.match(response, { status: 403 })
    const { requirement, check } =
      policy?.checks.find(({ outcome }) => outcome === 'cannot be told exactly') ?? {}
    t.match(requirement, { when: 'the job runs instance-deletion' })
    const others = policy?.checks.slice(Number(check) + 1).map(({ outcome }) => outcome) ?? []
    t.same([...new Set(others)], ['not reached'])
    t.notOk(gateway.engine.seen.some(({ method }) => method === 'POST'))
  },
)
