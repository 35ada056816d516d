import { jsonIn } from '../../request/engine-request.ts'
import { isRecord } from '../../request/value.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type { Permission } from './checks/compiled-permission.ts'
import { isAuthorized } from './decision/decide.ts'
import { identityBits } from './entities/implicit-grants.ts'
import type { Records } from './records/records.ts'

/** Removes the links to operations that the caller may not use. An engine without authorization offers every link. */
export type KeepAllowedLinks = (body: Buffer, accessRequest: AccessRequest, records: Records) => Buffer

/**
 * Creates the function that removes links from a response.
 * @param allowedLinks the permission that a link needs, by its `rel`
 */
export function createAllowedLinks(
  allowedLinks: ReadonlyMap<string, Permission>,
  options: { readonly impliesIdentity: boolean },
): KeepAllowedLinks {
  return (body, accessRequest, records) => {
    // An engine that cannot produce a form that the client accepts responds to `OPTIONS` without content.
    if (body.length === 0) return body
    const response = jsonIn(body)
    if (!isRecord(response) || !Array.isArray(response['links'])) return body
    const links = response['links'].filter((link: unknown) => {
      const needed = isRecord(link) ? allowedLinks.get(String(link['rel'])) : undefined
      if (needed === undefined) return true
      const { resource, permission, attribute } = needed
      const id = attribute.from === 'path' ? (accessRequest.params[attribute.name] ?? null) : null
      const implicit = options.impliesIdentity && {
        implicitBits: identityBits(resource, id, accessRequest.principal),
      }
      return (
        isAuthorized(records, accessRequest.principal, { resource, permission, id, ...implicit }) === true
      )
    })
    return Buffer.from(JSON.stringify({ ...response, links }))
  }
}
