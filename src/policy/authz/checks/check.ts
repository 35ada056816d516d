import type { NotFoundAnswer, Check, OtherTenantAnswer } from '../../../operations/notation.ts'
import { RESOURCES, type ResourceName } from '../../../operations/permissions.ts'
import { bodyText } from '../../../request/body.ts'
import type { CompiledAttribute } from './compiled-permission.ts'
import { permissionsOf, referenceOf } from './permission-checks.ts'
import type { PermissionCheck } from '../decision/permission-check.ts'
import { identityBits } from '../entities/implicit-grants.ts'
import type { MissingAuthorization } from './authorization-exception.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import type { CompiledCheck } from './compiled-check.ts'
import { attributesOf } from './references.ts'

/** @throws Error on an atom that the notation does not know. */
export function compileCheck(
  check: Check,
  row: { readonly notFound?: NotFoundAnswer; readonly otherTenant?: OtherTenantAnswer },
  index = 0,
): CompiledCheck {
  const {
    anyOf = [],
    allOf,
    admin = false,
    when = null,
    each = null,
    denied,
    exempt = null,
    after = false,
  } = check
  const permissions = permissionsOf(allOf ?? anyOf)
  for (const { attribute } of permissions) checkPlace(attribute, check)
  const isFound = check.viaQuery === 'query'
  return {
    index,
    permissions,
    onAll: permissions
      .filter(
        ({ attribute }) => isFound || !(attribute.from === 'lookup' && MAY_BE_MISSING.has(attribute.lookup)),
      )
      .map(({ resource, permission }) => ({ resource, permission, id: null })),
    mode: allOf === undefined ? 'any' : 'all',
    admin,
    when,
    each,
    denied,
    ...answersOf(check, row),
    isFound,
    exempt,
    entity: check.entity === undefined ? null : referenceOf(check.entity),
    after,
    isUnselected: check.beforeSelection === true,
  }
}

/** An id that is not there is left out, and with it what `allOf` asks for. */
function checkPlace({ from }: CompiledAttribute, { each, after }: Check): void {
  const isMisplaced = { each: each === undefined, created: after !== true, row: true }
  if ((from === 'each' || from === 'created' || from === 'row') && isMisplaced[from])
    throw new Error(`A check asks about ${from}, which is not there`)
}

/** Entities whose definition or instance may be none, so that a grant on all definitions does not reach them. */
const MAY_BE_MISSING: ReadonlySet<string> = new Set(['task', 'variableInstance', 'operationLogEntry'])

/** What a check does not say, its row says. */
function answersOf(
  { notFound, otherTenant }: Check,
  row: { readonly notFound?: NotFoundAnswer; readonly otherTenant?: OtherTenantAnswer },
): Pick<CompiledCheck, 'notFound' | 'otherTenant'> {
  return { notFound: notFound ?? row.notFound ?? null, otherTenant: otherTenant ?? row.otherTenant ?? null }
}

type IdOf = {
  readonly [F in CompiledAttribute['from']]: (
    attribute: CompiledAttribute & { readonly from: F },
    context: EvaluationContext,
  ) => string | null | undefined
}

/**
 * The id an atom asks about; null asks without an id. `undefined`: the entity has no such id (a standalone task has no
 * definition), so the engine leaves the atom out. A request that names no id asks without one, as the engine does.
 */
const ID_OF: IdOf = {
  none: () => null,
  any: () => '*',
  caller: (_fact, { accessRequest }) => accessRequest.principal.userId,
  created: (_fact, { created }) => created ?? undefined,
  each: ({ name }, { each }) => each?.[name] ?? undefined,
  lookup: (attribute, context) => attributesOf(attribute, context)?.[attribute.name] ?? undefined,
  row: () => undefined,
  path: ({ name }, { accessRequest }) => accessRequest.params[name] ?? null,
  query: ({ name }, { accessRequest }) => accessRequest.query.get(name) ?? null,
  body: ({ name }, { accessRequest }) => bodyText(accessRequest.body, name),
}

function idOf<F extends CompiledAttribute['from']>(
  attribute: CompiledAttribute & { readonly from: F },
  context: EvaluationContext,
): string | null | undefined {
  const read: IdOf[F] = ID_OF[attribute.from]
  return read(attribute, context)
}

/** The atoms the engine would ask, with their ids filled in. */
export function permissionChecksOf(
  { permissions, isFound }: CompiledCheck,
  context: EvaluationContext,
): readonly PermissionCheck[] {
  const permissionChecks: PermissionCheck[] = []
  for (const { resource, permission, attribute } of permissions) {
    const id = idOf(attribute, context)
    if (id === undefined && !isFound) continue
    permissionChecks.push({
      resource,
      permission,
      id: id ?? null,
      implicitBits: implicitOn(resource, id ?? null, context),
    })
  }
  return permissionChecks
}

function implicitOn(
  resource: ResourceName,
  id: string | null,
  { accessRequest, linked, impliesIdentity }: EvaluationContext,
): PermissionCheck['implicitBits'] {
  if (resource === 'TASK') return linked
  return impliesIdentity ? identityBits(resource, id, accessRequest.principal) : undefined
}

export function missingOf(permissionChecks: readonly PermissionCheck[]): readonly MissingAuthorization[] {
  return permissionChecks.map(({ resource, permission, id }) => ({
    permission,
    resource: RESOURCES[resource].name,
    id,
  }))
}
