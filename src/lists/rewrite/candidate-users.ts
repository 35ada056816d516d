import { GatewayError } from '../../errors.ts'
import { isTrue } from '../../request/java-text.ts'
import { isRecord } from '../../request/value.ts'
import { MAX_CONDITION_VALUES } from '../limits.ts'
import { appendTo, spliceElements, spliceMember } from './narrow.ts'
import type { TaskQueryMembers } from './stored-query.ts'

/** One `candidateUser` of a task query: in the query itself, or in one of its or-blocks. */
export interface CandidateUser {
  readonly userId: string
  /** The index of the or-block. Null for the query itself. */
  readonly block: number | null
  readonly includesAssigned: boolean
  /** True if another condition of the query must hold for the same identity link of a task. */
  readonly isJoined: boolean
}

/** The tasks that `candidateUser` selects. The engine selects the tasks of its own groups of the user. */
export type CandidateTasks =
  /** Those that the engine selects. */
  | { readonly by: 'engine' }
  /** Those that the engine selects, and those of more groups. */
  | { readonly by: 'groups'; readonly groups: readonly string[] }
  /** Only these tasks, and those of the groups. */
  | { readonly by: 'ids'; readonly taskIds: readonly string[]; readonly groups: readonly string[] }

/** Members with which `candidateUser` selects tasks by their identity links. The engine joins the links once for the whole query. */
const LINK_MEMBERS = [
  'candidateUser',
  'candidateGroup',
  'candidateGroups',
  'candidateGroupLike',
  'involvedUser',
]
export const LINK_EXPRESSIONS: readonly string[] = [
  'candidateUserExpression',
  'candidateGroupExpression',
  'candidateGroupsExpression',
  'candidateGroupInExpression',
  'candidateGroupLikeExpression',
  'involvedUserExpression',
]
/** Conditions of a query that `includeAssignedTasks` changes, too. */
const WITH_CANDIDATES = [
  'withCandidateGroups',
  'withoutCandidateGroups',
  'withCandidateUsers',
  'withoutCandidateUsers',
]

/**
 * Returns the candidate users of a task query. A query that every engine refuses has none.
 * @throws GatewayError GW_ITEMS_NOT_EXACT if a candidate user is not a text
 */
export function candidateUsersOf(query: TaskQueryMembers): readonly CandidateUser[] {
  const places = [query, ...blocksOf(query)]
  if (
    isGiven(query['candidateUser']) &&
    (isGiven(query['candidateGroup']) || isGiven(query['candidateGroups']))
  )
    return []
  return places.flatMap((place, index) => {
    const userId = place['candidateUser']
    if (!isGiven(userId)) return []
    if (typeof userId !== 'string') throw new GatewayError('GW_ITEMS_NOT_EXACT')
    const others = places.filter((other) => other !== place)
    const isJoined =
      others.some(hasLinkMember) || (index === 0 && isGiven(place['involvedUser'])) || hasCandidateFlag(query)
    return {
      userId,
      block: index === 0 ? null : index - 1,
      includesAssigned: includesAssigned(place),
      isJoined,
    }
  })
}

function blocksOf({ orQueries }: TaskQueryMembers): readonly TaskQueryMembers[] {
  return Array.isArray(orQueries) ? orQueries.map((block: unknown) => (isRecord(block) ? block : {})) : []
}

/** Returns whether the query has a condition for candidates that applies to the joined link. */
function hasCandidateFlag(query: TaskQueryMembers): boolean {
  return WITH_CANDIDATES.some((name) => isTrue(query[name]))
}

function hasLinkMember(place: TaskQueryMembers): boolean {
  return LINK_MEMBERS.some((name) => isGiven(place[name]))
}

function includesAssigned(place: TaskQueryMembers): boolean {
  return isTrue(place['includeAssignedTasks'])
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** A candidate user with the tasks that it selects. */
type Selected = CandidateUser & { readonly tasks: CandidateTasks }

/**
 * Changes a task query so that each candidate user selects the given tasks. All other bytes stay as they are. Returns null if
 * nothing changes.
 *
 * A candidate user of the query itself is moved to an or-block, where candidate users and groups can be combined. The engine joins
 * the identity links once, so the other conditions on them apply to the same link as before.
 * @throws GatewayError GW_ITEMS_NOT_EXACT if no query selects these tasks
 */
export function selectCandidates(
  body: Buffer,
  query: TaskQueryMembers,
  selected: readonly Selected[],
): Buffer | null {
  const changed = changedOf(query, selected)
  if (changed.length === 0) return null
  const result = withBlocks(body, blocksOf(query), changed)
  const own = changed.find(({ block }) => block === null)
  if (own === undefined) return result
  const isAssignedNeeded = hasCandidateFlag(query)
  const rest = withMembers(result, {
    candidateUser: undefined,
    candidateGroupLike: undefined,
    ...(!isAssignedNeeded && { includeAssignedTasks: undefined }),
  })
  return appendTo(rest, 'orQueries', blockFor(query, own.tasks))
}

/** @throws GatewayError GW_ITEMS_NOT_EXACT if other conditions prevent a change */
function changedOf(query: TaskQueryMembers, selected: readonly Selected[]): readonly Selected[] {
  const changed = selected.filter(({ tasks }) => tasks.by !== 'engine')
  if (changed.length === 0) return changed
  // The result of an expression replaces the value of the member, and is not known here.
  const hasExpression = [query, ...blocksOf(query)].some((place) =>
    LINK_EXPRESSIONS.some((name) => isGiven(place[name])),
  )
  if (hasExpression || changed.some(({ isJoined, tasks }) => isJoined && tasks.by === 'ids'))
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  return changed
}

/** Changes the candidate users of or-blocks. */
function withBlocks(body: Buffer, blocks: readonly TaskQueryMembers[], changed: readonly Selected[]): Buffer {
  const tasks = new Map(changed.map((one) => [one.block, one.tasks]))
  if (changed.every(({ block }) => block === null)) return body
  return spliceElements(body, 'orQueries', (bytes, index) => {
    const ofBlock = tasks.get(index)
    return ofBlock === undefined ? bytes : withMembers(bytes, changesOf(blocks[index] ?? {}, ofBlock))
  })
}

/** Returns an or-block that selects the same tasks as the candidate user of the query itself. */
function blockFor(query: TaskQueryMembers, tasks: CandidateTasks): TaskQueryMembers {
  const { candidateUser, candidateGroupLike } = query
  const block = {
    candidateUser,
    ...(isGiven(candidateGroupLike) && { candidateGroupLike }),
    ...(includesAssigned(query) && { includeAssignedTasks: true }),
  }
  return { ...block, ...changesOf(block, tasks) }
}

/** Returns the members to set in an or-block, whose conditions are alternatives. `undefined` removes a member. */
function changesOf(block: TaskQueryMembers, tasks: CandidateTasks): TaskQueryMembers {
  if (tasks.by === 'engine') return {}
  const groups = [...new Set([...textsIn(block, 'candidateGroups'), ...tasks.groups])]
  const withGroups = groups.length > 0 ? { candidateGroups: bounded(groups) } : {}
  if (tasks.by === 'groups') return withGroups
  const hasGroups =
    groups.length > 0 || isGiven(block['candidateGroup']) || isGiven(block['candidateGroupLike'])
  const taskIds = [...textsIn(block, 'taskIdIn'), ...tasks.taskIds]
  return {
    ...withGroups,
    candidateUser: undefined,
    taskIdIn: bounded(taskIds.length > 0 ? taskIds : [NO_TASK]),
    // The engine refuses this member without a candidate.
    ...(!hasGroups && { includeAssignedTasks: undefined }),
  }
}

/** An engine ignores an empty list, and would return every task. Ids have at most 64 characters. */
export const NO_TASK = '-'.repeat(65)

/** @throws GatewayError GW_ITEMS_NOT_EXACT if the member is not a list of texts */
function textsIn(block: TaskQueryMembers, name: string): readonly string[] {
  const given = block[name] ?? []
  if (!Array.isArray(given) || !given.every((text) => typeof text === 'string'))
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  return given
}

function bounded(values: readonly string[]): readonly string[] {
  if (values.length > MAX_CONDITION_VALUES) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  return values
}

function withMembers(body: Buffer, members: TaskQueryMembers): Buffer {
  return Object.entries(members).reduce((result, [name, value]) => spliceMember(result, name, value), body)
}
