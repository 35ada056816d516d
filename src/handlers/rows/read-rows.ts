import { GatewayError } from '../../errors.ts'
import type { Asking } from '../../pipeline/context.ts'
import { type Answer, MAX_READ_BYTES } from '../../request/answer.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { isRecord } from '../../request/value.ts'
import type { ListRow } from '../../policy/authz/entities/look-ups.ts'

/** The engine's answer to what the caller asks. A HEAD is asked as a GET, for there is something to look at; but the engine marks only those. */
export async function readWhole({ match, upstreamRequest }: Asking): Promise<Answer> {
  const { upstream } = match.engine
  if (upstreamRequest.method !== 'HEAD') return upstream.fetch(upstreamRequest, MAX_READ_BYTES)
  const answer = await upstream.fetch({ ...upstreamRequest, method: 'GET' }, MAX_READ_BYTES)
  const { 'cache-control': _, ...headers } = answer.headers
  return { ...answer, headers }
}

/** What a restricted answer is made from, asked at the engine that the caller asks. @throws GatewayError when it does not answer */
export async function readEngineJson({ match, upstreamRequest }: Asking, path: string): Promise<unknown> {
  const headers = { ...upstreamRequest.headers, accept: 'application/json' }
  const { status, body } = await match.engine.upstream.fetch(
    { ...upstreamRequest, headers, method: 'GET', path, body: null, retry: 'always' },
    MAX_READ_BYTES,
  )
  if (status !== 200) throw new GatewayError('GW_UPSTREAM_INVALID')
  return jsonIn(body)
}

export async function readRows(exchange: Asking, path: string): Promise<readonly ListRow[]> {
  return rowsIn(await readEngineJson(exchange, path))
}

export function rowsIn(value: unknown): readonly ListRow[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
