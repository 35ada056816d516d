import { operatorText, type EngineRefusal, GatewayError, jsonRefusalOf } from '../../errors.ts'
import type { EngineCall } from '../../pipeline/context.ts'
import type { Dependencies } from '../../pipeline/dependencies.ts'
import { SELECTOR_LISTS, type Finder, type Selector } from '../../operations/body-selectors.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { bodyTexts, bodyText } from '../../request/body.ts'
import { isRecord, isObject } from '../../request/value.ts'
import { readJson } from '../../request/json.ts'
import { IDS_A_QUERY, inLists } from '../../policy/authz/entities/lookup-lists.ts'
import type { Postfilter } from '../../lists/item-decision.ts'
import type { PlanContext } from '../../lists/prefilter/plan-context.ts'
import { createPlan } from '../../lists/prefilter/plan-list.ts'
import type { ListItem } from '../../policy/authz/entities/look-ups.ts'
import { isOfTenants } from '../../policy/authz/visibility/visibility.ts'
import { isNullText } from '../../policy/validation/schemas/jackson.ts'
import { isTrue } from '../../request/java-text.ts'
import { checkSelector } from '../../policy/validation/validate.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { readItems } from '../../lists/merge/read-subqueries.ts'
import { nullIfRefused, passAll, readVisible } from '../../lists/postfilter/visible-items.ts'
import { MAX_IDS, MAX_SINGLE_IDS } from '../../lists/limits.ts'

/** A request, or the part of it that is known before it can be sent. */
export interface SelectionContext extends EngineCall {
  readonly dependencies: Dependencies
}

/** A list and the items of it that a caller sees. */
export interface SelectionQuery {
  readonly list: EngineCall
  /** Null if the caller sees no item. */
  readonly postfilter: Postfilter | null
  /** As for ItemFilter. */
  readonly planContext?: PlanContext | undefined
}

/**
 * Returns the items that the caller would find with the query of a selector.
 * @throws GatewayError GW_INVALID_BODY, EngineRefusal for a query that the engine cannot read; GW_ITEMS_NOT_EXACT for a query that
 *   the list does not accept
 */
export async function selectionQueryOf(
  selectionContext: SelectionContext,
  selector: Selector,
  query: Buffer,
): Promise<SelectionQuery> {
  const value = readJson(query)
  // The whole body was validated before. It is checked again here, because a value that is not a query would select everything.
  if (!isObject(value)) throw new GatewayError('GW_INVALID_BODY')
  if (selector === 'historicBatchQuery' || selector === 'historicDecisionInstanceQuery')
    checkSelector(selector, value, selectionContext.context.engine.isDateText)
  const list = listOf(selectionContext, SELECTOR_LISTS[selector], query)
  const decision = (await list.context.permit.decideList?.(list.context.accessRequest, false)) ?? {
    visibility: 'all',
  }
  if (decision.visibility === 'all') return { list, postfilter: passAll }
  if (decision.visibility !== 'none' && decision.strategy !== 'scan')
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  return decision.visibility === 'none'
    ? { list, postfilter: null }
    : { list, postfilter: decision.postfilter, planContext: decision.planContext }
}

interface IdFinder extends Finder {
  /** True if it is enough to know whether any id is found. */
  readonly isAnyEnough: boolean
}

/**
 * Returns the ids that the engine itself would find, independent of the authorization records. Ids of other tenants are left out.
 * @throws GatewayError GW_ITEMS_NOT_EXACT if there are too many ids
 */
export async function foundOf(
  selectionContext: SelectionContext,
  finding: IdFinder,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { dependencies, context } = selectionContext
  const { list, gives = 'id', single, isAnyEnough } = finding
  if (ids.length > (single === true ? MAX_SINGLE_IDS : dependencies.config.limits.scannedItems))
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const tenants = context.permit.tenantsOf(context.accessRequest.principal)
  const postfilter: Postfilter = async (_template, items) =>
    items.map(({ tenantId }) => isOfTenants(tenantId, tenants))
  const isInUrl = context.engine.permits.get(list)?.operation.method === 'GET'
  const found = new Set<string>()
  // No entity has an empty id.
  const named = ids.filter((id) => id !== '')
  for (const query of queriesFor(finding, named, isInUrl)) {
    context.accessRequest.checkDeadline?.()
    const bytes = Buffer.from(JSON.stringify(query))
    const some = await idsFound(
      selectionContext,
      { list: listOf(selectionContext, list, bytes), postfilter },
      { gives },
    )
    for (const id of some) found.add(id)
    if (isAnyEnough && found.size > 0) break
  }
  return ids.filter((id) => found.has(id))
}

/** Yields queries, each with as many ids as the list accepts. */
function* queriesFor({ by, gives, single }: Finder, ids: readonly string[], isInUrl: boolean) {
  if (single === true) for (const id of ids) yield { [by]: id }
  else
    for (const some of inLists(ids, isInUrl || gives !== undefined ? IDS_A_QUERY : undefined))
      yield { [by]: some }
}

interface IdSearchOptions {
  /** The member of an item that contains the id; default `id`. */
  readonly gives?: string
  /** Maximum number of ids; default: all. */
  readonly wanted?: number | undefined
}

/**
 * Returns the ids that a query finds.
 * @throws GatewayError if there are too many; EngineRefusal or GatewayError if the engine refuses the query
 */
export async function idsFound(
  selectionContext: SelectionContext,
  query: SelectionQuery,
  { gives = 'id', wanted = Number.POSITIVE_INFINITY }: IdSearchOptions = {},
): Promise<readonly string[]> {
  const planned = await plannedIds(selectionContext, query, { gives, wanted })
  if (planned !== null) return planned
  const filtering = { postfilter: query.postfilter, limits: selectionContext.dependencies.config.limits }
  const { seen, response } = await readVisible(query.list, filtering, { form: 'list', member: gives, wanted })
  if (seen === null) throw refusalOf(response)
  return seen.flatMap(({ item }) => textIn(item, gives))
}

/** Returns null if all items have to be read and filtered. The engine then also validates the query. Only the ids of items are kept. */
async function plannedIds(
  selectionContext: SelectionContext,
  { list, postfilter, planContext }: SelectionQuery,
  { gives, wanted }: Required<IdSearchOptions>,
): Promise<readonly string[] | null> {
  if (postfilter === null || planContext === undefined) return null
  const plan = await createPlan(planContext)
  if (plan.strategy === 'scan') return null
  if (plan.strategy === 'denied') return idsFound(selectionContext, { list, postfilter: null })
  const { limits } = selectionContext.dependencies.config
  const listing = { plan, postfilter, limits, member: gives }
  const most = Math.min(wanted ?? MAX_IDS + 1, MAX_IDS + 1)
  const items = await readItems(list, listing, most).catch(nullIfRefused)
  if (items === null) return null
  if (items.length > MAX_IDS) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  return items.flatMap(({ item }) => textIn(item, gives))
}

function textIn(item: ListItem, member: string): readonly string[] {
  const value = item[member]
  return typeof value === 'string' ? [value] : []
}

/**
 * Returns the error for a query that its list refuses: the engine would also refuse it in a body. The engine's message for a query
 * that it cannot parse differs from one start of the engine to the next.
 */
function refusalOf({ status, headers, body }: BufferedResponse): EngineRefusal | GatewayError {
  if (status !== 400 && status !== 500) return new GatewayError('GW_ITEMS_NOT_EXACT', { message: REFUSED })
  const isJson = String(headers['content-type']).startsWith('application/json')
  const said = isJson ? jsonIn(body) : null
  if (isRecord(said) && typeof said['message'] === 'string' && said['message'] !== '')
    return jsonRefusalOf(status, said, REFUSED)
  return new GatewayError(status === 400 ? 'GW_INVALID_BODY' : 'GW_ITEMS_NOT_EXACT', { message: REFUSED })
}

const REFUSED = operatorText`The engine refuses the query in the body`

/** Returns the list operation with the query, as the caller would send it. */
function listOf(
  { context, upstreamRequest }: SelectionContext,
  id: string,
  query: Buffer,
): SelectionQuery['list'] {
  const permit = context.engine.permits.get(id)
  if (permit === undefined) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  const { operation } = permit
  const { method, template: path } = operation
  const value = readJson(query)
  const isGet = method === 'GET'
  const accessRequest = { ...context.accessRequest, params: {}, ...(isGet ? inQuery(value) : inBody(value)) }
  return {
    context: { engine: context.engine, operation, permit, accessRequest },
    upstreamRequest: { ...upstreamRequest, method, path, body: isGet ? null : query, retry: 'always' },
  }
}

function inBody(body: unknown) {
  return { query: new Map<string, string>(), body }
}

/** Returns the query string for a list that takes no body. A query that a query string cannot express is refused. */
function inQuery(value: unknown) {
  const query = new Map<string, string>()
  for (const [name, member] of Object.entries(isRecord(value) ? value : {})) {
    if (member === null || MAKES_NO_DIFFERENCE.has(name)) continue
    const kind = PARAMETERS[name]
    if (kind === undefined) throw new GatewayError('GW_ITEMS_NOT_EXACT')
    const text = TEXTS[kind](value, name)
    if (text !== null) query.set(name, text)
  }
  return { query, body: undefined }
}

type ParameterKind = 'text' | 'texts' | 'flag' | 'date'

/** Return the text of a valid member in a query string, or null if the member is left out. */
const TEXTS: Readonly<Record<ParameterKind, (query: unknown, name: string) => string | null>> = {
  text: bodyText,
  texts: textsOf,
  flag(query, name) {
    const text = bodyText(query, name) ?? ''
    return isNullText(text) ? null : String(isTrue(memberOf(query, name)))
  },
  date(query, name) {
    const date = memberOf(query, name)
    if (typeof date !== 'string') throw new GatewayError('GW_ITEMS_NOT_EXACT')
    return isNullText(date) ? null : date
  },
}

/**
 * Returns the texts as one parameter. The engine takes an empty list as no condition, and in a query string also a list with one
 * empty text, so both are refused.
 */
function textsOf(query: unknown, name: string): string {
  const list = memberOf(query, name)
  const texts = bodyTexts(query, name)
  const isWhole = Array.isArray(list) && texts.length === list.length && texts.length > 0
  if (!isWhole || texts.some((text) => text === '' || text.includes(',')))
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
  return texts.join(',')
}

function memberOf(query: unknown, name: string): unknown {
  return isRecord(query) ? query[name] : undefined
}

/** Members that do not change which items are found. They were validated before. */
const MAKES_NO_DIFFERENCE: ReadonlySet<string> = new Set([
  'disableBinaryFetching',
  'disableCustomObjectDeserialization',
  'includeInputs',
  'includeOutputs',
  'sortBy',
  'sortOrder',
  'sorting',
])

/** Parameters of the lists of historic batches and decision instances. */
const PARAMETERS: Readonly<Record<string, ParameterKind | undefined>> = {
  activityIdIn: 'texts',
  activityInstanceIdIn: 'texts',
  batchId: 'text',
  caseDefinitionId: 'text',
  caseDefinitionKey: 'text',
  caseInstanceId: 'text',
  completed: 'flag',
  decisionDefinitionId: 'text',
  decisionDefinitionIdIn: 'texts',
  decisionDefinitionKey: 'text',
  decisionDefinitionKeyIn: 'texts',
  decisionDefinitionName: 'text',
  decisionDefinitionNameLike: 'text',
  decisionInstanceId: 'text',
  decisionInstanceIdIn: 'texts',
  decisionRequirementsDefinitionId: 'text',
  decisionRequirementsDefinitionKey: 'text',
  evaluatedAfter: 'date',
  evaluatedBefore: 'date',
  processDefinitionId: 'text',
  processDefinitionKey: 'text',
  processInstanceId: 'text',
  rootDecisionInstanceId: 'text',
  rootDecisionInstancesOnly: 'flag',
  tenantIdIn: 'texts',
  type: 'text',
  userId: 'text',
  withoutTenantId: 'flag',
}
