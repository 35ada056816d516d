import { jsonIn } from '../../../request/engine-request.ts'
import { isRecord } from '../../../request/value.ts'
import type { AccessRequest } from '../../../request/access-request.ts'
import type { Permission } from '../checks/compiled-permission.ts'
import { isAuthorized } from '../decision/decide.ts'
import { identityBits } from '../entities/implicit-grants.ts'
import type { Records } from '../records/records.ts'

/** Leaves out the links to what the caller may not do; a bare engine offers everything. */
export type KeepAllowedLinks = (body: Buffer, accessRequest: AccessRequest, records: Records) => Buffer

/** @param allowedLinks the permission that a link needs, by its `rel` */
export function createAllowedLinks(
  allowedLinks: ReadonlyMap<string, Permission>,
  options: { readonly impliesIdentity: boolean },
): KeepAllowedLinks {
  return (body, accessRequest, records) => {
    // An engine that has nothing in the form that the client takes answers `OPTIONS` without content.
    if (body.length === 0) return body
    const answer = jsonIn(body)
    if (!isRecord(answer) || !Array.isArray(answer['links'])) return body
    const links = answer['links'].filter((link: unknown) => {
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
    return Buffer.from(JSON.stringify({ ...answer, links }))
  }
}
