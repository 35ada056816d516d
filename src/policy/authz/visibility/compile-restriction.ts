import type { ItemRestriction } from '../../../operations/notation.ts'
import { type Prefilter, prefilterOf } from '../../../operations/prefilters.ts'
import { RESOURCES } from '../../../operations/permissions.ts'
import { compileItemPermissions } from '../checks/compile-permission.ts'
import type { AccessRequest } from '../../../request/access-request.ts'
import { javaTrim } from '../../../request/java-text.ts'
import type { Permission } from '../checks/compiled-permission.ts'
import type {
  CompiledPrefilter,
  CompiledRestriction,
  ItemCondition,
  ItemPermissions,
} from './compiled-restriction.ts'

/** Compiles a restriction of list items. @throws Error if the notation does not know a term, or a term does not name an item */
export function compileRestriction(restriction: ItemRestriction): CompiledRestriction {
  const conditions: ItemCondition[] =
    restriction.allOf === undefined
      ? [{ permissions: compileItemPermissions(restriction.anyOf ?? []) }]
      : isOneEntity(restriction.allOf)
        ? [{ permissions: compileItemPermissions(restriction.allOf), together: true }]
        : restriction.allOf.map((term) => ({ permissions: compileItemPermissions([term]) }))
  if (restriction.and !== undefined && restriction.and.when === undefined)
    conditions.push({ permissions: compileItemPermissions(restriction.and.anyOf) })
  const query = prefilterOf(restriction.prefilter)
  const resources = new Set(
    conditions.flatMap(({ permissions }) => permissions.map(({ resource }) => resource)),
  )
  return {
    form: restriction.form ?? 'list',
    conditions,
    exempt: restriction.exempt ?? null,
    tenanted: restriction.crossTenant !== 'ignored',
    prefilter: query === null ? null : compilePrefilter(query, restriction, conditions),
    concernsTasks: resources.has('TASK'),
    concernsIdentity: IDENTITIES.some((resource) => resources.has(resource)),
    concernsFilters: resources.has('FILTER'),
    where: compileWhere(restriction),
  }
}

/** Returns whether several permissions have the same resource and the same id. */
function isOneEntity(terms: readonly string[]): boolean {
  const [first, ...others] = terms.map((term) => term.replace(/\.\w+/, ''))
  return others.length > 0 && others.every((entity) => entity === first)
}

/**
 * Compiles the restriction that applies if the query parameter of the second condition is true. Null without such a condition.
 * @throws Error if the condition cannot be read, because it would then restrict nothing
 */
function compileWhere({ and, ...others }: ItemRestriction): CompiledRestriction['where'] {
  if (and?.when === undefined) return null
  const [, query] = /^query:(\w+) is true$/.exec(and.when) ?? []
  if (query === undefined) throw new Error(`items have the unknown condition ${and.when}`)
  return { query, restriction: compileRestriction({ ...others, and: { anyOf: and.anyOf } }) }
}

/** Returns the restriction that applies to this query. */
export function restrictionFor(
  restriction: CompiledRestriction,
  { query }: Pick<AccessRequest, 'query'>,
): CompiledRestriction {
  const { where } = restriction
  return where !== null && !isSurelyFalse(query.get(where.query)) ? where.restriction : restriction
}

/**
 * Returns whether the engine certainly reads a parameter as false. The engine reads it as JSON, in which every number except
 * 0 is true, so any other text counts as true.
 */
export function isSurelyFalse(text = 'false'): boolean {
  return FALSE.has(javaTrim(text))
}

const FALSE: ReadonlySet<string> = new Set(['false', '0', 'null'])

const IDENTITIES = ['USER', 'GROUP', 'TENANT'] as const

/** Compiles the query for the visible items. @throws Error if it cannot select them */
function compilePrefilter(
  query: Prefilter,
  { form }: ItemRestriction,
  conditions: readonly ItemCondition[],
): CompiledPrefilter {
  const permissions = itemPermissionsOf(conditions)
  if (form !== undefined && form !== 'count')
    throw new Error(`the form ${form} of a response has no prefilter`)
  if (query[query.by] === undefined)
    throw new Error(`the prefilter is by ${query.by}, and names no parameter for it`)
  if (permissions.instance !== null && query.isHistory === true)
    throw new Error('instances that are running decide no history')
  return { query, permissions }
}

/**
 * Returns the permissions that decide the items of a restriction. @throws Error if they are not one key, with an optional
 * instance before it or task after it
 */
function itemPermissionsOf(conditions: readonly ItemCondition[]): ItemPermissions {
  const all = conditions.flatMap(({ permissions }) => permissions)
  const [first] = all
  const instance = conditions.length === 1 && first !== undefined && isOfInstance(first) ? first : null
  const task = conditions.length === 1 ? (all.find(({ resource }) => resource === 'TASK') ?? null) : null
  const keys = new Set(all.filter((one) => one !== instance && one !== task).map(nameOf))
  const [key] = keys
  const others = [instance, task].filter((one) => one !== null).length
  const isSingle = conditions.every(
    ({ permissions, together }) => together === true || permissions.length === 1 + others,
  )
  if (key === undefined || keys.size > 1 || !isSingle)
    throw new Error(
      'items have a prefilter, but are not decided by one key, with an optional instance or task',
    )
  const ofKeys = all.filter((one) => one !== instance)
  const keyTypes = [...new Set(ofKeys.map(({ resource }) => RESOURCES[resource].id))]
  return { key, instance, task, keyTypes }
}

function isOfInstance({ resource, attribute }: Permission): boolean {
  return resource === 'PROCESS_INSTANCE' && 'name' in attribute && attribute.name === 'processInstanceId'
}

function nameOf({ attribute }: Permission): string | undefined {
  return 'name' in attribute ? attribute.name : undefined
}
