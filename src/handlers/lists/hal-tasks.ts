import { GatewayError } from '../../errors.ts'
import type { ListRequest } from '../../lists/list-request.ts'
import { MAX_CONDITION_VALUES, MAX_LIST_CHARS, MAX_SINGLE_READS } from '../../lists/limits.ts'
import { ListRefusal, readWhole } from '../../lists/postfilter/visible-items.ts'
import { NO_TASK } from '../../lists/rewrite/candidate-users.ts'
import type { StoredFilter } from '../../lists/rewrite/filter-execution.ts'
import { elementsIn, memberBytes, spliceJson, spliceMember } from '../../lists/rewrite/narrow.ts'
import type { UpstreamRequest } from '../../proxy/wire/upstream-request.ts'
import { decidedAcceptOf } from '../../request/accept.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { countIn, jsonIn } from '../../request/engine-request.ts'
import { stringIn } from '../../request/value.ts'

/**
 * Returns the list of a filter in the HAL form, if its query is sent as a task query. A POST for tasks has no HAL form: the tasks of
 * the page are found and counted with it, and then read in the HAL form by their ids. The variables that the filter names are added.
 * @throws GatewayError GW_ITEMS_NOT_EXACT if there are too many tasks for such a request
 */
export async function readHalTasks(
  listRequest: ListRequest,
  { variableNames }: Pick<StoredFilter, 'variableNames'>,
): Promise<BufferedResponse> {
  try {
    const page = await post(listRequest, listRequest.upstreamRequest.path)
    const count = countIn(jsonIn((await post(listRequest, '/task/count')).body))
    const ids = elementsIn(page.body).flatMap((task) => stringIn(jsonIn(task), 'id') ?? [])
    const response = await tasksById(listRequest, ids)
    if (ids.length === 0) return { ...response, body: spliceMember(emptied(response.body), 'count', count) }
    const variables = await variablesOf(listRequest, response.body, variableNames)
    const body = EMBEDDED.reduce((whole, member) => {
      const embedded = memberBytes(whole, member)
      const tasks = embedded === null ? null : memberBytes(embedded, 'task')
      if (embedded === null || tasks === null) return whole
      const shown = inOrder(elementsIn(tasks), ids).map((task) => withVariables(task, variables))
      return spliceJson(whole, member, spliceJson(embedded, 'task', listJson(shown)))
    }, response.body)
    return { ...response, body: spliceMember(body, 'count', count) }
  } catch (error) {
    if (error instanceof ListRefusal) return error.response
    throw error
  }
}

/** Returns the response of a filter without tasks, which has no links. */
function emptied(response: Buffer): Buffer {
  const names = namesIn(response)
  return [...EMBEDDED, '_links', 'links']
    .filter((name) => names.has(name))
    .reduce((body, name) => spliceJson(body, name, NO_MEMBERS), response)
}

/** @throws ListRefusal if the engine refuses the request */
async function read(
  listRequest: ListRequest,
  request: Pick<UpstreamRequest, 'method' | 'path' | 'body'>,
  accept = 'application/json',
): Promise<BufferedResponse> {
  const { context, upstreamRequest } = listRequest
  context.accessRequest.checkDeadline?.()
  const headers = { ...upstreamRequest.headers, accept }
  const response = await readWhole({ context, upstreamRequest: { ...upstreamRequest, ...request, headers } })
  if (response.status !== 200) throw new ListRefusal(response)
  return response
}

/** Sends the query of the filter. */
function post(listRequest: ListRequest, path: string): Promise<BufferedResponse> {
  return read(listRequest, { method: 'POST', path, body: listRequest.upstreamRequest.body })
}

/** Returns the tasks in the HAL form, with the entities that the engine embeds. */
function tasksById(listRequest: ListRequest, ids: readonly string[]): Promise<BufferedResponse> {
  const taskIdIn = ids.length === 0 ? NO_TASK : ids.join()
  const query = new URLSearchParams({ taskIdIn, maxResults: String(Math.max(1, ids.length)) }).toString()
  // The engine splits the list at each comma.
  if (query.length > MAX_LIST_CHARS || ids.some((id) => id.includes(',')))
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const accept = decidedAcceptOf(listRequest.upstreamRequest.headers['accept'])
  return read(listRequest, { method: 'GET', path: `/task?${query}`, body: null }, accept)
}

/** Returns the tasks in the order of the query. A task that was completed in the meantime is missing. */
function inOrder(tasks: readonly Buffer[], ids: readonly string[]): readonly Buffer[] {
  const byId = new Map(tasks.map((task) => [stringIn(jsonIn(task), 'id'), task]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

function listJson(elements: readonly Buffer[]): Buffer {
  return Buffer.from(`[${elements.map(String).join()}]`)
}

/** The member with the entities that the engine embeds. Operaton 1.0.3 writes `links` and `embedded`, too, with the same values. */
const EMBEDDED = ['_embedded', 'embedded']
const NO_MEMBERS = Buffer.from('{}')
const NO_ELEMENTS = Buffer.from('[]')

/** Members of a task with the ids of the scopes whose variables the task sees, the nearest scope first. */
const SCOPES = ['id', 'executionId', 'processInstanceId', 'caseExecutionId', 'caseInstanceId']

/** A variable, as the engine embeds it, with its scope. */
interface EmbeddedVariable {
  readonly scopeId: string
  readonly name: string
  readonly links: string
  /** The other members. */
  readonly json: string
}

/** Returns the variables of these names that the tasks of a response see. Null if there are no names, and nothing is embedded. */
async function variablesOf(
  listRequest: ListRequest,
  response: Buffer,
  names: readonly string[],
): Promise<readonly EmbeddedVariable[] | null> {
  if (names.length === 0) return null
  const embedded = memberBytes(response, '_embedded') ?? NO_MEMBERS
  const scopeIds = [
    ...new Set(elementsIn(memberBytes(embedded, 'task') ?? NO_ELEMENTS).flatMap((task) => scopesOf(task))),
  ]
  if (scopeIds.length === 0) return []
  if (scopeIds.length > MAX_CONDITION_VALUES || names.length > MAX_SINGLE_READS)
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const variables: EmbeddedVariable[] = []
  for (const name of names) variables.push(...(await variablesIn(listRequest, scopeIds, name)))
  return variables
}

function scopesOf(task: Buffer): readonly string[] {
  const parsed = jsonIn(task)
  return [...new Set(SCOPES.flatMap((name) => stringIn(parsed, name) ?? []))]
}

/** Embeds the variables that a task sees: of each name, the one in the nearest scope. */
function withVariables(task: Buffer, variables: readonly EmbeddedVariable[] | null): Buffer {
  if (variables === null) return task
  const seen = new Map<string, EmbeddedVariable>()
  for (const scopeId of scopesOf(task))
    for (const variable of variables)
      if (variable.scopeId === scopeId && !seen.has(variable.name)) seen.set(variable.name, variable)
  const names = namesIn(task)
  const shown = [...seen.values()].map(({ links, json }) => {
    const members = names.has('links') ? `${links},"embedded":null,"_links"` : ''
    return `{${members === '' ? '"_links"' : `"links":${members}`}:${links},"_embedded":null,${json}}`
  })
  const embedded = Buffer.from(`{"variable":[${shown.join()}]}`)
  return EMBEDDED.filter((member) => names.has(member)).reduce(
    (whole, member) => spliceJson(whole, member, embedded),
    task,
  )
}

function namesIn(resource: Buffer): ReadonlySet<string> {
  return new Set(Object.keys(Object(jsonIn(resource))))
}

async function variablesIn(
  listRequest: ListRequest,
  variableScopeIdIn: readonly string[],
  variableName: string,
): Promise<readonly EmbeddedVariable[]> {
  // A scope has one variable of a name. The values of objects stay texts, as in the HAL form.
  const path = `/variable-instance?deserializeValues=false&maxResults=${variableScopeIdIn.length}`
  const body = Buffer.from(JSON.stringify({ variableName, variableScopeIdIn }))
  const { body: found } = await read(listRequest, { method: 'POST', path, body })
  return elementsIn(found).map((variable) => embeddedOf(variable))
}

/** Kinds of scopes: the member with the id, and the path of a variable. */
const PATHS = [
  ['taskId', 'task', 'localVariables'],
  ['processInstanceId', 'process-instance', 'variables'],
  ['executionId', 'execution', 'localVariables'],
  ['caseInstanceId', 'case-instance', 'variables'],
  ['caseExecutionId', 'case-execution', 'localVariables'],
] as const

function embeddedOf(variable: Buffer): EmbeddedVariable {
  const parsed = jsonIn(variable)
  const name = stringIn(parsed, 'name') ?? ''
  const scopeId =
    stringIn(parsed, 'taskId') ?? stringIn(parsed, 'executionId') ?? stringIn(parsed, 'caseExecutionId') ?? ''
  const [, kind, variables] = PATHS.find(([member]) => stringIn(parsed, member) === scopeId) ?? PATHS[0]
  const href = `/${kind}/${segmentOf(scopeId)}/${variables}/${segmentOf(name)}`
  const jsonOf = (member: string) => (memberBytes(variable, member) ?? 'null').toString()
  const json = ['name', 'value', 'type', 'valueInfo'].map((member) => `"${member}":${jsonOf(member)}`).join()
  return { scopeId, name, links: JSON.stringify({ self: { href } }), json }
}

/** Encodes a segment of a path as the engine does (RFC 3986 section 3.3). */
function segmentOf(text: string): string {
  return encodeURIComponent(text).replace(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
}
