import { GatewayError } from '../../../errors.ts'
import { ALL_BITS, bitOf, type ResourceName } from '../../../operations/permissions.ts'
import type { Principal } from '../../../request/principal.ts'
import type { ImplicitBits, ImplicitGrants, ImplicitTasks } from './implicit-bits.ts'
import type { ReadEngine } from './look-ups.ts'
import { itemsIn } from './lookup-response.ts'

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

/** The largest number of links of one user or one group, and of tasks that a query can name. */
const MAX_LINKS = 5000

/**
 * Reads the grants from the identity-link log (history level full). The log keeps a link after its removal, as the engine
 * keeps the grant. A removed link therefore still counts, until the task is completed.
 */
export function createImplicitGrants(read: ReadEngine, settings: LinkSettings): ImplicitGrants {
  const linkBits = linkBitsOf(settings)
  const logOf = async (
    query: Readonly<Record<string, string>>,
  ): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const path = `/history/identity-link-log?${new URLSearchParams({ ...query, maxResults: String(MAX_LINKS + 1) })}`
    const items = await read(path)
    // An engine without this history responds with 404, and its links grant nothing.
    return items === null ? [] : itemsIn(items, { path, shape: {} })
  }
  return {
    on: async (taskId, { userId, groups }) => {
      const links = await logOf({ taskId })
      if (links.length === 0) return NONE
      const isMember = new Set(groups)
      return {
        user: links.some((link) => link['userId'] === userId) ? linkBits : 0,
        groups: links.some((link) => typeof link['groupId'] === 'string' && isMember.has(link['groupId']))
          ? linkBits
          : 0,
      }
    },
    tasks: async ({ userId, groups }) => {
      const [own, ...ofGroups] = await Promise.all([
        logOf({ userId }),
        ...groups.map((groupId) => logOf({ groupId })),
      ])
      const linkedTasks = { user: taskIdsOf(own), groups: taskIdsOf(ofGroups.flat()), bits: linkBits }
      const isTooLong = [own, ...ofGroups].some((log) => log.length > MAX_LINKS)
      if (isTooLong || linkedTasks.user.size + linkedTasks.groups.size > MAX_LINKS)
        throw new GatewayError('GW_ROWS_NOT_EXACT')
      return linkedTasks
    },
  }
}

/** Returns the bits on one task for a caller whose tasks are known. */
export function implicitBits({ user, groups, bits }: ImplicitTasks, taskId: string | null): ImplicitBits {
  if (taskId === null) return NONE
  return { user: user.has(taskId) ? bits : 0, groups: groups.has(taskId) ? bits : 0 }
}

function taskIdsOf(links: readonly Readonly<Record<string, unknown>>[]): ReadonlySet<string> {
  return new Set(links.flatMap(({ taskId }) => (typeof taskId === 'string' ? [taskId] : [])))
}
