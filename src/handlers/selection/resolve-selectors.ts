import type { FastifyRequest } from 'fastify'
import { EngineRefusal, GatewayError } from '../../errors.ts'
import type { MatchedContext } from '../../pipeline/context.ts'
import type { Finder, Operation, Selector } from '../../operations/table.ts'
import type { Parts } from '../../pipeline/parts.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import { bodyTexts, bodyValue } from '../../request/body.ts'
import { readJson } from '../../request/json.ts'
import { memberBytes, spliceMember } from '../../policy/authz/rows/narrow.ts'
import { LISTED_SELECTORS, SELECTOR_LISTS } from '../../operations/table.ts'
import { checkSelection, hasNullIds } from '../../policy/validation/selectors.ts'
import type { Decision } from '../../policy/authz/checks/decision.ts'
import { callerHeadersOf } from '../../pipeline/caller-headers.ts'
import { keepAll } from '../rows/visible-rows.ts'
import { foundOf, idsFound, type SelectionContext, selectionQueryOf } from './selected-ids.ts'

/**
 * The body with the ids that the caller may select in the place of the queries that select them: a bare engine would
 * select everything, and other tenants' too. A query whose every row the caller sees stays as it is.
 * @throws GatewayError when a query selects too much to be read, or cannot be asked by itself
 * @throws EngineRefusal when nothing at all is selected
 */
export async function resolveSelectors(selecting: SelectionContext): Promise<Buffer | null> {
  const { match, upstreamRequest } = selecting
  // Where each of what is selected is checked, ids already stand there.
  if (
    match.engine.authorization !== 'enforce' ||
    upstreamRequest.body === null ||
    checksEach(match.operation)
  )
    return upstreamRequest.body
  const selections = await selectionsOf(selecting, 'seen')
  return bodyWith(selections, selecting, upstreamRequest.body)
}

/**
 * The request with ids in the place of every query in its body, where each of what they select is checked; null: nothing
 * is looked for, or it is not checked one by one.
 */
export function selectFirst(
  parts: Parts,
  match: MatchedContext,
  request: FastifyRequest,
): Promise<Selected> | null {
  const { engine, operation, accessRequest, bytes } = match
  if (bytes === null || engine.authorization !== 'enforce' || !checksEach(operation)) return null
  const looked = [
    ...selectorsOf(operation).map(([selector]) => selector),
    ...Object.keys(operation.resolvesIds ?? {}),
  ]
  if (looked.every((member) => (bodyValue(accessRequest.body, member) ?? null) === null)) return null
  const selecting = selectingOf(parts, match, request)
  return selectionsOf(selecting, 'all').then((selections) => {
    const selected = bodyWith(selections, selecting, bytes)
    return { bytes: selected, accessRequest: { ...accessRequest, body: readJson(selected) } }
  })
}

/** A request whose body names what it selects: this is checked, and this is sent. */
interface Selected {
  readonly bytes: Buffer
  readonly accessRequest: AccessRequest
}

function checksEach({ checks }: Operation): boolean {
  return checks.some(({ each }) => each !== undefined)
}

/** Refuses; but what the body selects, the engine looks for before it asks for most permissions. */
export function refuse(
  parts: Parts,
  { refusal, isUnselected = false }: Extract<Decision, { readonly permitted: false }>,
  match: MatchedContext,
  request: FastifyRequest,
): Promise<never> {
  const { engine, operation } = match
  const comesLater =
    operation.empty !== undefined &&
    refusal.statusCode === 403 &&
    !isUnselected &&
    engine.authorization === 'enforce'
  if (!comesLater) throw refusal
  // What cannot be found out leaves the refusal as it is; but a query that cannot be read comes before it.
  const selection = emptyOf(selectingOf(parts, match, request)).catch((error: unknown) =>
    error instanceof EngineRefusal || (error instanceof GatewayError && error.code === 'GW_INVALID_BODY')
      ? error
      : null,
  )
  return selection.then((empty) => {
    throw empty ?? refusal
  })
}

function selectingOf(parts: Parts, match: MatchedContext, request: FastifyRequest): SelectionContext {
  const headers = callerHeadersOf(parts, match, request)
  return {
    parts,
    match,
    upstreamRequest: { method: 'POST', path: '', headers, body: match.bytes, retry: 'always' },
  }
}

/** The answer where nothing is found; null: something is, or nothing is looked for. */
async function emptyOf(selecting: SelectionContext): Promise<EngineRefusal | GatewayError | null> {
  const { permit, accessRequest } = selecting.match
  const selections = await selectionsOf(selecting, 'any')
  const isAsked = selections.some(({ queries, given }) => queries.length + given.length > 0)
  return !isAsked || selections.some(({ ids }) => ids.length > 0)
    ? null
    : (permit.emptyAnswer?.(accessRequest) ?? null)
}

/** What the ids of one member of a body are to be. */
interface Selection {
  readonly member: string
  readonly given: readonly string[]
  readonly ids: readonly string[]
  /** Whose rows are among the ids. */
  readonly queries: readonly Selector[]
  /** A query stays in the body: what it finds is not known here. */
  readonly isOpen: boolean
  readonly isChanged: boolean
}

/** `seen`: queries whose every row the caller sees stay. `any`: it is enough to know whether something is found. */
type Extent = 'seen' | 'all' | 'any'

/** @throws GatewayError GW_INVALID_BODY: whether or not bodies are validated, nothing is selected by what the engine does not read */
async function selectionsOf(selecting: SelectionContext, extent: Extent): Promise<readonly Selection[]> {
  const { operation, accessRequest: request } = selecting.match
  checkSelection(operation, request.body)
  const selectors = selectorsOf(operation)
  const members = new Set([
    ...selectors.map(([, member]) => member),
    ...Object.keys(operation.resolvesIds ?? {}),
  ])
  const selections: Selection[] = []
  for (const member of members) {
    const own = selectors.filter(([, taking]) => taking === member).map(([selector]) => selector)
    selections.push(await selectionOf(selecting, { member, selectors: own, extent }))
  }
  return selections
}

interface Wanted {
  readonly member: string
  readonly selectors: readonly Selector[]
  readonly extent: Extent
}

async function selectionOf(selecting: SelectionContext, wanted: Wanted): Promise<Selection> {
  const { permit, operation, accessRequest } = selecting.match
  const { member, extent } = wanted
  const finder = operation.resolvesIds?.[member]
  const given = givenIds(accessRequest, member)
  const { queries, found, sure, isOpen } = await queriedBy(selecting, wanted, finder)
  const all = [...new Set([...given, ...found])]
  // What is not there a bare engine leaves out by itself; what is another tenant's it does not.
  const isLeft =
    (extent === 'seen' || finder?.single === true) && permit.tenantsOf(accessRequest.principal) === null
  const ids =
    finder === undefined || isLeft
      ? all
      : await foundAmong(all, sure, (some) =>
          foundOf(selecting, { ...finder, isAnyEnough: extent === 'any' }, some),
        )
  const isChanged = queries.length > 0 || ids.length < all.length
  if (isChanged && hasNullIds(accessRequest.body, member))
    throw new GatewayError('GW_ROWS_NOT_EXACT', { message: `Ids that are null stand in ${member}` })
  return { member, given, ids, queries, isOpen, isChanged }
}

/** Those that are sure need not be looked for. */
async function foundAmong(
  all: readonly string[],
  sure: ReadonlySet<string>,
  find: (ids: readonly string[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const found = new Set(await find(all.filter((id) => !sure.has(id))))
  return all.filter((id) => sure.has(id) || found.has(id))
}

interface Queried extends Pick<Selection, 'queries' | 'isOpen'> {
  readonly found: readonly string[]
  /** What of it is there: it was found by the list in which ids are looked for. */
  readonly sure: ReadonlySet<string>
}

/** What the queries of one member find. Where it is sure and any will do, one is as good as all. */
async function queriedBy(
  selecting: SelectionContext,
  { selectors, extent }: Wanted,
  finder: Finder | undefined,
): Promise<Queried> {
  const { body } = selecting.upstreamRequest
  const sure = new Set<string>()
  const unsure = new Set<string>()
  const queries: Selector[] = []
  let isOpen = false
  for (const selector of selectors) {
    const query = body === null ? null : memberBytes(body, selector)
    if (query === null) continue
    const selection = await selectionQueryOf(selecting, selector, query)
    if (selection.keep === keepAll && extent === 'seen') {
      isOpen = true
      continue
    }
    const isSure = isOfList(finder, selector)
    const wanted = extent === 'any' && isSure ? 1 : undefined
    for (const id of await idsFound(selecting, selection, { wanted })) (isSure ? sure : unsure).add(id)
    queries.push(selector)
  }
  return { found: [...sure, ...unsure], sure, queries, isOpen }
}

function isOfList(finder: Finder | undefined, selector: Selector): boolean {
  return finder === undefined || (finder.list === SELECTOR_LISTS[selector] && finder.gives === undefined)
}

/** @throws EngineRefusal when nothing is selected */
function bodyWith(selections: readonly Selection[], { match }: SelectionContext, original: Buffer): Buffer {
  let body = original
  for (const { member, ids, queries, isChanged } of selections) {
    if (!isChanged) continue
    for (const selector of queries) body = spliceMember(body, selector, undefined)
    body = spliceMember(body, member, ids)
  }
  const { emptyAnswer } = match.permit
  const isEmpty = selections.every(({ ids, isOpen }) => ids.length === 0 && !isOpen)
  if (isEmpty && emptyAnswer !== null && body !== original) throw emptyAnswer(match.accessRequest)
  return body
}

function selectorsOf({ resolvesQueries = {} }: Operation): readonly (readonly [Selector, string])[] {
  return LISTED_SELECTORS.flatMap((selector) => {
    const member = resolvesQueries[selector]
    return member === undefined ? [] : [[selector, member] as const]
  })
}

function givenIds({ body }: AccessRequest, member: string): readonly string[] {
  return bodyTexts(body, member)
}
