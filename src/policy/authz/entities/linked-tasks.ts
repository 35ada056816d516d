import { GatewayError } from '../../../errors.ts'
import { countIn } from '../../../request/engine-request.ts'
import { stringIn } from '../../../request/value.ts'
import type { ReadEngine } from './look-ups.ts'
import { inLists } from './lookup-lists.ts'
import { type Item, itemsIn, readList } from './lookup-response.ts'

/** The user or the group of a link. */
export type LinkOwner = { readonly userId: string } | { readonly groupId: string }

/** The keys of the process definitions of open tasks, by task. Null: the key is not known, or the task has no definition. */
export type OpenTasks = ReadonlyMap<string, string | null>

/** Tasks of one read, of about one kilobyte each. */
const READ_TASKS = 5000
/** Open tasks with links to one user or one group. */
const MAX_TASKS = 50_000
/** Tasks by which a further read begins earlier, because other tasks may be completed between two reads. */
const OVERLAP = 100
/** Removed links of one user or one group that are compared with the open tasks. Beyond this number, `/history/task` is read instead. */
const MAX_REMOVED = 5000
const NO_TASKS: OpenTasks = new Map()

/**
 * Returns the open tasks that have, or had, a link to a user or a group.
 *
 * The engine's table of links has the present ones, and its query does not depend on the length of the history. The history has those
 * that were removed. The history can also be asked for all of them at once, but many databases then compare each open task with each
 * link that the owner ever had. This query is sent only if very many links were removed, or if links of groups have a type that no
 * query of tasks selects.
 * @throws GatewayError GW_ITEMS_NOT_EXACT if there are too many tasks, or if too many are completed between two reads
 */
export async function linkedTasks(read: ReadEngine, owner: LinkOwner): Promise<OpenTasks> {
  const counts = await Promise.all([
    countOf(read, owner),
    'groupId' in owner ? countOf(read, { ...owner, type: 'candidate' }) : null,
  ])
  const [all, candidates] = counts
  if (all === 0) return NO_TASKS
  const removed = { ...owner, operationType: 'delete', maxResults: String(MAX_REMOVED + 1) }
  const links =
    candidates !== null && candidates !== all
      ? null
      : await historyList(read, '/history/identity-link-log', removed)
  if (links === null || links.length > MAX_REMOVED) return pagesOf(read, historic(owner))
  const [present, former] = await Promise.all([
    pagesOf(read, current(owner)),
    stillOpen(read, new Set(links.flatMap((link) => stringIn(link, 'taskId') ?? []))),
  ])
  return new Map([...former, ...present])
}

interface TaskList {
  readonly list: string
  readonly query: Readonly<Record<string, string>>
  readonly keyOf: (task: Item) => string | null
}

function current(owner: LinkOwner): TaskList {
  return {
    list: '/task',
    query:
      'userId' in owner
        ? { involvedUser: owner.userId }
        : { candidateGroup: owner.groupId, includeAssignedTasks: 'true' },
    keyOf: keyInId,
  }
}

function historic(owner: LinkOwner): TaskList {
  const involved =
    'userId' in owner ? { taskInvolvedUser: owner.userId } : { taskInvolvedGroup: owner.groupId }
  return {
    list: '/history/task',
    query: { ...involved, unfinished: 'true' },
    keyOf: (task) => stringIn(task, 'processDefinitionKey'),
  }
}

/** Reads the pages of a list of tasks, which the engine sorts by id. */
async function pagesOf(read: ReadEngine, { list, query, keyOf }: TaskList): Promise<OpenTasks> {
  const tasks = new Map<string, string | null>()
  for (;;) {
    const first = Math.max(0, tasks.size - OVERLAP)
    const page = new URLSearchParams({ ...query, firstResult: String(first), maxResults: String(READ_TASKS) })
    const items = await readList(read, { path: `${list}?${page}`, shape: { texts: ['id'] } })
    const ids = items.map((item) => stringIn(item, 'id') ?? '')
    const isJoined = tasks.size === 0 || ids.some((id) => tasks.has(id))
    for (const [at, item] of items.entries()) tasks.set(ids[at] ?? '', keyOf(item))
    if (tasks.size > MAX_TASKS || !isJoined) throw new GatewayError('GW_ITEMS_NOT_EXACT')
    if (items.length < READ_TASKS) return tasks
  }
}

/** Returns those of the tasks that are not completed. */
async function stillOpen(read: ReadEngine, ids: ReadonlySet<string>): Promise<OpenTasks> {
  const tasks = new Map<string, string | null>()
  for (const taskIdIn of inLists([...ids])) {
    const open = await readList(read, { path: '/task', query: { taskIdIn }, shape: { texts: ['id'] } })
    for (const task of open) tasks.set(stringIn(task, 'id') ?? '', keyInId(task))
  }
  return tasks
}

/** Returns the key in the id of a task's definition, `key:version:id`. The engine leaves it out if the id would be too long. */
function keyInId(task: Item): string | null {
  return /^([^:]+):\d+:/.exec(stringIn(task, 'processDefinitionId') ?? '')?.[1] ?? null
}

async function countOf(read: ReadEngine, query: Readonly<Record<string, string>>): Promise<number> {
  const response = await read(`/history/identity-link-log/count?${new URLSearchParams(query)}`)
  return response === null ? 0 : countIn(response)
}

/** Returns the items of a list of the history. An engine without this history responds with 404, and its links grant nothing. */
export async function historyList(
  read: ReadEngine,
  list: string,
  query: Readonly<Record<string, string>>,
): Promise<readonly Item[]> {
  const path = `${list}?${new URLSearchParams(query)}`
  const items = await read(path)
  return items === null ? [] : itemsIn(items, { path, shape: {} })
}
