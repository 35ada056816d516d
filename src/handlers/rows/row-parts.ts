import { GatewayError } from '../../errors.ts'
import type { Asking } from '../../pipeline/context.ts'
import { spliceMember } from '../../policy/authz/rows/narrow.ts'
import type { KeepRows } from '../../policy/authz/permit.ts'
import type { PartsPlan, QueryPart, RestPlan } from '../../policy/authz/rows/row-plan.ts'
import { type Answer, MAX_READ_BYTES } from '../../request/answer.ts'
import { bodyValue } from '../../request/body.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { joinRows } from '../../request/json-rows.ts'
import type { Paging } from '../../request/paging.ts'
import { targetPathOf } from '../../request/target.ts'
import { MergedRows } from './merged-rows.ts'
import { mapSideBySide } from './side-by-side.ts'
import type { ReadList, ReadRow } from './steady-list.ts'
import { json, readAsIs, readPage, readWhole } from './visible-rows.ts'

/** The engine does not take the query of a part. */
export class PartRefused extends Error {}

/** So many rows are read rather than counted definition by definition. */
const FEW_ROWS = 500

/**
 * Counts part by part. Null: some rows cannot be told from such as the caller may not see.
 * @throws PartRefused
 */
export async function countParts(exchange: Asking, listing: Omit<Listing, 'paging'>): Promise<Answer | null> {
  const { parts, instances, hidden, rest } = listing.plan
  const answers: Answer[] = []
  const sum = async (some: readonly QueryPart[]): Promise<number> => {
    const counts = await mapSideBySide(some, async (part) => {
      const answer = await countAnswer(askPart(exchange, part))
      answers.push(answer)
      return countIn(answer)
    })
    return counts.reduce((all, one) => all + one, 0)
  }
  const own = rest === null ? await sum(parts) : await countRest(exchange, { ...listing, rest, sum })
  if (own === null) return null
  const count = typeof own === 'number' ? own + (await sum(instances)) - (await sum(hidden)) : own.seen
  const [first] = answers
  // Rows may come and go between two counts.
  return first === undefined ? null : { ...first, body: json({ count: Math.max(0, count) }) }
}

interface Resting extends Omit<Listing, 'paging'> {
  readonly rest: RestPlan
  readonly sum: (some: readonly QueryPart[]) => Promise<number>
}

/** Visible rows, single instances aside, or all that were `seen` where there are few. Null: they cannot be told. */
async function countRest(
  exchange: Asking,
  { plan, keep, maxRows, rest, sum }: Resting,
): Promise<number | { readonly seen: number } | null> {
  const all = await sum(rest.all)
  if (all <= Math.min(FEW_ROWS, maxRows)) {
    const few = { plan: { ...plan, parts: rest.all, instances: [] }, keep, maxRows }
    let seen = 0
    for await (const _ of eachRow(exchange, few, Number.POSITIVE_INFINITY)) seen += 1
    return { seen }
  }
  const others = await rest.others()
  if (others === null) return null
  const shown = await sum(plan.parts)
  const left = all - (await sum(others))
  if (!rest.mustBeNone) return left
  return left === shown ? shown : null
}

async function countAnswer(asking: Asking): Promise<Answer> {
  asking.match.accessRequest.stillAwaited?.()
  const answer = await readWhole(asking)
  if (answer.status !== 200) throw new PartRefused()
  return answer
}

function countIn({ body }: Answer): number {
  const count = bodyValue(jsonIn(body), 'count')
  if (typeof count !== 'number') throw new GatewayError('GW_UPSTREAM_INVALID')
  return count
}

export interface Listing {
  readonly plan: PartsPlan
  readonly keep: KeepRows
  readonly paging: Paging
  /** More rows than this are not left out. */
  readonly maxRows: number
}

/**
 * Lists a page of the parts' rows. Each row is decided all the same: a part that shows too much costs time, and shows nothing.
 * Null: rows of several parts have no known order.
 * @throws PartRefused, OrderUnknown; GatewayError GW_ROWS_NOT_EXACT
 */
export async function listParts(exchange: Asking, listing: Listing): Promise<Answer | null> {
  const { plan } = listing
  const parts = [...plan.parts, ...plan.instances]
  const [only] = parts
  if (only === undefined || plan.rest !== null) return null
  // The first page is right as it is, where all rows on it are visible.
  if (parts.length === 1 && (plan.isExact || listing.paging.first === 0)) {
    const whole = await listWhole(exchange, only, listing)
    if (whole !== null) return whole
  }
  return parts.length > 1 && plan.order === null ? null : listMerged(exchange, parts, listing)
}

async function listMerged(
  exchange: Asking,
  parts: readonly QueryPart[],
  { plan, keep, paging, maxRows }: Listing,
): Promise<Answer | null> {
  const answers: Answer[] = []
  const readers = readersOf(exchange, { parts, keep, onAnswer: (answer) => answers.push(answer) })
  const merged = new MergedRows(readers, parts.length > 1 ? plan.order : null, maxRows)
  const bytes: Buffer[] = []
  let at = 0
  let length = 0
  for await (const row of merged.upTo(paging.first + paging.max)) {
    at += 1
    if (at <= paging.first) continue
    bytes.push(row.bytes)
    length += row.bytes.length
    if (length > MAX_READ_BYTES) throw new GatewayError('GW_ROWS_NOT_EXACT')
  }
  const [first] = answers
  return first === undefined ? null : { ...first, body: joinRows(bytes) }
}

interface Reading {
  readonly parts: readonly QueryPart[]
  readonly keep: KeepRows
  readonly onAnswer?: (answer: Answer) => void
}

function readersOf(exchange: Asking, { parts, keep, onAnswer }: Reading): readonly ReadList[] {
  const form = exchange.match.operation.rows?.form === 'count' ? 'count' : 'list'
  return parts.map((part): ReadList => {
    const asking = askPart(exchange, part)
    return async (from, size) => {
      const page = await readPage(asking, { keep, known: part.known, form, from, size })
      if (page.answer.status !== 200) throw new PartRefused()
      onAnswer?.(page.answer)
      return page
    }
  })
}

/**
 * The visible rows of all parts, one part after the other.
 * @throws PartRefused; GatewayError GW_ROWS_NOT_EXACT where too many are left out
 */
export function eachRow(
  exchange: Asking,
  { plan, keep, maxRows }: Omit<Listing, 'paging'>,
  wanted: number,
): AsyncGenerator<ReadRow> {
  const parts = [...plan.parts, ...plan.instances]
  return new MergedRows(readersOf(exchange, { parts, keep }), null, maxRows).upTo(wanted)
}

/** The engine pages by itself. Null: it has shown a row that the caller may not see, so its pages are not the caller's. */
async function listWhole(
  exchange: Asking,
  part: QueryPart,
  { keep }: Pick<Listing, 'keep'>,
): Promise<Answer | null> {
  const page = await readAsIs(askPart(exchange, part), { keep, form: 'list', known: part.known })
  if (page.answer.status !== 200) throw new PartRefused()
  return page.rows.every(({ isVisible }) => isVisible) ? page.answer : null
}

/** The caller's query with what a part sets. */
function askPart({ match, upstreamRequest }: Asking, { set }: QueryPart): Asking {
  const { accessRequest } = match
  if (upstreamRequest.method === 'POST') {
    const headers = { ...upstreamRequest.headers, 'content-type': 'application/json' }
    const body = Object.entries(set).reduce(
      (spliced, [name, value]) => spliceMember(spliced, name, value),
      upstreamRequest.body,
    )
    return { match, upstreamRequest: { ...upstreamRequest, headers, body } }
  }
  const texts = Object.entries(set).map(([name, value]) => [name, String(value)] as const)
  const query = new Map([...accessRequest.query, ...texts])
  const path = `${targetPathOf(upstreamRequest.path)}?${new URLSearchParams([...query])}`
  return {
    match: { ...match, accessRequest: { ...accessRequest, query } },
    upstreamRequest: { ...upstreamRequest, path },
  }
}
