import { GatewayError } from '../../errors.ts'
import { identityBits } from '../../policy/authz/entities/implicit-grants.ts'
import type { ReadEngine } from '../../policy/authz/entities/look-ups.ts'
import { itemsIn, readList } from '../../policy/authz/entities/lookup-response.ts'
import { decideAny } from '../../policy/authz/decision/decide.ts'
import type { Records } from '../../policy/authz/records/records.ts'
import type { Principal } from '../../request/principal.ts'
import { isSameName } from '../../request/same-name.ts'
import { stringIn } from '../../request/value.ts'
import { MAX_CONDITION_VALUES, MAX_SINGLE_READS } from '../limits.ts'
import {
  type CandidateTasks,
  type CandidateUser,
  candidateUsersOf,
  selectCandidates,
} from './candidate-users.ts'

export interface CandidateTasksOptions {
  readonly read: ReadEngine
  readonly records: () => Records
  /** Resolves to the groups of a user of the gateway's source. */
  readonly groupsOf: (userId: string) => Promise<readonly string[]>
  readonly impliesIdentity: boolean
}

/**
 * Returns the tasks that a secured engine selects for a candidate user: those of the user, and those of the user's groups that the
 * caller may read.
 * @throws GatewayError GW_ITEMS_NOT_EXACT if there are too many
 */
type FindCandidateTasks = (candidate: CandidateUser, principal: Principal) => Promise<CandidateTasks>

function createFindCandidateTasks(options: CandidateTasksOptions): FindCandidateTasks {
  const { read } = options
  return async (candidate, principal) => {
    const { userId } = candidate
    const [groups, selected] = await Promise.all([
      readableGroups(options, principal, userId),
      groupsAtEngine(read, userId),
    ])
    if (selected.every((group) => groups.includes(group))) {
      const added = groups.filter((group) => !selected.includes(group))
      return added.length === 0 ? { by: 'engine' } : { by: 'groups', groups: added }
    }
    // No query selects the tasks of all other groups. The query is refused anyway.
    if (candidate.isJoined) throw new GatewayError('GW_ITEMS_NOT_EXACT')
    return { by: 'ids', groups, taskIds: await ownTasks(read, candidate) }
  }
}

/**
 * Returns the groups of a user that the caller may read. A secured engine lets every member read the group, which it grants when the
 * group is created, so callers may read their own groups unless a record revokes it.
 */
async function readableGroups(
  { records, groupsOf, impliesIdentity }: CandidateTasksOptions,
  principal: Principal,
  userId: string,
): Promise<readonly string[]> {
  const isCaller = userId === principal.userId
  const groups = isCaller ? principal.groups : await groupsOf(userId)
  const current = records()
  return groups.filter((id) => {
    const implicitBits = impliesIdentity || isCaller ? identityBits('GROUP', id, principal) : undefined
    const check = { resource: 'GROUP', permission: 'READ', id } as const
    return decideAny(current, principal, [implicitBits === undefined ? check : { ...check, implicitBits }])
  })
}

/** Returns the groups with which the engine extends the query. They are read each time, because a group that is missing here opens its tasks. */
async function groupsAtEngine(read: ReadEngine, userId: string): Promise<readonly string[]> {
  const path = `/group?${new URLSearchParams({ member: userId, maxResults: String(MAX_CONDITION_VALUES + 1) })}`
  const groups = await readList(read, { path, shape: { texts: ['id'] } })
  if (groups.length > MAX_CONDITION_VALUES) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  return groups.flatMap((group) => stringIn(group, 'id') ?? [])
}

/**
 * Returns the tasks of which the user is a candidate, without those of groups. `involvedUser` applies to the same identity link as
 * `candidateUser`, unless the user is the owner or the assignee: the links of such a task are read.
 */
async function ownTasks(
  read: ReadEngine,
  { userId, includesAssigned }: CandidateUser,
): Promise<readonly string[]> {
  const path = `/task?maxResults=${MAX_CONDITION_VALUES + 1}`
  const query = {
    candidateUser: userId,
    involvedUser: userId,
    ...(includesAssigned && { includeAssignedTasks: true }),
  }
  const shape = { texts: ['id'], nullable: ['owner', 'assignee'] }
  const tasks = await readList(read, { path, query, shape })
  const isUnclear = (task: (typeof tasks)[number]) =>
    ['owner', 'assignee'].some((name) => isSameName(stringIn(task, name) ?? '', userId))
  const unclear = tasks.filter(isUnclear)
  if (tasks.length > MAX_CONDITION_VALUES || unclear.length > MAX_SINGLE_READS)
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const taskIds = tasks.filter((task) => !isUnclear(task)).flatMap((task) => stringIn(task, 'id') ?? [])
  for (const task of unclear) {
    const id = stringIn(task, 'id') ?? ''
    if (await isCandidate(read, id, userId)) taskIds.push(id)
  }
  return taskIds
}

async function isCandidate(read: ReadEngine, taskId: string, userId: string): Promise<boolean> {
  const path = `/task/${encodeURIComponent(taskId)}/identity-links?type=candidate`
  const links = await read(path)
  // The task was completed in the meantime.
  return links !== null && itemsIn(links, { path, shape: {} }).some((link) => link['userId'] === userId)
}

/**
 * Changes a task query so that its candidate users select the tasks that a secured engine selects for a caller. Returns null if the
 * engine selects these tasks for the query as it is.
 * @throws GatewayError GW_ITEMS_NOT_EXACT if no query selects them
 */
export type SelectCandidateTasks = (
  body: Buffer,
  query: Readonly<Record<string, unknown>>,
  principal: Principal,
) => Promise<Buffer | null>

export function createSelectCandidateTasks(options: CandidateTasksOptions): SelectCandidateTasks {
  const find = createFindCandidateTasks(options)
  return async (body, query, principal) => {
    const candidates = candidateUsersOf(query)
    if (candidates.length > MAX_SINGLE_READS) throw new GatewayError('GW_ITEMS_NOT_EXACT')
    const selected = []
    for (const candidate of candidates)
      selected.push({ ...candidate, tasks: await find(candidate, principal) })
    return selectCandidates(body, query, selected)
  }
}
