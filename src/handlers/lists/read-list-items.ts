import { GatewayError } from '../../errors.ts'
import type { Postfilter } from '../../lists/item-decision.ts'
import type { ListRequest } from '../../lists/list-request.ts'
import { MAX_READ_BYTES } from '../../request/buffered-response.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { isRecord } from '../../request/value.ts'
import type { ListItem } from '../../policy/authz/entities/look-ups.ts'

/**
 * Reads data for a restricted response from the caller's engine. A read with a body is a POST.
 * @throws GatewayError if the engine does not respond with 200, if the client has disconnected, or if the time for the request's
 *   lookups is over
 */
export async function readEngineJson(
  { context, upstreamRequest }: ListRequest,
  path: string,
  query?: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  context.accessRequest.checkDeadline?.()
  const asJson = { ...upstreamRequest.headers, accept: 'application/json' }
  const form =
    query === undefined
      ? { method: 'GET', headers: asJson, body: null }
      : {
          method: 'POST',
          headers: { ...asJson, 'content-type': 'application/json' },
          body: Buffer.from(JSON.stringify(query)),
        }
  const { status, body } = await context.engine.upstream.fetch(
    { ...upstreamRequest, ...form, path, retry: 'always' },
    MAX_READ_BYTES,
  )
  if (status !== 200) throw new GatewayError('GW_UPSTREAM_INVALID')
  return jsonIn(body)
}

export async function readListItems(listRequest: ListRequest, path: string): Promise<readonly ListItem[]> {
  return listItemsIn(await readEngineJson(listRequest, path))
}

export function listItemsIn(value: unknown): readonly ListItem[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** Returns the items that the caller sees. `template` names the kind of the items for the postfilter. */
export async function visibleOf(
  postfilter: Postfilter,
  template: string,
  items: readonly ListItem[],
): Promise<readonly ListItem[]> {
  const visible = await postfilter(template, items)
  return items.filter((_, index) => visible[index] === true)
}
