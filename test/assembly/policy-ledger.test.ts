import t, { type Test } from 'tap'
import { engineKeyOf, fileKeyOf, type PolicyContent, PolicyLedger } from '../../src/assembly/policy-ledger.ts'
import type { AuditEvent } from '../../src/metrics/audit-events.ts'
import type { AuthorizationRecord } from '../../src/operations/authorization-record.ts'
import { tableOf } from '../../src/policy/authz/records/record-table.ts'
import { configOf, type GatewayOptions } from '../support/open-gateway.ts'
import { recordsOf } from '../support/people.ts'

const HASH = '$2b$04$secret'

function usersContent(
  digest: string,
  users: readonly { id: string; groups?: readonly string[]; hash?: string }[],
): PolicyContent {
  const all = users.map(({ id, groups = [], hash = HASH }) => ({
    id,
    groups,
    tenants: [],
    passwordHash: hash,
  }))
  return { kind: 'users', digest, users: all }
}

function recordsContent(digest: string, records: readonly AuthorizationRecord[]): PolicyContent {
  return { kind: 'records', digest, table: tableOf(records) }
}

function open(
  t: Test,
  options: GatewayOptions = {},
  before: { readonly ledger: PolicyLedger } | null = null,
) {
  const config = configOf(t, 'http://engine.invalid', options)
  const { identity, authorization } = config
  const ledger = new PolicyLedger(config, before)
  const events: AuditEvent[] = []
  return {
    ledger,
    events,
    users: 'file' in identity ? fileKeyOf(identity.file) : '',
    records: 'file' in authorization.records ? fileKeyOf(authorization.records.file) : engineKeyOf('default'),
    activate: () => ledger.activate((event) => void events.push(event)),
  }
}

t.test('the first line of each engine names its policy and the digests of its parts', async (t) => {
  const { ledger, events, users, records, activate } = open(t)
  ledger.set(users, usersContent('u1', [{ id: 'mary' }]))
  ledger.set(records, recordsContent('r1', recordsOf([])))
  t.same(events, [], 'nothing is written before the runtime is in force')
  activate()
  await ledger.settled()
  t.match(events, [
    {
      event: 'policy',
      engine: 'default',
      policy: ledger.policyOf('default'),
      previous: null,
      cause: 'start',
      settings: /^[\da-f]{64}$/,
      users: { source: /users\.yaml$/, digest: 'u1', added: undefined },
      records: { source: /records\.yaml$/, digest: 'r1', before: undefined },
    },
    { engine: 'second' },
  ])
  t.match(ledger.policyOf('default'), /^[\da-f]{12}$/)
})

t.test('a replaced file has a line with the digests, the counts and examples', async (t) => {
  const { ledger, events, users, records, activate } = open(t)
  const former = recordsOf(['grant mary TASK:* READ', 'grant @clerks TASK:7 UPDATE'])
  ledger.set(users, usersContent('u1', [{ id: 'mary', groups: ['clerks'] }, { id: 'ben' }, { id: 'anna' }]))
  ledger.set(records, recordsContent('r1', former))
  activate()
  const first = ledger.policyOf('default')
  ledger.set(
    records,
    recordsContent('r2', recordsOf(['grant mary TASK:* READ,UPDATE', 'revoke ben TASK:* ALL'])),
  )
  const second = ledger.policyOf('default')
  ledger.set(
    users,
    usersContent('u2', [{ id: 'mary', groups: ['bosses'] }, { id: 'ben', hash: 'other' }, { id: 'nora' }]),
  )
  ledger.set(users, usersContent('u2', []))
  await ledger.settled()
  const [, , changedRecords, , changedUsers, ...others] = events
  t.equal(others.length, 1, 'the line of the second engine')
  t.match(changedRecords, {
    previous: first,
    policy: second,
    cause: 'records',
    users: { digest: 'u1', before: undefined },
    records: { digest: 'r2', before: 'r1', added: 1, removed: 1, changed: 1 },
  })
  t.same(changedRecords?.event === 'policy' ? changedRecords.records.examples : null, [
    {
      action: 'change',
      before: shown({ userId: 'mary', permissions: ['READ'] }),
      after: shown({ userId: 'mary', permissions: ['READ', 'UPDATE'] }),
    },
    { action: 'add', after: { ...shown({ userId: 'ben', permissions: ['ALL'] }), type: 2 } },
    {
      action: 'remove',
      before: { ...shown({ groupId: 'clerks', permissions: ['UPDATE'] }), resourceId: '7' },
    },
  ])
  t.match(changedUsers, {
    previous: second,
    cause: 'users',
    users: {
      digest: 'u2',
      before: 'u1',
      added: 1,
      removed: 1,
      changed: 2,
      examples: [
        { action: 'change', user: 'mary', addedGroups: ['bosses'], removedGroups: ['clerks'] },
        { action: 'change', user: 'ben', password: 'changed' },
        { action: 'add', user: 'nora' },
        { action: 'remove', user: 'anna' },
      ],
    },
  })
  t.notMatch(JSON.stringify(events), /secret/)
})

function shown(members: object) {
  return {
    type: 1,
    userId: undefined,
    groupId: undefined,
    resourceType: 7,
    resource: 'Task',
    resourceId: '*',
    ...members,
  }
}

t.test('without an audit stream, no contents are compared', async (t) => {
  const { ledger, users, activate } = open(t)
  let compared = 0
  const mary = {
    id: 'mary',
    groups: [],
    get tenants() {
      compared += 1
      return []
    },
  }
  const content = (digest: string): PolicyContent => ({ kind: 'users', digest, users: [mary] })
  ledger.set(users, content('u1'))
  ledger.activate(null)
  const before = ledger.policyOf('default')
  ledger.set(users, content('u2'))
  await ledger.settled()
  t.equal(compared, 0)
  t.not(ledger.policyOf('default'), before)
  activate()
  ledger.set(users, content('u3'))
  await ledger.settled()
  t.equal(compared, 2)
})

t.test('after a reload the new ledger writes, with the differences to the former contents', async (t) => {
  const former = open(t)
  former.ledger.set(former.records, recordsContent('r1', recordsOf([])))
  former.activate()
  const settings = { validation: { mode: 'report' } }
  const next = open(t, { settings }, former)
  // The files of the two configurations of this test are in different folders.
  next.ledger.set(former.records, recordsContent('r2', recordsOf(['grant mary TASK:* READ'])))
  next.ledger.set(next.records, recordsContent('r3', []))
  next.activate()
  former.ledger.set(former.records, recordsContent('r9', []))
  await Promise.all([former.ledger.settled(), next.ledger.settled()])
  t.equal(former.events.length, 2, 'the former ledger is silent')
  t.match(next.events, [
    {
      cause: 'reload',
      previous: former.ledger.policyOf('second') === '' ? '' : String,
      policy: next.ledger.policyOf('default'),
    },
    { engine: 'second' },
  ])
  t.not(next.ledger.policyOf('default'), former.ledger.policyOf('default'))
})

t.test('records of an engine change the policy of this engine only', async (t) => {
  const settings = { authorization: { records: { source: 'engine' } } }
  const { ledger, events, records, activate } = open(t, { settings })
  activate()
  const before = ['default', 'second'].map((name) => ledger.policyOf(name))
  ledger.set(records, recordsContent('r1', recordsOf([])))
  const after = ['default', 'second'].map((name) => ledger.policyOf(name))
  t.not(after[0], before[0])
  t.equal(after[1], before[1])
  await ledger.settled()
  t.match(events.slice(2), [
    { engine: 'default', cause: 'records', records: { source: 'engine', digest: 'r1', before: undefined } },
  ])
  t.equal(ledger.policyOf('none'), '')
})

t.test('the groups file of an htpasswd file is a part of the policy', async (t) => {
  const folder = t.testdir({ users: '', 'groups.yaml': '' })
  const identity = { source: 'htpasswd', file: `${folder}/users`, groupsFile: `${folder}/groups.yaml` }
  const { ledger, events, activate } = open(t, { settings: { identity } })
  const key = fileKeyOf(identity.groupsFile)
  ledger.set(key, usersContent('g1', [{ id: 'mary' }]))
  activate()
  const before = ledger.policyOf('default')
  ledger.set(key, usersContent('g2', [{ id: 'mary', groups: ['clerks'] }]))
  await ledger.settled()
  t.match(events.at(-2), {
    previous: before,
    cause: 'users',
    users: { source: identity.file, digest: undefined },
    memberships: {
      source: identity.groupsFile,
      before: 'g1',
      digest: 'g2',
      changed: 1,
      examples: [{ user: 'mary', addedGroups: ['clerks'] }],
    },
  })
  t.not(ledger.policyOf('default'), before)
})
