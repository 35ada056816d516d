import { ADDED_VARIABLES } from '../../operations/table.ts'
import { PAGING } from '../../request/paging.ts'
import { targetPathOf, targetSearchOf, withoutParameter } from '../../request/target.ts'
import { isObject } from '../../request/value.ts'
import type { ListRequest } from '../list-request.ts'
import { spliceMember } from '../rewrite/narrow.ts'

/** Members of a query that change a list, but not its count: the order, the page, and data that is added to each item. */
const LIST_MEMBERS: readonly string[] = [
  'sorting',
  'sortBy',
  'sortOrder',
  'withCommentAttachmentInfo',
  ...PAGING,
  ...Object.keys(ADDED_VARIABLES),
]

/** Returns whether a request is a count with members that mean something only for a list. */
export function hasListMembers({ context: { operation, accessRequest } }: ListRequest): boolean {
  const { query, body } = accessRequest
  if (operation.items?.form !== 'count') return false
  return LIST_MEMBERS.some(
    (name) => query.has(name) || (operation.method === 'POST' && isObject(body) && Object.hasOwn(body, name)),
  )
}

/** Returns a count without these members, so that the list can be read instead. */
export function withoutListMembers({ context, upstreamRequest }: ListRequest): ListRequest {
  const { accessRequest } = context
  const { path, method, body } = upstreamRequest
  const isListMember = ([name]: readonly [string, unknown]) => LIST_MEMBERS.includes(name)
  return {
    context: {
      ...context,
      accessRequest: {
        ...accessRequest,
        query: new Map([...accessRequest.query].filter((pair) => !isListMember(pair))),
        body: isObject(accessRequest.body)
          ? Object.fromEntries(Object.entries(accessRequest.body).filter((pair) => !isListMember(pair)))
          : accessRequest.body,
      },
    },
    upstreamRequest: {
      ...upstreamRequest,
      path: targetPathOf(path) + LIST_MEMBERS.reduce(withoutParameter, targetSearchOf(path)),
      body:
        method === 'POST'
          ? LIST_MEMBERS.reduce<Buffer | null>((rest, name) => spliceMember(rest, name, undefined), body)
          : body,
    },
  }
}
