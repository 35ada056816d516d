import { ownText, operatorText, type EngineRefusal, type GatewayError } from '../../../errors.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { chain, type MaybePromise } from '../../../request/maybe-promise.ts'
import type { LookUp } from '../entities/look-ups.ts'
import type { CompiledPrecondition, Preconditions, RequiredEntity } from './compiled-check.ts'
import type { Reference } from './compiled-permission.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import { argumentOf, attributesOf } from './references.ts'
import { responseOf, NO_ROWS, OF_OTHER_TENANT } from './refusals.ts'

export interface PreconditionOptions {
  readonly lookUp: LookUp
  /** The tenants whose entities exist for the caller, besides entities without a tenant. Null if the entities of every tenant do. */
  readonly tenants: readonly string[] | null
}

/** Null if the request is not refused. */
type PreconditionRefusal = EngineRefusal | GatewayError | null

type LoadedEntity = RequiredEntity & { readonly attributes: Attributes }

/** Checks the preconditions in the engine's order. @throws GatewayError, or rejects with it, if a lookup fails */
export function checkPreconditions(
  preconditions: Preconditions,
  context: EvaluationContext,
  options: PreconditionOptions,
): MaybePromise<PreconditionRefusal> {
  const { entities } = preconditions
  const loaded: LoadedEntity[] = []
  const checkFrom = (at: number): MaybePromise<PreconditionRefusal> => {
    const entity = entities[at]
    if (entity === undefined) return objectionTo(loaded, preconditions, context, options.tenants)
    // Other conditions may need an entity that is not loaded yet.
    if (entity.when?.isOfBody === true && entity.when.holds(context) === false) return checkFrom(at + 1)
    return chain(loadEntity(entity.reference, context, options.lookUp), (attributes) => {
      if (attributes === null && entity.notFound !== null)
        return responseOf(entity.notFound, context, ownText(context.loaded.missingReason))
      if (attributes) loaded.push({ ...entity, attributes })
      return checkFrom(at + 1)
    })
  }
  return checkFrom(0)
}

function objectionTo(
  loaded: readonly LoadedEntity[],
  { responses }: Preconditions,
  context: EvaluationContext,
  tenants: readonly string[] | null,
): PreconditionRefusal {
  const objection = firstResponse(
    responses.filter(({ afterPermission }) => !afterPermission),
    context,
    tenants,
  )
  if (objection !== null) return objection
  const ofOther = loaded.find((entity) => isRefused(entity, tenants))
  if (ofOther === undefined) return null
  const { crossTenant, notFound } = ofOther
  return responseOf(
    crossTenant === 'ignored' ? notFound : (crossTenant ?? notFound),
    context,
    OF_OTHER_TENANT,
  )
}

function isRefused({ crossTenant, attributes }: LoadedEntity, tenants: readonly string[] | null): boolean {
  return crossTenant !== 'ignored' && crossTenant !== NO_ROWS && isOfOtherTenant(attributes, tenants)
}

/** Returns the response of the first precondition that holds. */
function firstResponse(
  responses: readonly CompiledPrecondition[],
  context: EvaluationContext,
  tenants: readonly string[] | null,
): PreconditionRefusal {
  const first = responses.find(
    ({ when }) => !(when.isOfTenant && tenants === null) && when.holds(context) === true,
  )
  return first === undefined
    ? null
    : responseOf(first.response, context, operatorText`a precondition of the engine`)
}

/**
 * Returns the response to a permitted request that concerns another tenant's entity, or that a precondition refuses after
 * the permission check. Null if there is no such response.
 */
export function checkPostconditions(
  { entities, responses }: Preconditions,
  context: EvaluationContext,
  tenants: readonly string[] | null,
): PreconditionRefusal {
  for (const { reference, crossTenant } of entities) {
    const attributes = crossTenant === NO_ROWS ? attributesOf(reference, context) : null
    if (attributes !== null && isOfOtherTenant(attributes, tenants))
      return responseOf(NO_ROWS, context, OF_OTHER_TENANT)
  }
  return firstResponse(
    responses.filter(({ afterPermission }) => afterPermission),
    context,
    tenants,
  )
}

/** Loads an entity, once for each request. `undefined` if the request names none. */
export function loadEntity(
  reference: Reference,
  context: Pick<EvaluationContext, 'accessRequest' | 'each' | 'loaded'>,
  lookUp: LookUp,
): MaybePromise<Attributes | null | undefined> {
  const id = argumentOf(reference, context)
  if (id === null) return undefined
  const { lookup } = reference
  const loaded = context.loaded.find(lookup, id)
  if (loaded !== undefined) return loaded
  return chain(
    lookUp(lookup, id, (reason) => {
      context.loaded.missingReason = reason
    }),
    (attributes) => context.loaded.add(lookup, id, attributes),
  )
}

/** Returns whether an entity belongs to a tenant that is not in the list. */
export function isOfOtherTenant(attributes: Attributes, tenants: readonly string[] | null): boolean {
  const tenantId = attributes['tenantId'] ?? null
  return tenantId !== null && tenants !== null && !tenants.includes(tenantId)
}
