import { hash } from 'node:crypto'
import { type Config, settingsOf } from '../config/config.ts'
import { redactedOf } from '../config/redacted.ts'
import { type ItemDifference, listDifferences } from '../files/list-differences.ts'
import type { Memberships } from '../files/groups-file.ts'
import type { User } from '../files/users-file.ts'
import type { AuditEvent, PolicyEvent, PolicySourceState } from '../metrics/audit-events.ts'
import { boundedMembersOf } from '../metrics/audit-changes.ts'
import { bounded } from '../metrics/access-log.ts'
import { resourceOfType } from '../operations/authorization-record.ts'
import { permissionsIn } from '../operations/permissions.ts'
import { inSlices } from '../parsing/in-slices.ts'
import { membersOfRecord } from '../pipeline/audited-change.ts'
import { entriesOf, type RecordTable } from '../policy/authz/records/record-table.ts'
import type { RecordEntry } from '../policy/authz/records/records.ts'

/** A user. A file of groups and tenants has no passwords. */
type LedgerUser = Memberships & Partial<Pick<User, 'passwordHash'>>

/** The content of a source that is in force. */
export type PolicyContent = {
  readonly digest: string
} & (
  | { readonly kind: 'users'; readonly users: readonly LedgerUser[] }
  | { readonly kind: 'records'; readonly table: RecordTable }
)

/** Returns the key of a file of users or records. Engines that share a file share its content. */
export function fileKeyOf(file: string): string {
  return `file ${file}`
}

/** Returns the key of the records that are read from an engine. */
export function engineKeyOf(engine: string): string {
  return `engine ${engine}`
}

interface SourceName {
  /** The file, or `engine`. */
  readonly source: string
  /** Null if the gateway does not read the source as a whole. */
  readonly key: string | null
}

/** The sources of one engine. */
interface EnginePolicy {
  readonly name: string
  readonly settings: string
  readonly users: SourceName
  /** The file with the groups and tenants of the users. Null if the source of the users has them. */
  readonly memberships: SourceName | null
  readonly records: SourceName
}

type ChangedKeys = ReadonlyMap<string, Partial<PolicySourceState>>

/**
 * Knows which policy of each engine is in force, and writes a line when it changes. The policy consists of the settings, the users and
 * the records. Between `activate` and `stop`, or until the ledger of the next runtime is active, it writes lines.
 */
export class PolicyLedger {
  readonly #engines: readonly EnginePolicy[]
  readonly #contents = new Map<string, PolicyContent>()
  readonly #policies = new Map<string, string>()
  /** The ledger of the runtime that this one replaces. Null after the activation. */
  #before: PolicyLedger | null
  #write: ((event: AuditEvent) => void) | null = null
  /** Comparisons run one after the other, so that the lines have the order of the changes. */
  #compared: Promise<void> = Promise.resolve()

  constructor(config: Config, before: { readonly ledger: PolicyLedger } | null) {
    this.#engines = Object.entries(config.engines).map(([name, engine]) =>
      policyOf(name, settingsOf(config, engine)),
    )
    this.#before = before?.ledger ?? null
  }

  /** Returns the policy in force, which the lines of requests name. */
  policyOf(name: string): string {
    const known = this.#policies.get(name)
    if (known !== undefined) return known
    const engine = this.#engines.find((one) => one.name === name)
    const policy = engine === undefined ? '' : this.#digestOf(engine)
    this.#policies.set(name, policy)
    return policy
  }

  /** Called when another content of a source is in force. */
  set(key: string, content: PolicyContent): void {
    const former = this.#contents.get(key)
    if (former?.digest === content.digest) return
    const affected = this.#engines.filter(({ users, memberships, records }) =>
      [users, memberships, records].some((source) => source?.key === key),
    )
    const previous = new Map(
      this.#write === null ? [] : affected.map(({ name }) => [name, this.policyOf(name)]),
    )
    this.#contents.set(key, content)
    for (const { name } of affected) this.#policies.delete(name)
    const { kind: cause } = content
    this.#record(affected, (name) => ({ cause, previous: previous.get(name) ?? null }), [
      { key, former, content },
    ])
  }

  /** Writes the policies, and from now on their changes. Without `write`, no contents are compared. */
  activate(write: ((event: AuditEvent) => void) | null): void {
    const before = this.#before
    this.#before = null
    before?.stop()
    this.#write = write
    const changes = [...this.#contents].map(([key, content]) => ({
      key,
      former: before === null ? undefined : before.#contents.get(key),
      content,
    }))
    const cause = before === null ? 'start' : 'reload'
    this.#record(this.#engines, (name) => ({ cause, previous: before?.policyOf(name) ?? null }), changes)
  }

  stop(): void {
    this.#write = null
  }

  /** Resolves when the lines of all changes are written. */
  async settled(): Promise<void> {
    await this.#compared
  }

  #record(
    engines: readonly EnginePolicy[],
    of: (name: string) => Pick<PolicyEvent, 'cause' | 'previous'>,
    changes: readonly SourceChange[],
  ): void {
    const write = this.#write
    if (write === null) return
    const events = engines.map((engine) => this.#eventOf(engine, of(engine.name)))
    this.#compared = this.#compared.then(async () => {
      const changed = await differencesOf(changes)
      for (const [at, event] of events.entries()) write(withChanges(event, engines[at], changed))
    })
  }

  #eventOf(engine: EnginePolicy, { cause, previous }: Pick<PolicyEvent, 'cause' | 'previous'>): PolicyEvent {
    const { name, settings, users, memberships, records } = engine
    return {
      event: 'policy',
      engine: name,
      policy: this.policyOf(name),
      previous,
      cause,
      settings,
      users: this.#stateOf(users),
      ...(memberships !== null && { memberships: this.#stateOf(memberships) }),
      records: this.#stateOf(records),
    }
  }

  #stateOf({ source, key }: SourceName): PolicySourceState {
    const content = key === null ? undefined : this.#contents.get(key)
    return { source, ...(content !== undefined && { digest: content.digest }) }
  }

  #digestOf({ settings, users, memberships, records }: EnginePolicy): string {
    const sources = [users, records, ...(memberships === null ? [] : [memberships])]
    const parts = [settings, ...sources.map((source) => this.#stateOf(source))]
    return digestOf(parts).slice(0, POLICY_CHARS)
  }
}

/** 48 bits: two policies of one gateway do not have the same name by chance. */
const POLICY_CHARS = 12

function digestOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value))
}

function policyOf(
  name: string,
  { identity, authorization, validation }: ReturnType<typeof settingsOf>,
): EnginePolicy {
  const { records } = authorization
  return {
    name,
    settings: digestOf(redactedOf({ identity, authorization, validation })),
    users: identity.source === 'engine' ? { source: 'engine', key: null } : fileNameOf(identity.file),
    memberships:
      identity.source === 'htpasswd' && identity.groupsFile !== undefined
        ? fileNameOf(identity.groupsFile)
        : null,
    records:
      records.source === 'file' ? fileNameOf(records.file) : { source: 'engine', key: engineKeyOf(name) },
  }
}

function fileNameOf(file: string): SourceName {
  return { source: file, key: fileKeyOf(file) }
}

interface SourceChange {
  readonly key: string
  readonly former: PolicyContent | undefined
  readonly content: PolicyContent
}

/** Compares the contents of each source that has changed. */
async function differencesOf(changes: readonly SourceChange[]): Promise<ChangedKeys> {
  const changed = new Map<string, Partial<PolicySourceState>>()
  for (const { key, former, content } of changes)
    if (former !== undefined && former.digest !== content.digest)
      changed.set(key, { before: former.digest, ...(await contentDifferencesOf(former, content)) })
  return changed
}

async function contentDifferencesOf(former: PolicyContent, content: PolicyContent) {
  if (former.kind === 'users' && content.kind === 'users') {
    const { examples, ...counts } = await inSlices(listDifferences(former.users, content.users, USERS))
    return { ...counts, examples: examples.map(userExampleOf) }
  }
  if (former.kind === 'records' && content.kind === 'records') {
    const [before, after] = [entriesOf(former.table), entriesOf(content.table)]
    const { examples, ...counts } = await inSlices(listDifferences(before, after, RECORDS))
    return { ...counts, examples: examples.map(recordExampleOf) }
  }
  return {}
}

function withChanges(
  event: PolicyEvent,
  engine: EnginePolicy | undefined,
  changed: ChangedKeys,
): PolicyEvent {
  return {
    ...event,
    users: { ...event.users, ...changed.get(engine?.users.key ?? '') },
    ...(event.memberships !== undefined && {
      memberships: { ...event.memberships, ...changed.get(engine?.memberships?.key ?? '') },
    }),
    records: { ...event.records, ...changed.get(engine?.records.key ?? '') },
  }
}

const USERS = {
  keyOf: ({ id }: LedgerUser) => id,
  isEqual: (one: LedgerUser, other: LedgerUser) => partsOf(one) === partsOf(other),
}

function partsOf({ passwordHash, groups, tenants }: LedgerUser): string {
  return JSON.stringify([passwordHash, groups, tenants])
}

/** An engine stores one record for each type, subject and resource. */
const RECORDS = {
  keyOf: ({ type, userId, groupId, resourceType, resourceId }: RecordEntry) =>
    JSON.stringify([type, userId, groupId, resourceType, resourceId]),
  isEqual: (one: RecordEntry, other: RecordEntry) => one.bits === other.bits,
}

const MAX_NAMES = 20

/** Returns a user that differs, without a password. */
function userExampleOf({ action, before, after }: ItemDifference<LedgerUser>): unknown {
  const user = bounded((after ?? before).id)
  if (action !== 'change') return { action, user }
  return {
    action,
    user,
    ...membershipChanges('Groups', before.groups, after.groups),
    ...membershipChanges('Tenants', before.tenants, after.tenants),
    ...(before.passwordHash !== after.passwordHash && { password: 'changed' }),
  }
}

function membershipChanges(kind: string, before: readonly string[], after: readonly string[]) {
  const added = after.filter((name) => !before.includes(name))
  const removed = before.filter((name) => !after.includes(name))
  return {
    ...(added.length > 0 && { [`added${kind}`]: added.slice(0, MAX_NAMES).map(bounded) }),
    ...(removed.length > 0 && { [`removed${kind}`]: removed.slice(0, MAX_NAMES).map(bounded) }),
  }
}

function recordExampleOf({ action, before, after }: ItemDifference<RecordEntry>): unknown {
  return {
    action,
    ...(before !== null && { before: membersOfEntry(before) }),
    ...(after !== null && { after: membersOfEntry(after) }),
  }
}

/** Returns the members of a record. Permissions that the gateway does not know are left out, because they grant nothing. */
function membersOfEntry({ bits, ...entry }: RecordEntry) {
  const resource = resourceOfType(entry.resourceType)
  const permissions = resource === null ? [] : permissionsIn(resource, bits)
  return boundedMembersOf(membersOfRecord({ ...entry, permissions }))
}
