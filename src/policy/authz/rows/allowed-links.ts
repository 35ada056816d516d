import type { Operation } from '../../../operations/table.ts'
import { jsonIn } from '../../../request/engine-request.ts'
import { isRecord } from '../../../request/access-request.ts'
import type { Asked } from '../../../request/access-request.ts'
import type { AtomOptions } from '../checks/permission-checks.ts'
import { permissionsOf } from '../checks/permission-checks.ts'
import { isAuthorized } from '../decision/decide.ts'
import { identityBits } from '../entities/implicit-grants.ts'
import type { Records } from '../records/records.ts'

/** Leaves out the links to what the caller may not do; a bare engine offers everything. */
export type KeepOffers = (body: Buffer, asked: Asked, records: Records) => Buffer

/** @returns null for an operation whose answer offers nothing */
export function createOffers(
  { offers }: Operation,
  options: AtomOptions & { readonly impliesIdentity: boolean },
): KeepOffers | null {
  if (offers === undefined) return null
  const rules = new Map(Object.entries(offers).map(([rel, atom]) => [rel, permissionsOf([atom], options)[0]]))
  return (body, asked, records) => {
    const answer = jsonIn(body)
    if (!isRecord(answer) || !Array.isArray(answer['links'])) return body
    const links = answer['links'].filter((link: unknown) => {
      const rule = isRecord(link) ? rules.get(String(link['rel'])) : undefined
      if (rule === undefined) return true
      const { resource, permission, fact } = rule
      const id = fact.from === 'path' ? (asked.params[fact.name] ?? null) : null
      const implied = options.impliesIdentity && { implied: identityBits(resource, id, asked.principal) }
      return isAuthorized(records, asked.principal, { resource, permission, id, ...implied }) === true
    })
    return Buffer.from(JSON.stringify({ ...answer, links }))
  }
}
