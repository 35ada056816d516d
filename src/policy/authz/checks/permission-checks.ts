import { RESOURCES, type ResourceName } from '../../../operations/permissions.ts'
import { bodyText } from '../../../request/body.ts'
import type { PermissionCheck } from '../decision/permission-check.ts'
import { identityBits } from '../entities/implicit-grants.ts'
import type { MissingAuthorization } from './authorization-exception.ts'
import type { CompiledCheck } from './compiled-check.ts'
import type { CompiledAttribute } from './compiled-permission.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import { attributesOf } from './references.ts'

type IdOf = {
  readonly [F in CompiledAttribute['from']]: (
    attribute: CompiledAttribute & { readonly from: F },
    context: EvaluationContext,
  ) => string | null | undefined
}

/**
 * Reads the id that a permission is checked on. Null checks without an id, and a request that names no id is checked without
 * one, as in the engine. `undefined` if the entity has no such id (a standalone task has no definition): the engine leaves
 * the permission out.
 */
const ID_OF: IdOf = {
  none: () => null,
  any: () => '*',
  caller: (_attribute, { accessRequest }) => accessRequest.principal.userId,
  created: (_attribute, { created }) => created ?? undefined,
  each: ({ name }, { each }) => each?.[name] ?? undefined,
  lookup: (attribute, context) => attributesOf(attribute, context)?.[attribute.name] ?? undefined,
  item: () => undefined,
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

/** Returns the permission checks of the engine, with their ids. */
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
  { accessRequest, implicitGrants, impliesIdentity }: EvaluationContext,
): PermissionCheck['implicitBits'] {
  if (resource === 'TASK' || resource === 'FILTER') return implicitGrants
  return impliesIdentity ? identityBits(resource, id, accessRequest.principal) : undefined
}

export function missingOf(permissionChecks: readonly PermissionCheck[]): readonly MissingAuthorization[] {
  return permissionChecks.map(({ resource, permission, id }) => ({
    permission,
    resource: RESOURCES[resource].name,
    id,
  }))
}
