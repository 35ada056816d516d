import type { FastifyRequest } from 'fastify'
import { type EngineVerdict, GatewayError } from './errors.ts'
import type { Exchange } from './exchange.ts'
import { type Match, matchOf } from './matched.ts'
import type { Operation, Selector } from './operations/table.ts'
import type { Parts } from './parts.ts'
import { emptyAnswer } from './policy/absent.ts'
import { bodyValue } from './policy/asked.ts'
import { memberBytes, spliceMember } from './policy/narrow.ts'
import type { KeepRows } from './policy/permit.ts'
import type { Row } from './policy/row-facts.ts'
import type { Verdict } from './policy/verdict.ts'
import { upstreamHeaders } from './proxy/headers.ts'
import type { Hop } from './proxy/hop.ts'
import { readVisible } from './serve-rows.ts'

/** The operation that lists what a selector selects; null: there is none that takes the query as a body. */
const LISTS: Readonly<Record<Selector, string | null>> = {
  externalTaskQuery: 'queryExternalTasks',
  historicBatchQuery: null,
  historicDecisionInstanceQuery: null,
  historicProcessInstanceQuery: 'queryHistoricProcessInstances',
  jobQuery: 'queryJobs',
  processInstanceQuery: 'queryProcessInstances',
}

/**
 * The body with the ids that the caller may select in the place of the queries that select them: a bare engine would
 * select everything. A query whose every row the caller sees stays as it is.
 * @throws GatewayError when a query selects too much to be read, or cannot be asked by itself
 * @throws EngineVerdict when nothing at all is selected
 */
export async function resolveSelectors({ parts, match, hop }: Exchange): Promise<Buffer | null> {
  let { body } = hop
  if (match.engine.authorization !== 'enforce') return body
  const { empty } = match.operation
  const idsBy = new Map<string, readonly string[]>()
  let mayFind = false
  for (const [selector, member] of selectorsOf(match.operation)) {
    const query = body === null ? null : memberBytes(body, selector)
    const given = idsBy.get(member) ?? givenIds(match, member)
    idsBy.set(member, given)
    if (query === null) continue
    const list = await selectionOf(match, selector, query)
    mayFind ||= list.keep === keepAll
    if (list.keep === keepAll) continue
    const found = await foundBy(list, { hop, query, wanted: Number.POSITIVE_INFINITY, parts })
    const ids = [...new Set([...given, ...idsOf(found)])]
    idsBy.set(member, ids)
    body = spliceMember(spliceMember(body, [selector], undefined), [member], ids)
  }
  const isEmpty = !mayFind && [...idsBy.values()].every((ids) => ids.length === 0)
  if (isEmpty && empty !== undefined && body !== hop.body) throw emptyAnswer(empty, match.asked)
  return body
}

/** Refuses; but what a query in the body finds, the engine looks for before it asks for most permissions. */
export function refuse(
  parts: Parts,
  request: FastifyRequest,
  { refusal, isUnselected = false }: Extract<Verdict, { readonly permitted: false }>,
): Promise<never> {
  const match = matchOf(request)
  const { engine, operation } = match
  const comesLater =
    operation.empty !== undefined &&
    refusal.statusCode === 403 &&
    !isUnselected &&
    engine.authorization === 'enforce'
  if (!comesLater) throw refusal
  const headers = upstreamHeaders(request.raw.rawHeaders, engine.requestPolicy)
  const hop: Hop = { method: 'POST', path: '', headers, body: request.bytes, retry: 'always' }
  // What cannot be found out leaves the refusal as it is.
  const sought = emptyOf({ parts, match, hop }).catch(() => null)
  return sought.then((empty) => {
    throw empty ?? refusal
  })
}

/** The answer to queries in the body that find nothing; null: they find something, or there are none. */
async function emptyOf({
  parts,
  match,
  hop,
}: Pick<Exchange, 'parts' | 'match' | 'hop'>): Promise<EngineVerdict | GatewayError | null> {
  const { operation, asked } = match
  const selectors = selectorsOf(operation)
  if (operation.empty === undefined || selectors.some(([, member]) => givenIds(match, member).length > 0))
    return null
  let isAsked = false
  for (const [selector] of selectors) {
    const query = hop.body === null ? null : memberBytes(hop.body, selector)
    if (query === null) continue
    isAsked = true
    const list = await selectionOf(match, selector, query)
    if ((await foundBy(list, { hop, query, wanted: 1, parts })).length > 0) return null
  }
  return isAsked ? emptyAnswer(operation.empty, asked) : null
}

const keepAll: KeepRows = async (_template, rows) => rows.map(() => true)

interface Selection {
  readonly match: Match
  /** Null: the caller sees no row at all. */
  readonly keep: KeepRows | null
}

async function selectionOf(match: Match, selector: Selector, query: Buffer): Promise<Selection> {
  const list = listOf(match, selector, query)
  const verdict = (await list.permit.rows?.(list.asked, false)) ?? { rows: 'all' }
  if (verdict.rows === 'all') return { match: list, keep: keepAll }
  if (verdict.rows !== 'none' && verdict.rows !== 'filtered') throw new GatewayError('GW_ROWS_NOT_EXACT')
  return { match: list, keep: verdict.rows === 'none' ? null : verdict.keep }
}

interface Sought extends Pick<Exchange, 'parts' | 'hop'> {
  readonly query: Buffer
  /** So many rows are enough. */
  readonly wanted: number
}

/** @throws GatewayError when there are too many, or the engine refuses the query */
async function foundBy(
  { match, keep }: Selection,
  { hop, query, wanted, parts }: Sought,
): Promise<readonly Row[]> {
  const { seen } = await readVisible(
    {
      match,
      hop: { ...hop, method: 'POST', path: match.operation.template, body: query, retry: 'always' },
    },
    { keep, maxRows: parts.config.limits.filteredRows },
    { form: 'list', wanted },
  )
  if (seen === null)
    throw new GatewayError('GW_ROWS_NOT_EXACT', { message: 'The engine refuses the query in the body' })
  return seen.map(({ row }) => row)
}

function idsOf(rows: readonly Row[]): readonly string[] {
  return rows.flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
}

const SELECTORS = Object.keys(LISTS).filter(isSelector)

function isSelector(name: string): name is Selector {
  return Object.hasOwn(LISTS, name)
}

function selectorsOf({ selects = {} }: Operation): readonly (readonly [Selector, string])[] {
  return SELECTORS.flatMap((selector) => {
    const member = selects[selector]
    return member === undefined ? [] : [[selector, member] as const]
  })
}

/** The list operation, as the caller would ask it with the selector's query. */
function listOf(match: Match, selector: Selector, query: Buffer): Match {
  const id = LISTS[selector]
  const permit = id === null ? undefined : match.engine.permits.get(id)
  if (permit === undefined) throw new GatewayError('GW_ROWS_NOT_EXACT')
  const body: unknown = JSON.parse(query.toString('utf8'))
  return {
    ...match,
    operation: permit.operation,
    permit,
    asked: { ...match.asked, params: {}, query: new Map(), body },
  }
}

function givenIds({ asked }: Match, member: string): readonly string[] {
  const given = bodyValue(asked.body, member)
  return Array.isArray(given) ? given.filter((id) => typeof id === 'string') : []
}
