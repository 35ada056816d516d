import type { PostForm } from '../../operations/prefilters.ts'
import type { ListRequest } from '../list-request.ts'
import { spliceMember } from '../rewrite/narrow.ts'
import type { QueryMembers, Subquery } from '../list-plan.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import type { Postfilter } from '../item-decision.ts'
import type { ReadList } from '../postfilter/stable-scan.ts'
import { readAcceptedPage } from '../postfilter/visible-items.ts'
import { PAGING } from '../../request/paging.ts'
import { targetPathOf } from '../../request/target.ts'

/** Returns the caller's query with the parameters that a subquery sets. */
export function subqueryRequestOf(
  listRequest: ListRequest,
  { set, sort }: Subquery,
  postForm: PostForm | null,
): ListRequest {
  const { context, upstreamRequest } = postForm === null ? listRequest : postOf(listRequest, postForm)
  const { accessRequest } = context
  if (upstreamRequest.method === 'POST') {
    const headers = { ...upstreamRequest.headers, 'content-type': 'application/json' }
    const members = { ...set, ...(sort !== undefined && { sorting: [sort] }) }
    const body = Object.entries(members).reduce(
      (spliced, [name, value]) => spliceMember(spliced, name, value),
      upstreamRequest.body,
    )
    return { context, upstreamRequest: { ...upstreamRequest, headers, body } }
  }
  const texts = Object.entries<QueryMembers[string]>({ ...set, ...sort }).map(
    ([name, value]) => [name, String(value)] as const,
  )
  const query = new Map([...accessRequest.query, ...texts])
  const path = `${targetPathOf(upstreamRequest.path)}?${new URLSearchParams([...query])}`
  return {
    context: { ...context, accessRequest: { ...accessRequest, query } },
    upstreamRequest: { ...upstreamRequest, path },
  }
}

/** Receives the status and headers of the first of several responses. Their bodies are not kept. */
export interface FirstResponse {
  head?: Omit<BufferedResponse, 'body'>
}

export interface ReaderOptions {
  /** How the GET is sent as a POST; null if it is not. */
  readonly postForm: PostForm | null
  readonly postfilter: Postfilter
  /** As for PageRequest. */
  readonly member?: string | undefined
  /** As for ReadList. */
  readonly idsOnly?: boolean
  readonly firstResponse?: FirstResponse | undefined
}

/** Returns a reader of the list of a subquery, or of the list that its count counts. The reader throws ListRefusal. */
export function createReader(
  listRequest: ListRequest,
  subquery: Subquery,
  { postForm, postfilter, member, idsOnly = false, firstResponse = {} }: ReaderOptions,
): ReadList {
  const form = listRequest.context.operation.items?.form === 'count' ? 'count' : 'list'
  const subqueryRequest = subqueryRequestOf(listRequest, subquery, postForm)
  const { constants } = subquery
  return async (from, size, isPassedOver = false) => {
    const page = await readAcceptedPage(subqueryRequest, {
      postfilter,
      constants,
      form,
      member,
      idsOnly: idsOnly || isPassedOver,
      page: { from, size },
    })
    const { status, headers } = page.response
    firstResponse.head ??= { status, headers }
    return page
  }
}

/** Returns the POST that is equivalent to a GET. */
function postOf({ context, upstreamRequest }: ListRequest, { texts, inQuery }: PostForm): ListRequest {
  const { accessRequest } = context
  const chosen = (names: readonly string[]) =>
    [...accessRequest.query].filter(([name]) => names.includes(name))
  const body = Buffer.from(JSON.stringify(Object.fromEntries(chosen(texts))))
  const query = new Map(chosen([...inQuery, ...PAGING]))
  const path = `${targetPathOf(upstreamRequest.path)}?${new URLSearchParams([...query])}`
  return {
    context: { ...context, accessRequest: { ...accessRequest, query } },
    upstreamRequest: { ...upstreamRequest, method: 'POST', path, body },
  }
}
