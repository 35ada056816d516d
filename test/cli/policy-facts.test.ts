import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import t from 'tap'
import { runInProcess } from '../support/run-command.ts'
import { listenUntilEnd } from '../support/listen-until-end.ts'

const folder = mkdtempSync(join(tmpdir(), 'policy-facts-'))
let reached = 0
// An engine that no test may reach.
const engine = createServer((_request, response) => {
  reached += 1
  response.writeHead(500).end()
})
const engineUrl = await listenUntilEnd(t, engine)
t.teardown(() => rmSync(folder, { recursive: true }))

function write(name: string, content: unknown): string {
  const file = join(folder, name)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
write('users.yaml', {
  users: [
    { id: 'mary', passwordHash: HASH, groups: ['clerks'], tenants: ['acme'] },
    { id: 'john', passwordHash: HASH },
  ],
})
write('authorizations.yaml', {
  authorizations: [
    {
      type: 1,
      userId: 'mary',
      resourceType: 6,
      resourceId: 'invoice',
      permissions: ['UPDATE_TASK', 'UPDATE_INSTANCE', 'READ_TASK'],
    },
  ],
})
const configOf = (identity: unknown) => ({
  version: 1,
  engines: { default: { nodes: [`${engineUrl}/engine-rest`] } },
  health: { probe: false },
  identity,
  authorization: { records: { source: 'file', file: 'authorizations.yaml' } },
})
const CONFIG = write('gateway.yaml', configOf({ source: 'file', file: 'users.yaml' }))

const test = (content: unknown, config = CONFIG) =>
  runInProcess(['policy', 'test', write('tests.yaml', content), '--config', config])

const FACTS = {
  task: {
    t1: { processDefinitionKey: 'invoice', processInstanceId: 'i1' },
    t2: { processDefinitionKey: 'order', tenantId: 'acme' },
    foreign: { processDefinitionKey: 'invoice', tenantId: 'other' },
    johns: { processDefinitionKey: 'order', assignee: 'john' },
    clerks: { processDefinitionKey: 'order', candidateGroups: ['clerks'] },
    gone: null,
  },
  execution: {
    i1: { processInstanceId: 'i1', processDefinitionKey: 'invoice' },
    i2: { processInstanceId: 'i2', processDefinitionKey: 'order' },
  },
}

const completeOf = (user: string, id: string, expected: object) => ({
  user,
  request: `POST /task/${id}/complete`,
  body: {},
  ...expected,
})

t.test('with facts, operations that need entities are decided without an engine', async (t) => {
  const permit = { expect: 'permit' }
  const refuse = { expect: 'refuse', status: 403 }
  const { code, out, err } = await test({
    facts: FACTS,
    tests: [
      completeOf('mary', 't1', permit),
      completeOf('mary', 't2', refuse),
      completeOf('john', 't1', refuse),
      completeOf('john', 'johns', permit),
      completeOf('mary', 'johns', refuse),
      completeOf('mary', 'clerks', permit),
      completeOf('mary', 'foreign', { expect: 'refuse' }),
      completeOf('mary', 'gone', { expect: 'refuse' }),
      { user: 'mary', request: 'PUT /process-instance/i1/suspended', body: { suspended: true }, ...permit },
      { user: 'mary', request: 'PUT /process-instance/i2/suspended', body: { suspended: true }, ...refuse },
      { user: 'john', request: 'GET /task', ...permit, items: 'some' },
    ],
  })
  t.match({ code, err }, { code: 0, err: '' }, out)
  t.match(out, /11 decisions as expected/)
  t.equal(reached, 0, 'no request reaches the engine')
})

t.test(
  'a fact that is missing is an error that names it, and no request is sent to the engine',
  async (t) => {
    const cases = [
      [
        completeOf('mary', 't9', { expect: 'permit' }),
        /^tests\[0\] .*facts\.task\.t9 is needed; null says that the entity does not exist$/m,
      ],
      [
        { user: 'mary', request: 'POST /signal', body: { name: 'stop' }, expect: 'refuse' },
        /^tests\[0\] .*no fact replaces GET \/event-subscription/m,
      ],
    ] as const
    for (const [one, problem] of cases) {
      const { code, out, err } = await test({ facts: FACTS, tests: [one] })
      t.match({ code, out }, { code: 2, out: '' })
      t.match(err, problem)
    }
    t.equal(reached, 0)
  },
)

t.test('unknown and invalid facts are reported with their paths', async (t) => {
  const tests = [completeOf('mary', 't1', { expect: 'permit' })]
  const cases = [
    [{ tasks: {} }, /facts: .*tasks.*task/],
    [
      { task: { t1: { processDefinitonKey: 'x' } } },
      /facts\.task\.t1: .*processDefinitonKey.*processDefinitionKey/,
    ],
    [{ task: { t1: { assignee: ['x'] } } }, /facts\.task\.t1: assignee: a text is needed/],
    [{ task: { t1: { candidateGroups: 'x' } } }, /facts\.task\.t1: candidateGroups: a list is needed/],
    [
      { task: { t1: { tenantId: 1 } } },
      /facts\.task\.t1\.tenantId: a text, null or a list of texts is needed/,
    ],
    [{ processInstance: { i1: {} } }, /facts\.processInstance\.i1: processDefinitionKey is needed/],
    [{ processDefinition: { d1: { tenantId: 'a' } } }, /facts\.processDefinition\.d1: key is needed/],
  ] as const
  for (const [facts, problem] of cases) {
    const { code, out, err } = await test({ facts, tests })
    t.match({ code, out }, { code: 2, out: '' }, JSON.stringify(facts))
    t.match(err, problem)
  }
})

t.test('facts cannot replace users or records of an engine', async (t) => {
  const config = write('engine-users.yaml', configOf({ source: 'engine' }))
  const { code, err } = await test(
    { facts: FACTS, tests: [completeOf('mary', 't1', { expect: 'permit' })] },
    config,
  )
  t.equal(code, 2)
  t.match(err, /Facts need users and records in files, but engine default reads them from the engine/)
  t.equal(reached, 0)
})
