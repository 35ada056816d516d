import { GatewayError } from './errors.ts'
import type { Exchange } from './exchange.ts'
import type { Finder, Selector } from './operations/table.ts'
import { isRecord } from './policy/asked.ts'
import type { KeepRows } from './policy/permit.ts'
import type { Row } from './policy/row-facts.ts'
import { isOfTenants } from './policy/rows.ts'
import { readVisible } from './serve-rows.ts'

/** A request, or what is known of it before it may be sent. */
export type Selecting = Pick<Exchange, 'parts' | 'match' | 'hop'>

/** The operation that lists what a selector selects. */
const LISTS: Readonly<Record<Selector, string>> = {
  externalTaskQuery: 'queryExternalTasks',
  historicBatchQuery: 'getHistoricBatches',
  historicDecisionInstanceQuery: 'getHistoricDecisionInstances',
  historicProcessInstanceQuery: 'queryHistoricProcessInstances',
  jobQuery: 'queryJobs',
  processInstanceQuery: 'queryProcessInstances',
}

export const SELECTORS = Object.keys(LISTS).filter(isSelector)

function isSelector(name: string): name is Selector {
  return Object.hasOwn(LISTS, name)
}

/** What is looked for: the rows of a list, of which somebody sees some. */
export interface Sought {
  readonly list: Pick<Exchange, 'match' | 'hop'>
  /** Null: no row at all. */
  readonly keep: KeepRows | null
}

/** What the caller would find by a selector's query. */
export async function soughtBy(selecting: Selecting, selector: Selector, query: Buffer): Promise<Sought> {
  const list = listOf(selecting, LISTS[selector], query)
  const verdict = (await list.match.permit.rows?.(list.match.asked, false)) ?? { rows: 'all' }
  if (verdict.rows === 'all') return { list, keep: keepAll }
  if (verdict.rows !== 'none' && verdict.rows !== 'filtered') throw new GatewayError('GW_ROWS_NOT_EXACT')
  return { list, keep: verdict.rows === 'none' ? null : verdict.keep }
}

export const keepAll: KeepRows = async (_template, rows) => rows.map(() => true)

/** At most so many ids in one query: they must fit a request line of 8 KB. */
const IDS_A_HOP = 100

/** Those of the ids that the engine itself would find, whatever the records say: not those of other tenants. */
export async function foundOf(
  selecting: Selecting,
  { list, by, gives = 'id' }: Finder,
  ids: readonly string[],
): Promise<readonly string[]> {
  const tenants = selecting.match.permit.tenantsOf(selecting.match.asked.principal)
  const keep: KeepRows = async (_template, rows) => rows.map(({ tenantId }) => isOfTenants(tenantId, tenants))
  const found = new Set<string>()
  for (let at = 0; at < ids.length; at += IDS_A_HOP) {
    const query = Buffer.from(JSON.stringify({ [by]: ids.slice(at, at + IDS_A_HOP) }))
    const rows = await rowsFound(selecting, { list: listOf(selecting, list, query), keep })
    for (const row of rows) if (typeof row[gives] === 'string') found.add(row[gives])
  }
  return ids.filter((id) => found.has(id))
}

/** @throws GatewayError when there are too many, or the engine refuses the query */
export async function rowsFound(
  { parts }: Selecting,
  { list, keep }: Sought,
  wanted: number = Number.POSITIVE_INFINITY,
): Promise<readonly Row[]> {
  const filtering = { keep, maxRows: parts.config.limits.filteredRows }
  const { seen } = await readVisible(list, filtering, { form: 'list', wanted })
  if (seen === null)
    throw new GatewayError('GW_ROWS_NOT_EXACT', { message: 'The engine refuses the query in the body' })
  return seen.map(({ row }) => row)
}

/** The list operation, as the caller would ask it with the query. */
function listOf({ match, hop }: Selecting, id: string, query: Buffer): Sought['list'] {
  const permit = match.engine.permits.get(id)
  if (permit === undefined) throw new GatewayError('GW_ROWS_NOT_EXACT')
  const { operation } = permit
  const { method, template: path } = operation
  const value: unknown = JSON.parse(query.toString('utf8'))
  const isGet = method === 'GET'
  const asked = { ...match.asked, params: {}, ...(isGet ? inQuery(value) : inBody(value)) }
  return {
    match: { ...match, operation, permit, asked },
    hop: { ...hop, method, path, body: isGet ? null : query, retry: 'always' },
  }
}

function inBody(body: unknown) {
  return { query: new Map<string, string>(), body }
}

/** A list that takes no body is asked for the same by a query string: one that cannot say it is not asked. */
function inQuery(value: unknown) {
  const query = new Map<string, string>()
  for (const [name, member] of Object.entries(isRecord(value) ? value : {})) {
    if (member === null || MAKES_NO_DIFFERENCE.has(name)) continue
    const text = textOf(member)
    if (text === null || !PARAMETERS.has(name)) throw new GatewayError('GW_ROWS_NOT_EXACT')
    query.set(name, text)
  }
  return { query, body: undefined }
}

function textOf(member: unknown): string | null {
  if (typeof member === 'string' || typeof member === 'boolean') return `${member}`
  const isList = Array.isArray(member) && member.length > 0
  return isList && member.every((one) => typeof one === 'string' && !one.includes(','))
    ? member.join(',')
    : null
}

/** Of which rows are found. */
const MAKES_NO_DIFFERENCE: ReadonlySet<string> = new Set([
  'disableBinaryFetching',
  'disableCustomObjectDeserialization',
  'includeInputs',
  'includeOutputs',
  'sorting',
])

/** Of the lists of historic batches and decision instances. */
const PARAMETERS: ReadonlySet<string> = new Set([
  'activityIdIn',
  'activityInstanceIdIn',
  'batchId',
  'caseDefinitionId',
  'caseDefinitionKey',
  'caseInstanceId',
  'completed',
  'decisionDefinitionId',
  'decisionDefinitionIdIn',
  'decisionDefinitionKey',
  'decisionDefinitionKeyIn',
  'decisionDefinitionName',
  'decisionDefinitionNameLike',
  'decisionInstanceId',
  'decisionInstanceIdIn',
  'decisionRequirementsDefinitionId',
  'decisionRequirementsDefinitionKey',
  'evaluatedAfter',
  'evaluatedBefore',
  'processDefinitionId',
  'processDefinitionKey',
  'processInstanceId',
  'rootDecisionInstanceId',
  'rootDecisionInstancesOnly',
  'tenantIdIn',
  'type',
  'userId',
  'withoutTenantId',
])
