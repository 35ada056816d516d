import type { EngineRefusal, GatewayError } from '../../../errors.ts'
import type { NotFoundAnswer, Precondition, OtherTenantAnswer, When } from '../../../operations/notation.ts'
import type { Operation } from '../../../operations/table.ts'
import { notFoundAnswer } from './not-found.ts'
import { applies } from './conditions.ts'
import { referenceOf } from './permission-checks.ts'
import type { Reference } from './compiled-permission.ts'
import { attributesOf, argumentOf } from './references.ts'
import type { CompiledCheck } from './compiled-check.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import type { Principal } from '../../../request/principal.ts'
import type { LookUp } from '../entities/look-ups.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { LOOKUPS } from '../entities/lookup-rules.ts'
import { chain, type MaybePromise } from '../../../request/maybe-promise.ts'

/** What the engine loads before it asks for any permission, and says when it must not or cannot. */
export interface Entities {
  readonly list: readonly Loaded[]
  readonly first: readonly Precondition[]
  /** Whether a tenant may be concerned: of an entity, or of what is to be made. */
  readonly isTenanted: boolean
  /** Whether another tenant's entity is left out of the answer, once permission is granted. */
  readonly isLate: boolean
}

interface Loaded {
  readonly reference: Reference
  readonly when: When | null
  readonly notFound: NotFoundAnswer | null
  readonly otherTenant: OtherTenantAnswer | null
}

/** @throws Error on an entity that the notation does not know */
export function entitiesOf(operation: Operation, checks: readonly CompiledCheck[]): Entities {
  const { entity, preconditions: first = [] } = operation
  const [notFound, otherTenant] = [operation.notFound ?? null, operation.otherTenant ?? null]
  const list: Loaded[] = []
  if (entity !== undefined) list.push({ reference: referenceOf(entity), when: null, notFound, otherTenant })
  for (const check of checks) {
    for (const { attribute } of check.permissions) {
      if (attribute.from !== 'lookup' || attribute.by.from === 'each') continue
      if (list.some(({ reference }) => isSame(reference, attribute))) continue
      list.push({
        reference: attribute,
        when: check.when,
        notFound: check.notFound,
        otherTenant: check.otherTenant,
      })
    }
  }
  const tenanted = list.filter(
    ({ reference, otherTenant: said }) => said !== 'ignored' && hasTenant(reference),
  )
  return {
    list,
    first,
    isTenanted: tenanted.length > 0 || first.some(({ when }) => isOfTenant(when)),
    isLate:
      tenanted.some(({ otherTenant: said }) => said === LATE) ||
      first.some(({ afterPermission: late }) => late),
  }
}

function isSame(one: Reference, other: Reference): boolean {
  return one.lookup === other.lookup && one.by.from === other.by.from && one.by.name === other.by.name
}

/** What is foreign is not refused, it has no rows. */
const LATE = '200 []'

function isOfTenant(when: When): boolean {
  return when.endsWith(' of another tenant')
}

/** Whether a look-up says whose tenant the entity is. */
export function hasTenant({ lookup }: Pick<Reference, 'lookup'>): boolean {
  const { members, tenant } = LOOKUPS[lookup]
  return tenant !== undefined || members.includes('tenantId')
}

export interface PreconditionOptions {
  readonly lookUp: LookUp
  /** Whose entities are there for the caller, beside those of no tenant; null: every tenant's. */
  readonly tenants: readonly string[] | null
}

/** Null: nothing speaks against it. */
type Said = EngineRefusal | GatewayError | null

type Found = Loaded & { readonly attributes: Attributes }

/** Looks in the engine's order at what is asked about. @throws GatewayError when a look-up fails, or rejects with it */
export function checkPreconditions(
  { list, first }: Entities,
  context: EvaluationContext,
  options: PreconditionOptions,
): MaybePromise<Said> {
  const { lookUp, tenants } = options
  const found: Found[] = []
  const lookFrom = (at: number): MaybePromise<Said> => {
    const one = list[at]
    if (one === undefined) return concluded(first, found, { context, tenants })
    // What an entity itself decides is not known yet.
    if (one.when?.startsWith('body:') && applies(one.when, context) === false) return lookFrom(at + 1)
    return chain(loadEntities(one.reference, context, lookUp), (attributes) => {
      if (attributes === null && one.notFound !== null) return notFoundAnswer(one.notFound, context)
      if (attributes) found.push({ ...one, attributes })
      return lookFrom(at + 1)
    })
  }
  return lookFrom(0)
}

function concluded(
  first: readonly Precondition[],
  found: readonly Found[],
  { context, tenants }: Pick<PreconditionOptions, 'tenants'> & { readonly context: EvaluationContext },
): Said {
  const said = spokenOf(first, context, { tenants, late: false })
  if (said !== null) return said
  const anothers = found.find((one) => isRefused(one, tenants))
  if (anothers === undefined) return null
  const { otherTenant, notFound } = anothers
  return notFoundAnswer(otherTenant === 'ignored' ? notFound : (otherTenant ?? notFound), context)
}

function isRefused({ otherTenant, attributes }: Found, tenants: readonly string[] | null): boolean {
  return otherTenant !== 'ignored' && otherTenant !== LATE && isOfOtherTenant(attributes, tenants)
}

function spokenOf(
  first: readonly Precondition[],
  context: EvaluationContext,
  { tenants, late }: Pick<PreconditionOptions, 'tenants'> & { readonly late: boolean },
): EngineRefusal | GatewayError | null {
  const spoken = first.find(
    (said) =>
      (said.afterPermission ?? false) === late &&
      !(isOfTenant(said.when) && tenants === null) &&
      applies(said.when, context) === true,
  )
  return spoken === undefined ? null : notFoundAnswer(spoken.answer, context)
}

/** The answer to who is permitted and asks about another tenant's; null: nothing of it is another's. */
export function postconditionAnswer(
  { list, first }: Entities,
  context: EvaluationContext,
  tenants: readonly string[] | null,
): EngineRefusal | GatewayError | null {
  for (const { reference, otherTenant } of list) {
    const attributes = otherTenant === LATE ? attributesOf(reference, context) : null
    if (attributes !== null && isOfOtherTenant(attributes, tenants)) return notFoundAnswer(LATE, context)
  }
  return spokenOf(first, context, { tenants, late: true })
}

/** Reads an entity, once for a request. `undefined`: the request names none. */
export function loadEntities(
  reference: Reference,
  context: Pick<EvaluationContext, 'accessRequest' | 'each' | 'loaded'>,
  lookUp: LookUp,
): MaybePromise<Attributes | null | undefined> {
  const id = argumentOf(reference, context)
  if (id === null) return undefined
  const { lookup } = reference
  const loaded = context.loaded.find(lookup, id)
  if (loaded !== undefined) return loaded
  return chain(lookUp(lookup, id), (attributes) => context.loaded.add(lookup, id, attributes))
}

/** Whether an entity belongs to a tenant that is none of these. */
export function isOfOtherTenant(attributes: Attributes, tenants: readonly string[] | null): boolean {
  const tenantId = attributes['tenantId'] ?? null
  return tenantId !== null && tenants !== null && !tenants.includes(tenantId)
}

/** The caller's tenants; null where tenants restrict nothing. */
export function tenantsOf({ tenants }: Principal, isFree: boolean): readonly string[] | null {
  return isFree ? null : tenants
}
