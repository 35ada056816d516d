import { ownText, operatorText, EngineRefusal, GatewayError } from '../../errors.ts'
import type { CheckedContext, ReceivedRequest } from '../../pipeline/context.ts'
import type { Operation } from '../../operations/table.ts'
import type { Dependencies } from '../../pipeline/dependencies.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import { bodyTexts, bodyValue } from '../../request/body.ts'
import { readJson } from '../../request/json.ts'
import { memberBytes, spliceMember } from '../../lists/rewrite/narrow.ts'
import {
  LISTED_SELECTORS,
  SELECTOR_LISTS,
  type Finder,
  type Selector,
} from '../../operations/body-selectors.ts'
import { checkSelection, hasNullIds } from '../../policy/validation/selectors.ts'
import { type Decision, denialOf } from '../../policy/authz/checks/decision.ts'
import { callerHeadersOf } from '../../pipeline/caller-headers.ts'
import { passAll } from '../../lists/postfilter/visible-items.ts'
import { foundOf, idsFound, type SelectionContext, selectionQueryOf } from './selected-ids.ts'

/**
 * Returns the body with its selecting queries replaced by the ids that the caller may select. An engine without authorization would
 * select everything, including entities of other tenants. A query stays in the body if the caller sees all items of it.
 * @throws GatewayError if a query selects too many items to be read, or cannot be sent on its own
 * @throws EngineRefusal if the body selects nothing
 */
export async function resolveSelectors(selectionContext: SelectionContext): Promise<Buffer | null> {
  const { context, upstreamRequest } = selectionContext
  // If each selected entity is checked, the body already contains ids.
  if (
    context.engine.authorization !== 'enforce' ||
    upstreamRequest.body === null ||
    checksEach(context.operation)
  )
    return upstreamRequest.body
  const selections = await selectionsOf(selectionContext, 'seen')
  return bodyWith(selections, selectionContext, upstreamRequest.body)
}

/**
 * Returns the request with ids instead of every query in its body, if each selected entity is checked. Null if the body selects
 * nothing, or if the entities are not checked one by one.
 */
export function selectFirst(
  dependencies: Dependencies,
  context: CheckedContext,
  request: ReceivedRequest,
): Promise<RequestWithIds> | null {
  const { engine, operation, accessRequest, bytes } = context
  if (bytes === null || engine.authorization !== 'enforce' || !checksEach(operation)) return null
  const looked = [
    ...selectorsOf(operation).map(([selector]) => selector),
    ...Object.keys(operation.selectors?.ids ?? {}),
  ]
  if (looked.every((member) => (bodyValue(accessRequest.body, member) ?? null) === null)) return null
  const selectionContext = selectingOf(dependencies, context, request)
  return selectionsOf(selectionContext, 'all').then((selections) => {
    const selected = bodyWith(selections, selectionContext, bytes)
    return { bytes: selected, accessRequest: { ...accessRequest, body: readJson(selected) } }
  })
}

/** A request whose body contains the selected ids. The same body is checked and sent. */
interface RequestWithIds {
  readonly bytes: Buffer
  readonly accessRequest: AccessRequest
}

function checksEach({ checks }: Operation): boolean {
  return checks.some(({ each }) => each !== undefined)
}

/**
 * Throws the refusal. The engine resolves the selection of a body before it checks most permissions, so the error of an empty
 * selection comes first.
 */
export function refuse(
  dependencies: Dependencies,
  decision: Extract<Decision, { readonly permitted: false }>,
  context: CheckedContext,
  request: ReceivedRequest,
): Promise<never> {
  const { engine, operation } = context
  const comesLater =
    operation.empty !== undefined &&
    decision.refusal.statusCode === 403 &&
    decision.isUnselected !== true &&
    engine.authorization === 'enforce'
  if (!comesLater) throw denialOf(decision)
  // If the selection cannot be determined, the refusal stays. The error of an invalid query comes before the refusal.
  const selection = emptyOf(selectingOf(dependencies, context, request)).catch((error: unknown) =>
    error instanceof EngineRefusal || (error instanceof GatewayError && error.code === 'GW_INVALID_BODY')
      ? error
      : null,
  )
  return selection.then((empty) => {
    throw empty ?? denialOf(decision)
  })
}

function selectingOf(
  dependencies: Dependencies,
  context: CheckedContext,
  request: ReceivedRequest,
): SelectionContext {
  const headers = callerHeadersOf(dependencies, context, request)
  return {
    dependencies,
    context,
    upstreamRequest: { method: 'POST', path: '', headers, body: context.bytes, retry: 'always' },
  }
}

/** Returns the engine's error for an empty selection. Null if an entity is found, or if the body selects nothing. */
async function emptyOf(selectionContext: SelectionContext): Promise<EngineRefusal | GatewayError | null> {
  const { permit, accessRequest } = selectionContext.context
  const selections = await selectionsOf(selectionContext, 'any')
  const isAsked = selections.some(({ queries, given }) => queries.length + given.length > 0)
  return !isAsked || selections.some(({ ids }) => ids.length > 0)
    ? null
    : (permit.emptyResponse?.(accessRequest) ?? null)
}

/** The ids for one member of a body. */
interface Selection {
  readonly member: string
  readonly given: readonly string[]
  readonly ids: readonly string[]
  /** Queries whose results are among the ids. */
  readonly queries: readonly Selector[]
  /** True if a query stays in the body. Its result is not known here. */
  readonly isOpen: boolean
  readonly isChanged: boolean
}

/** `seen`: a query stays if the caller sees all items of it. `any`: it is enough to know whether anything is found. */
type RequiredItems = 'seen' | 'all' | 'any'

/**
 * Returns the selection of each member of the body.
 * @throws GatewayError GW_INVALID_BODY for a selection that the engine cannot read, whether or not bodies are validated
 */
async function selectionsOf(
  selectionContext: SelectionContext,
  extent: RequiredItems,
): Promise<readonly Selection[]> {
  const { operation, accessRequest: request } = selectionContext.context
  checkSelection(operation, request.body)
  const selectors = selectorsOf(operation)
  const members = new Set([
    ...selectors.map(([, member]) => member),
    ...Object.keys(operation.selectors?.ids ?? {}),
  ])
  const selections: Selection[] = []
  for (const member of members) {
    const own = selectors.filter(([, taking]) => taking === member).map(([selector]) => selector)
    selections.push(await selectionOf(selectionContext, { member, selectors: own, extent }))
  }
  return selections
}

interface SelectorQuery {
  readonly member: string
  readonly selectors: readonly Selector[]
  readonly extent: RequiredItems
}

async function selectionOf(selectionContext: SelectionContext, wanted: SelectorQuery): Promise<Selection> {
  const { permit, operation, accessRequest } = selectionContext.context
  const { member, extent } = wanted
  const finder = operation.selectors?.ids[member]
  const given = givenIds(accessRequest, member)
  const { queries, found, sure, isOpen } = await queriedBy(selectionContext, wanted, finder)
  const all = [...new Set([...given, ...found])]
  // An engine without authorization ignores ids that do not exist, but not the ids of other tenants.
  const isLeft =
    (extent === 'seen' || finder?.single === true) && permit.tenantsOf(accessRequest.principal) === null
  const ids =
    finder === undefined || isLeft
      ? all
      : await foundAmong(all, sure, (some) =>
          foundOf(selectionContext, { ...finder, isAnyEnough: extent === 'any' }, some),
        )
  const isChanged = queries.length > 0 || ids.length < all.length
  if (isChanged && hasNullIds(accessRequest.body, member))
    throw new GatewayError('GW_ITEMS_NOT_EXACT', {
      message: operatorText`${ownText(member)} contains ids that are null`,
    })
  return { member, given, ids, queries, isOpen, isChanged }
}

/** Returns the ids that exist. The ids in `sure` need no lookup. */
async function foundAmong(
  all: readonly string[],
  sure: ReadonlySet<string>,
  find: (ids: readonly string[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const found = new Set(await find(all.filter((id) => !sure.has(id))))
  return all.filter((id) => sure.has(id) || found.has(id))
}

interface ResolvedQueries extends Pick<Selection, 'queries' | 'isOpen'> {
  readonly found: readonly string[]
  /** Ids that exist, because the list that looks up ids has returned them. */
  readonly sure: ReadonlySet<string>
}

/** Returns the results of the queries of one member. If any existing entity is enough, only one id is read. */
async function queriedBy(
  selectionContext: SelectionContext,
  { selectors, extent }: SelectorQuery,
  finder: Finder | undefined,
): Promise<ResolvedQueries> {
  const { body } = selectionContext.upstreamRequest
  const sure = new Set<string>()
  const unsure = new Set<string>()
  const queries: Selector[] = []
  let isOpen = false
  for (const selector of selectors) {
    const query = body === null ? null : memberBytes(body, selector)
    if (query === null) continue
    const selection = await selectionQueryOf(selectionContext, selector, query)
    if (selection.postfilter === passAll && extent === 'seen') {
      isOpen = true
      continue
    }
    const isSure = isOfList(finder, selector)
    const wanted = extent === 'any' && isSure ? 1 : undefined
    for (const id of await idsFound(selectionContext, selection, { wanted })) (isSure ? sure : unsure).add(id)
    queries.push(selector)
  }
  return { found: [...sure, ...unsure], sure, queries, isOpen }
}

function isOfList(finder: Finder | undefined, selector: Selector): boolean {
  return finder === undefined || (finder.list === SELECTOR_LISTS[selector] && finder.gives === undefined)
}

/**
 * Returns the body with the selected ids.
 * @throws EngineRefusal if nothing is selected
 */
function bodyWith(selections: readonly Selection[], { context }: SelectionContext, original: Buffer): Buffer {
  let body = original
  for (const { member, ids, queries, isChanged } of selections) {
    if (!isChanged) continue
    for (const selector of queries) body = spliceMember(body, selector, undefined)
    body = spliceMember(body, member, ids)
  }
  const { emptyResponse } = context.permit
  const isEmpty = selections.every(({ ids, isOpen }) => ids.length === 0 && !isOpen)
  if (isEmpty && emptyResponse !== null && body !== original) throw emptyResponse(context.accessRequest)
  return body
}

function selectorsOf({ selectors }: Operation): readonly (readonly [Selector, string])[] {
  return LISTED_SELECTORS.flatMap((selector) => {
    const member = selectors?.queries[selector]
    return member === undefined ? [] : [[selector, member] as const]
  })
}

function givenIds({ body }: AccessRequest, member: string): readonly string[] {
  return bodyTexts(body, member)
}
