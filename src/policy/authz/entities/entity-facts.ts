import { operatorText } from '../../../errors.ts'
import { closestOf } from '../../../config/closest.ts'
import { meantText } from '../../../config/plain-messages.ts'
import { unknownText } from '../../../config/shown-name.ts'
import { invalidResponse } from '../../../request/engine-request.ts'
import type { Attributes } from '../../../request/attributes.ts'
import type { LookupName } from '../../../operations/lookup-name.ts'
import type { ImplicitGrants } from './implicit-bits.ts'
import type { LookUps } from './look-ups.ts'
import { hasMember, isLookup, LOOKUPS } from './lookup-rules.ts'
import type { TenantsOfKey } from './tenants-of-key.ts'

/** The value of one member of an entity. A list is only possible for the candidates of a task. */
export type FactValue = string | null | readonly string[]

/** Entities by lookup and id, as a file of policy tests describes them. Null: the entity does not exist. */
export type EntityFacts = Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, FactValue>> | null>>>
>

/** The members of a task that give grants to users and groups. */
const TASK_USERS = ['assignee', 'owner', 'candidateUsers'] as const
const TASK_GROUPS = ['candidateGroups'] as const
const TASK_LISTS: ReadonlySet<string> = new Set(['candidateUsers', 'candidateGroups'])
const TASK_LINKS: ReadonlySet<string> = new Set([...TASK_USERS, ...TASK_GROUPS])

/** Returns a line for each fact that no lookup returns, or whose form is wrong. */
export function factProblemsOf(facts: EntityFacts): readonly string[] {
  return Object.entries(facts).flatMap(([kind, entities]) => {
    if (!isLookup(kind))
      return [`facts: ${unknownText('entity', kind)}${meantText(closestOf(kind, Object.keys(LOOKUPS)))}`]
    return Object.entries(entities).flatMap(([id, members]) =>
      members === null
        ? []
        : memberProblemsOf(kind, members).map((problem) => `facts.${kind}.${id}: ${problem}`),
    )
  })
}

function memberProblemsOf(kind: LookupName, members: Readonly<Record<string, FactValue>>): readonly string[] {
  const known = membersOf(kind)
  const unknown = Object.keys(members).filter((name) => !known.includes(name))
  const wrong = Object.entries(members).filter(
    ([name, value]) =>
      known.includes(name) && value !== null && Array.isArray(value) !== TASK_LISTS.has(name),
  )
  const absent = requiredMembersOf(kind).filter((name) => typeof members[name] !== 'string')
  return [
    ...unknown.map((name) => `${unknownText('key', name)}${meantText(closestOf(name, known))}`),
    ...wrong.map(([name]) => `${name}: ${TASK_LISTS.has(name) ? 'a list is needed' : 'a text is needed'}`),
    ...absent.map((name) => `${name} is needed`),
  ]
}

/** Returns the members that a lookup returns. */
function membersOf(kind: LookupName): readonly string[] {
  const derived = ['processDefinitionKey', 'tenantId', 'command'].filter((name) => hasMember(kind, name))
  return [...new Set([...LOOKUPS[kind].members, ...derived, ...(kind === 'task' ? TASK_LINKS : [])])]
}

/** Returns the members whose absence would make an entity look as if it belonged to no definition. The engine always writes them. */
function requiredMembersOf(kind: LookupName): readonly string[] {
  const { texts = [], definition, instance } = LOOKUPS[kind]
  const link = definition ?? instance
  const isOfDefinition = link !== undefined && texts.includes(link)
  return [
    ...texts.filter((name) => name === 'key' || name.endsWith('DefinitionKey')),
    ...(isOfDefinition ? ['processDefinitionKey'] : []),
  ]
}

/** The sources that decisions use instead of the engine. They contain facts. */
export interface FactSources extends LookUps {
  readonly tenantsOfKey: TenantsOfKey
  readonly implicitGrants: ImplicitGrants
  /** There are no case definitions. */
  readonly caseKeys: () => Promise<readonly string[]>
}

/**
 * Creates the sources of decisions that need no engine. A fact that is missing is an error, because a guess could permit what the
 * engine refuses.
 * @param linkBits the bits that a link to a task grants on it
 */
export function createFactSources(facts: EntityFacts, linkBits: number): FactSources {
  const find = (name: LookupName, id: string): Attributes | null => {
    const entities = facts[name]
    const entity = entities !== undefined && Object.hasOwn(entities, id) ? entities[id] : undefined
    if (entity === undefined)
      throw factMissing(`facts.${name}.${id} is needed; null says that the entity does not exist`)
    return entity === null ? null : attributesOf(name, entity)
  }
  const tasks = Object.entries(facts['task'] ?? {})
  const linked = (names: readonly string[], subjects: readonly string[]): ReadonlySet<string> =>
    new Set(
      tasks.flatMap(([id, task]) => (textsIn(task, names).some((one) => subjects.includes(one)) ? [id] : [])),
    )
  return {
    lookUp: (name, id, onMissing) => {
      const found = find(name, id)
      if (found === null) onMissing?.('not found by the look-up')
      return found
    },
    lookUpAll: async (name, ids) => {
      const found = ids.map((id) => [id, find(name, id)] as const)
      return new Map(
        found.flatMap(([id, attributes]) => (attributes === null ? [] : [[id, attributes] as const])),
      )
    },
    tenantsOfKey: async (key) => tenantsOf(facts, key),
    implicitGrants: {
      on: async (taskId, { userId, groups }) => ({
        user: linked(TASK_USERS, [userId]).has(taskId) ? linkBits : 0,
        groups: linked(TASK_GROUPS, groups).has(taskId) ? linkBits : 0,
      }),
      tasks: async ({ userId, groups }) => ({
        user: linked(TASK_USERS, [userId]),
        groups: linked(TASK_GROUPS, groups),
        bits: linkBits,
      }),
    },
    caseKeys: async () => [],
  }
}

/** Returns the error for a decision that needs something that no fact says. */
export function factMissing(what: string): Error {
  return invalidResponse(operatorText`The decision needs a fact`, new Error(what))
}

function attributesOf(name: LookupName, entity: Readonly<Record<string, FactValue>>): Attributes {
  return Object.fromEntries(
    membersOf(name)
      .filter((member) => name !== 'task' || !TASK_LINKS.has(member))
      .map((member) => {
        const value = entity[member]
        return [member, typeof value === 'string' ? value : null]
      }),
  )
}

function textsIn(
  entity: Readonly<Record<string, FactValue>> | null,
  names: readonly string[],
): readonly string[] {
  return names.flatMap((name) => entity?.[name] ?? [])
}

function tenantsOf(facts: EntityFacts, key: string): readonly (string | null)[] {
  const versions = Object.values(facts['processDefinition'] ?? {}).filter((one) => one?.['key'] === key)
  if (versions.length === 0) throw factMissing(`facts.processDefinition with the key ${key} is needed`)
  return versions.map((one) => textsIn(one, ['tenantId'])[0] ?? null)
}
