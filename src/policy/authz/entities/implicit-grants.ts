import { GatewayError } from '../../../errors.ts'
import { ALL_BITS, bitOf, type ResourceName } from '../../../operations/permissions.ts'
import type { Principal } from '../../../request/principal.ts'
import type { ImplicitBits, ImplicitGrants, ImplicitTasks } from './implicit-bits.ts'
import type { ReadEngine } from './look-ups.ts'
import { type Item, itemsIn } from './lookup-response.ts'
import { stringIn } from '../../../request/value.ts'

/** Returns the grants that a secured engine writes for every user, group and membership: ALL on oneself, READ on one's groups and tenants. */
export function identityBits(
  resource: ResourceName,
  id: string | null,
  { userId, groups, tenants }: Principal,
): ImplicitBits {
  if (id === null) return NONE
  if (resource === 'USER' && id === userId) return { user: ALL_BITS, groups: 0 }
  if (resource === 'GROUP' && groups.includes(id)) return { user: 0, groups: READ_BITS }
  return resource === 'TENANT' && tenants.includes(id) ? { user: READ_BITS, groups: 0 } : NONE
}

/** Returns the grant that a secured engine writes for the owner of a new filter: ALL. */
export function ownerBits(owner: string | null | undefined, { userId }: Principal): ImplicitBits {
  return owner !== null && owner !== undefined && owner === userId ? { user: ALL_BITS, groups: 0 } : NONE
}

// The bit is the same for users, groups and tenants.
const READ_BITS = bitOf('GROUP', 'READ') ?? 0
const NONE: ImplicitBits = { user: 0, groups: 0 }

/** The settings of a secured engine that decide what it grants to the users and groups of a task. */
export interface LinkSettings {
  /** The engine's `defaultUserPermissionNameForTask`. */
  readonly taskPermission: 'UPDATE' | 'TASK_WORK'
  /** The engine's `enforceSpecificVariablePermission`. */
  readonly specificVariables: boolean
}

/** Returns the bits that the engine grants on a task to its assignee, its owner, and each user or group of an identity link. */
export function linkBitsOf({ taskPermission, specificVariables }: LinkSettings): number {
  const permissions = ['READ', taskPermission, ...(specificVariables ? ['READ_VARIABLE'] : [])]
  return permissions.reduce((bits, permission) => bits | (bitOf('TASK', permission) ?? 0), 0)
}

/** Entries of the log that are read for one task. Beyond this, only the entries of the caller and of the caller's groups are read. */
const MAX_ENTRIES = 1000
/** Tasks of one read, of about one kilobyte each. */
const READ_TASKS = 5000
/** Open tasks with links to one user or one group. */
const MAX_TASKS = 50_000
/** Tasks by which a further read begins earlier, because other tasks may be completed between two reads. */
const OVERLAP = 100

/**
 * Reads the grants from the history (level full), which keeps a link after its removal, as the engine keeps the grant. A removed
 * link therefore still counts, until the task is completed. The grants on one task are read from the identity-link log. The tasks
 * of a caller are read from the historic tasks that are not finished, because the log also has the links of all finished tasks.
 */
export function createImplicitGrants(read: ReadEngine, settings: LinkSettings): ImplicitGrants {
  const linkBits = linkBitsOf(settings)
  const logOf = async (query: Readonly<Record<string, string>>): Promise<readonly Item[]> =>
    listOf(read, '/history/identity-link-log', { ...query, maxResults: String(MAX_ENTRIES) })
  return {
    on: async (taskId, { userId, groups }) => {
      const links = await logOf({ taskId })
      const isCut = links.length >= MAX_ENTRIES
      const lists = isCut
        ? await Promise.all([
            logOf({ taskId, userId }),
            ...groups.map((groupId) => logOf({ taskId, groupId })),
          ])
        : [links]
      const isMember = new Set(groups)
      const own = lists.flat()
      return {
        user: own.some((link) => link['userId'] === userId) ? linkBits : 0,
        groups: own.some((link) => typeof link['groupId'] === 'string' && isMember.has(link['groupId']))
          ? linkBits
          : 0,
      }
    },
    tasks: async ({ userId, groups }) => {
      const [own, ...ofGroups] = await Promise.all([
        openTasksOf(read, { taskInvolvedUser: userId }),
        ...groups.map((taskInvolvedGroup) => openTasksOf(read, { taskInvolvedGroup })),
      ])
      const keys = new Map([own, ...ofGroups].flatMap((tasks) => [...tasks]))
      return {
        user: new Set(own.keys()),
        groups: new Set(ofGroups.flatMap((tasks) => [...tasks.keys()])),
        keys: new Map([...keys].flatMap(([id, key]) => (key === null ? [] : [[id, key] as const]))),
        bits: linkBits,
      }
    },
  }
}

/**
 * Returns the ids of the open tasks that have, or had, a link to a user or a group, with the keys of their definitions. Tasks are
 * sorted by id.
 * @throws GatewayError GW_ROWS_NOT_EXACT if there are too many, or if too many are completed between two reads
 */
async function openTasksOf(
  read: ReadEngine,
  involved: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, string | null>> {
  const tasks = new Map<string, string | null>()
  for (;;) {
    const first = Math.max(0, tasks.size - OVERLAP)
    const page = { firstResult: String(first), maxResults: String(READ_TASKS) }
    const items = await listOf(read, '/history/task', { ...involved, unfinished: 'true', ...page }, ['id'])
    const ids = items.map((item) => stringIn(item, 'id') ?? '')
    const isJoined = tasks.size === 0 || ids.some((id) => tasks.has(id))
    for (const [at, item] of items.entries()) tasks.set(ids[at] ?? '', stringIn(item, 'processDefinitionKey'))
    if (tasks.size > MAX_TASKS || !isJoined) throw new GatewayError('GW_ROWS_NOT_EXACT')
    if (items.length < READ_TASKS) return tasks
  }
}

/** Returns the items of a list of the history. An engine without this history responds with 404, and its links grant nothing. */
async function listOf(
  read: ReadEngine,
  list: string,
  query: Readonly<Record<string, string>>,
  texts: readonly string[] = [],
): Promise<readonly Item[]> {
  const path = `${list}?${new URLSearchParams(query)}`
  const items = await read(path)
  return items === null ? [] : itemsIn(items, { path, shape: { texts } })
}

/** Returns the bits on one task for a caller whose tasks are known. */
export function implicitBits({ user, groups, bits }: ImplicitTasks, taskId: string | null): ImplicitBits {
  if (taskId === null) return NONE
  return { user: user.has(taskId) ? bits : 0, groups: groups.has(taskId) ? bits : 0 }
}
