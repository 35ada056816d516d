import { ALL_BITS, bitOf, type ResourceName } from '../../../operations/permissions.ts'
import type { Principal } from '../../../request/principal.ts'
import type { ImplicitBits, ImplicitGrants, ImplicitTasks } from './implicit-bits.ts'
import type { ReadEngine } from './look-ups.ts'
import { historyList, linkedTasks } from './linked-tasks.ts'
import type { Item } from './lookup-response.ts'

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

/**
 * Reads the grants from the history (level full), which keeps a link after its removal, as the engine keeps the grant. A removed
 * link therefore still counts, until the task is completed. The grants on one task are read from the identity-link log.
 */
export function createImplicitGrants(read: ReadEngine, settings: LinkSettings): ImplicitGrants {
  const linkBits = linkBitsOf(settings)
  const logOf = async (query: Readonly<Record<string, string>>): Promise<readonly Item[]> =>
    historyList(read, '/history/identity-link-log', { ...query, maxResults: String(MAX_ENTRIES) })
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
        linkedTasks(read, { userId }),
        ...groups.map((groupId) => linkedTasks(read, { groupId })),
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

/** Returns the bits on one task for a caller whose tasks are known. */
export function implicitBits({ user, groups, bits }: ImplicitTasks, taskId: string | null): ImplicitBits {
  if (taskId === null) return NONE
  return { user: user.has(taskId) ? bits : 0, groups: groups.has(taskId) ? bits : 0 }
}
