import { RESOURCES } from '../../src/operations/permissions.ts'
import { Random } from './random.ts'
import { type CallerSet, PASSWORD, type RecordText } from './sets.ts'

/** What happens while the poll of a caller waits. */
export type Change =
  | 'nothing'
  | 'delete a record'
  | 'delete all records'
  | 'delete the record of another key'
  | 'take a permission out of a record'
  | 'add a record'
  | 'add a revocation'
  | 'add a revocation of another key'
  | 'leave the group'
  | 'leave the tenant'
  | 'delete the user'
  | 'change the password'

/** A caller who waits for tasks of one definition, which has its own topic. The records that permit the poll come first. */
export interface RevocationCase extends CallerSet {
  /** The key of the definition, and the name of its topic. */
  readonly key: string
  /** The tenant of the definition and of the caller. */
  readonly tenant: string | null
  readonly change: Change
  /** Whether the task is created without a pause after the change. */
  readonly isImmediate: boolean
}

const NEEDED = ['READ', 'READ_INSTANCE', 'UPDATE_INSTANCE']
const ANOTHER_KEY = 'office'

/** How the caller gets the permissions, and the changes that make sense for it. */
const KINDS: readonly {
  readonly grants: (one: Owner) => readonly RecordText[]
  readonly changes: readonly Change[]
}[] = [
  {
    grants: ({ user, key }) => [recordFor({ userId: user }, key)],
    changes: [
      'nothing',
      'delete a record',
      'delete a record',
      'take a permission out of a record',
      'add a revocation',
      'add a revocation of another key',
      'delete the record of another key',
      'leave the tenant',
      'delete the user',
      'change the password',
    ],
  },
  {
    grants: ({ user }) => [recordFor({ userId: user }, '*')],
    changes: ['delete a record', 'add a revocation', 'add a revocation of another key'],
  },
  {
    grants: ({ group, key }) => [recordFor({ groupId: group }, key)],
    changes: ['delete a record', 'add a revocation', 'leave the group', 'delete the record of another key'],
  },
  {
    grants: ({ key }) => [{ ...recordFor({ userId: '*' }, key), type: 0 }],
    changes: ['delete a record', 'add a revocation', 'take a permission out of a record'],
  },
  {
    grants: ({ user, group, key }) => [
      recordFor({ userId: user }, key, ['READ', 'READ_INSTANCE']),
      recordFor({ groupId: group }, key, ['UPDATE_INSTANCE']),
    ],
    changes: ['delete a record', 'delete all records', 'leave the group'],
  },
  {
    grants: ({ user, group, key }) => [recordFor({ userId: user }, key), recordFor({ groupId: group }, key)],
    changes: ['delete a record', 'delete all records'],
  },
  { grants: () => [], changes: ['add a record'] },
]

interface Owner {
  readonly user: string
  readonly group: string
  readonly key: string
}

/** Generator parts of the cases. No other part of a run uses them. */
const PART = 3_000_000
const TENANTS = 0.25

/** Returns cases that a seed determines. Each way to get a permission occurs before one occurs twice. */
export function revocationCases(seed: number, count: number): readonly RevocationCase[] {
  return Array.from({ length: count }, (_, index) => {
    const random = Random.of(seed, PART + index)
    const owner = { user: `waiter${index}`, group: `waiters${index}`, key: `waits${index}` }
    const { grants, changes } = KINDS[index % KINDS.length] ?? random.pick(KINDS)
    const change = random.pick(changes)
    const isOfTenant = change === 'leave the tenant' || random.chance(TENANTS)
    return {
      index,
      ...owner,
      password: PASSWORD,
      tenant: isOfTenant ? 'acme' : null,
      ownGroups: [owner.group],
      joins: [],
      tenants: isOfTenant ? ['acme'] : [],
      links: [],
      plans: [],
      records: [...grants(owner), recordFor({ userId: owner.user }, ANOTHER_KEY)],
      change,
      isImmediate: random.chance(0.5),
    }
  })
}

/** A request of the administrator. Records are named. */
export interface ChangeRequest {
  /** Method and template. */
  readonly route: string
  readonly params?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Returns the requests that make a change. */
export function changesOf(one: RevocationCase): readonly ChangeRequest[] {
  return CHANGES[one.change](one)
}

/** Returns the name of a record of a case. */
export function recordNameOf({ key }: RevocationCase, at: number): string {
  return `record.${key}.${at}`
}

const CHANGES: Readonly<Record<Change, (one: RevocationCase) => readonly ChangeRequest[]>> = {
  nothing: () => [],
  'delete a record': (one) => [deletionOf(one, 0)],
  'delete all records': (one) => one.records.map((_, at) => deletionOf(one, at)),
  'delete the record of another key': (one) => [deletionOf(one, one.records.length - 1)],
  'take a permission out of a record': (one) => [
    {
      route: 'PUT /authorization/:id',
      params: { id: `<${recordNameOf(one, 0)}>` },
      body: { ...one.records[0], permissions: ['READ', 'READ_INSTANCE'] },
    },
  ],
  'add a record': ({ user, key }) => [creationOf(recordFor({ userId: user }, key))],
  'add a revocation': ({ user, key }) => [creationOf(revocationOf(user, key))],
  'add a revocation of another key': ({ user }) => [creationOf(revocationOf(user, ANOTHER_KEY))],
  'leave the group': ({ user, group }) => [
    { route: 'DELETE /group/:id/members/:userId', params: { id: group, userId: user } },
  ],
  'leave the tenant': ({ user, tenants }) => [
    { route: 'DELETE /tenant/:id/user-members/:userId', params: { id: tenants.join(), userId: user } },
  ],
  'delete the user': ({ user }) => [{ route: 'DELETE /user/:id', params: { id: user } }],
  'change the password': ({ user }) => [
    {
      route: 'PUT /user/:id/credentials',
      params: { id: user },
      body: { password: 'another', authenticatedUserPassword: 'demo' },
    },
  ],
}

function deletionOf(one: RevocationCase, at: number): ChangeRequest {
  return { route: 'DELETE /authorization/:id', params: { id: `<${recordNameOf(one, at)}>` } }
}

function creationOf(body: RecordText): ChangeRequest {
  return { route: 'POST /authorization/create', body }
}

function revocationOf(userId: string, key: string): RecordText {
  return { ...recordFor({ userId }, key, ['UPDATE_INSTANCE']), type: 2 }
}

/**
 * Returns whether a change concerns who the caller is. A secured engine keeps the groups and tenants with which a poll began. The
 * gateway decides with the present ones, and may therefore deliver less.
 */
export function isOfIdentity(change: Change): boolean {
  return /^(leave|delete the user|change the password)/.test(change)
}

function recordFor(
  { userId = null, groupId = null }: { userId?: string | null; groupId?: string | null },
  resourceId: string,
  permissions: readonly string[] = NEEDED,
): RecordText {
  return { type: 1, userId, groupId, resourceType: RESOURCES.PROCESS_DEFINITION.id, resourceId, permissions }
}
