import type { LookupName } from './lookup-name.ts'
import type { Check, EntityReference } from './notation.ts'

/**
 * The definitions that an operation acts on, if it names them by their key. Definitions of several tenants may share a key,
 * so the tenant check depends on this value:
 * - `latest version`: one definition, the newest one with the path's key and without a tenant, or with the path's tenant. It is looked up.
 * - `all versions`: every version of every tenant. If the key is in the path, each version is looked up. If it is in the body, the
 *   tenants are looked up.
 * - `all versions of the tenant`: every version with the path's key and tenant. Each version is looked up.
 * - `versions that the body names`: every version of every tenant, unless the body names a tenant or `processDefinitionWithoutTenantId`.
 */
export type ActsOnKey =
  | 'latest version'
  | 'all versions'
  | 'all versions of the tenant'
  | 'versions that the body names'

/** Whether an operation with a key in its body always acts on the definitions of all tenants, or only if the body names no tenant. */
export type BodyReach = Extract<ActsOnKey, 'all versions' | 'versions that the body names'>

/** The fields of an operation that determine which definitions it acts on. */
interface KeyFields {
  readonly route: string
  readonly checks: readonly Check[]
  readonly actsOnKey?: ActsOnKey | undefined
  readonly loads?: EntityReference | undefined
}

/** The lookups that find the latest version of the definition with the path's key, by the first part of the path. */
const LATEST_VERSIONS: Readonly<Record<string, LookupName>> = {
  'decision-definition': 'decisionDefinitionOfKey',
  'decision-requirements-definition': 'decisionRequirementsDefinitionOfKey',
  'process-definition': 'processDefinitionOfKey',
}

/** Returns the lookup of the definition that an operation acts on, or undefined if the operation needs no such lookup. */
export function latestVersionOf({ route, actsOnKey }: Pick<KeyFields, 'route' | 'actsOnKey'>): LookupName | undefined {
  return actsOnKey === 'latest version' ? LATEST_VERSIONS[resourceOf(route)] : undefined
}

/** Returns the place of the definition key in the request of an operation, or null if the operation names no key. */
export function keyIn({ route, checks }: Pick<KeyFields, 'route' | 'checks'>): 'path' | 'body' | null {
  if (/\/:\w*key(?=\/|$)/i.test(route)) return 'path'
  const isInBody = checks.some(({ anyOf, allOf }) => (allOf ?? anyOf ?? []).some(isKeyOfBody))
  return isInBody ? 'body' : null
}

function isKeyOfBody(term: string): boolean {
  return /\bbody:\w*Key\b/.test(term)
}

/** Returns the mistake in the `actsOnKey` of an operation, or null if it is correct. */
export function mistakeInActsOnKey(entry: KeyFields): string | null {
  const { actsOnKey, checks } = entry
  const where = keyIn(entry)
  if (actsOnKey === undefined)
    return where === null && !checks.some(isOfEachVersion)
      ? null
      : `does not say what it acts on (the key of a definition is in the ${where ?? 'checks'}): \`actsOnKey\` is needed`
  return where === null || !PLACES[actsOnKey].includes(where)
    ? `acts on "${actsOnKey}", but ${where === null ? 'names no key' : `has its key in the ${where}`}`
    : where === 'path'
      ? mistakeInPath(entry, actsOnKey)
      : null
}

/** The places where the key may be, for each value of `actsOnKey`. */
const PLACES: Readonly<Record<ActsOnKey, readonly ('path' | 'body')[]>> = {
  'latest version': ['path'],
  'all versions': ['path', 'body'],
  'all versions of the tenant': ['path'],
  'versions that the body names': ['body'],
}

function mistakeInPath({ route, checks, loads }: KeyFields, actsOnKey: ActsOnKey): string | null {
  const hasTenant = route.includes('/:tenantId')
  if (actsOnKey === 'latest version')
    return checks.some(isOfEachVersion) ? 'acts on one version, but has a check for each version' : null
  if (hasTenant !== (actsOnKey === 'all versions of the tenant'))
    return `acts on "${actsOnKey}", but its path names ${hasTenant ? 'a' : 'no'} tenant`
  // A lookup of the latest version would leave the tenants of the other versions unchecked.
  if (loads !== undefined || !checks.some(isOfEachVersion))
    return `acts on "${actsOnKey}", but has no check that always runs for each of \`versionsOfKey\``
  return null
}

/** Returns true if a check always runs, and for every version. Such a check refuses the versions of other tenants. */
function isOfEachVersion({ each, when }: Check): boolean {
  return each === 'versionsOfKey' && when === undefined
}

/** Returns the first part of the path, which names the kind of definition. */
function resourceOf(route: string): string {
  return route.split('/', 2)[1] ?? ''
}
