import { jsonIn } from '../../request/engine-request.ts'
import { chain, type MaybePromise } from '../../request/maybe-promise.ts'
import { isRecord } from '../../request/value.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type { Permission } from './checks/compiled-permission.ts'
import { isAuthorized } from './decision/decide.ts'
import type { ImplicitBits } from './entities/implicit-bits.ts'
import { identityBits, ownerBits } from './entities/implicit-grants.ts'
import type { LookUp } from './entities/look-ups.ts'
import type { Records } from './records/records.ts'

/** Removes the links to operations that the caller may not use. An engine without authorization offers every link. */
export type KeepAllowedLinks = (
  body: Buffer,
  accessRequest: AccessRequest,
  records: Records,
) => MaybePromise<Buffer>

export interface AllowedLinksOptions {
  readonly impliesIdentity: boolean
  readonly impliesFilters?: boolean
  readonly lookUp: LookUp
}

/**
 * Creates the function that removes links from a response.
 * @param allowedLinks the permission that a link needs, by its `rel`
 */
export function createAllowedLinks(
  allowedLinks: ReadonlyMap<string, Permission>,
  options: AllowedLinksOptions,
): KeepAllowedLinks {
  const filterMember = options.impliesFilters === true ? filterMemberOf(allowedLinks) : null
  return (body, accessRequest, records) => {
    const filterId = filterMember === null ? null : (accessRequest.params[filterMember] ?? null)
    if (filterId === null) return keep({ body, accessRequest, records }, null)
    return chain(options.lookUp('filter', filterId), (filter) =>
      keep({ body, accessRequest, records }, ownerBits(filter?.['owner'], accessRequest.principal)),
    )
  }

  function keep({ body, accessRequest, records }: LinksInput, owned: ImplicitBits | null): Buffer {
    // An engine that cannot produce a form that the client accepts responds to `OPTIONS` without content.
    if (body.length === 0) return body
    const response = jsonIn(body)
    if (!isRecord(response) || !Array.isArray(response['links'])) return body
    const links = response['links'].filter((link: unknown) => {
      const needed = isRecord(link) ? allowedLinks.get(String(link['rel'])) : undefined
      if (needed === undefined) return true
      const { resource, permission, attribute } = needed
      const id = attribute.from === 'path' ? (accessRequest.params[attribute.name] ?? null) : null
      const identity = options.impliesIdentity
        ? identityBits(resource, id, accessRequest.principal)
        : undefined
      const implicitBits = resource === 'FILTER' ? (owned ?? undefined) : identity
      return (
        isAuthorized(records, accessRequest.principal, { resource, permission, id, implicitBits }) === true
      )
    })
    return Buffer.from(JSON.stringify({ ...response, links }))
  }
}

interface LinksInput {
  readonly body: Buffer
  readonly accessRequest: AccessRequest
  readonly records: Records
}

/** Returns the parameter of the path that names the filter of the links. Null if the links are of something else. */
function filterMemberOf(allowedLinks: ReadonlyMap<string, Permission>): string | null {
  for (const { resource, attribute } of allowedLinks.values())
    if (resource === 'FILTER' && attribute.from === 'path') return attribute.name
  return null
}
