import type { FastifyReply } from 'fastify'
import { GatewayError } from '../../errors.ts'
import type { Exchange, Match } from '../../pipeline/context.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { isRecord } from '../../request/value.ts'
import { spliceElements, spliceMember } from '../../lists/rewrite/narrow.ts'
import type { Answer } from '../../request/answer.ts'
import { sendAnswer } from '../../pipeline/replies.ts'
import { answerRows } from '../../lists/answer/answer-list.ts'
import { readVisible, readWhole } from '../../lists/postfilter/visible-rows.ts'

/** Returns whether the request for filters also requests the number of items that each filter finds. */
export function asksItemCounts({ engine, operation, accessRequest }: ItemsAsked): boolean {
  const isAsked = accessRequest.query.get('itemCount')?.toLowerCase() === 'true'
  return operation.itemCount !== undefined && isAsked && engine.authorization === 'enforce'
}

interface ItemsAsked {
  readonly engine: Pick<Match['engine'], 'authorization'>
  readonly operation: Pick<Match['operation'], 'itemCount'>
  readonly accessRequest: Pick<Match['accessRequest'], 'query'>
}

/** Serves filters, each with the number of items that the caller sees. */
export async function serveItemCounts(exchange: Exchange): Promise<FastifyReply> {
  const { parts, match, reply } = exchange
  const { rows } = match
  const keep = rows?.strategy === 'scan' ? rows.postfilter : null
  const answer =
    rows === null
      ? await readWhole(exchange)
      : await answerRows(exchange, { postfilter: keep, maxRows: parts.config.limits.filteredRows })
  return sendAnswer(reply, answer.status === 200 ? await withCounts(answer, exchange) : answer)
}

/** Sets the counts. Everything else in the response stays as the engine wrote it. */
async function withCounts(answer: Answer, exchange: Exchange): Promise<Answer> {
  const found = jsonIn(answer.body)
  const isList = Array.isArray(found)
  const counts: (number | null)[] = []
  for (const filter of isList ? found : [found])
    counts.push(isRecord(filter) ? await countOf(String(filter['id']), exchange) : null)
  const counted = (filter: Buffer, at = 0): Buffer => {
    const count = counts[at] ?? null
    return count === null ? filter : spliceMember(filter, 'itemCount', count)
  }
  const { body } = answer
  return { ...answer, body: isList ? spliceElements(body, null, counted) : counted(body) }
}

/** Returns the number of visible items of a filter. Null if the caller sees all of them. */
async function countOf(id: string, { parts, match, upstreamRequest }: Exchange): Promise<number | null> {
  const permit = match.engine.permits.get(match.operation.itemCount ?? '')
  if (permit === undefined) throw new GatewayError('GW_ROWS_NOT_EXACT')
  const accessRequest = { ...match.accessRequest, params: { id }, query: new Map() }
  const decision = (await permit.rows?.(accessRequest, false)) ?? { visibility: 'all' }
  if (decision.visibility === 'all') return null
  if (decision.visibility === 'none') return 0
  if (decision.strategy !== 'scan') throw new GatewayError('GW_ROWS_NOT_EXACT')
  const path = permit.operation.template.replace(':id', encodeURIComponent(id))
  const { seen } = await readVisible(
    {
      match: { engine: match.engine, operation: permit.operation, accessRequest },
      upstreamRequest: { ...upstreamRequest, method: 'GET', path },
    },
    { postfilter: decision.postfilter, maxRows: parts.config.limits.filteredRows },
    { form: 'count', wanted: Number.POSITIVE_INFINITY },
  )
  if (seen === null) throw new GatewayError('GW_ROWS_NOT_EXACT')
  return seen.length
}
