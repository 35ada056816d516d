import { keyIn } from './acts-on-key.ts'
import type { Check } from './notation.ts'
import type { OperationEntry } from './table.ts'

/** Parts of a path before its first parameter. After one of these, the parameter names an entity that belongs to no tenant. */
const UNTENANTED_PATHS: ReadonlySet<string> = new Set([
  'authorization',
  'filter',
  'group',
  'metrics',
  'tenant',
  'user',
])

/** Lookups of entities that belong to no tenant. */
export const UNTENANTED_LOOKUPS: ReadonlySet<string> = new Set([
  'authorization',
  'filter',
  'group',
  'tenant',
  'user',
])

/** Resources whose ids name entities that belong to no tenant. */
const UNTENANTED_RESOURCES: ReadonlySet<string> = new Set([
  'APPLICATION',
  'AUTHORIZATION',
  'DASHBOARD',
  'FILTER',
  'GROUP',
  'GROUP_MEMBERSHIP',
  'OPERATION_LOG_CATEGORY',
  'OPTIMIZE',
  'REPORT',
  'SYSTEM',
  'TENANT',
  'TENANT_MEMBERSHIP',
  'USER',
])

/** The fields of an entry that name entities, or state how their tenant is known. */
export interface TenantedEntry
  extends Pick<OperationEntry, 'route' | 'checks' | 'loads' | 'crossTenant' | 'actsOnKey' | 'items'> {
  /** The members of the body that the gateway resolves. */
  readonly selectors?: Readonly<Record<string, unknown>>
}

/** A part of a request that names an entity that may belong to a tenant, and how the gateway determines that tenant. */
export interface TenantReference {
  /** For example `path`, `body:processInstanceId` or `each of query:processDefinitionKeyIn[]`. */
  readonly member: string
  /** Null if the operation declares no way. */
  readonly knownBy: string | null
}

/**
 * Returns the parts of a request that may name an entity of a tenant: the path, and the members that the checks of the operation
 * refer to. Members that no check refers to are not included.
 */
export function namedBy(entry: TenantedEntry): readonly TenantReference[] {
  const [, template = ''] = entry.route.split(' /')
  const [before = '', ...parameters] = template.split('/:')
  const isNamed = parameters.length > 0 && !UNTENANTED_PATHS.has(before)
  const named: TenantReference[] = isNamed ? [{ member: 'path', knownBy: pathKnownBy(entry) }] : []
  for (const check of entry.checks)
    for (const member of askedIn(check))
      if (!named.some((one) => one.member === member))
        named.push({ member, knownBy: memberKnownBy(entry, member) })
  return named
}

function pathKnownBy(entry: TenantedEntry): string | null {
  // A check that depends on the body does not always run, and then it looks up no entity.
  const always = entry.checks.filter(({ when }) => when?.startsWith('body:') !== true)
  if (entry.crossTenant === 'ignored') return 'not asked for'
  const entities = [entry.loads, ...always.flatMap(lookedUpIn)]
  const known = entities.find((one) => one !== undefined && isTenanted(one) && isByPath(one))
  if (known !== undefined) return known
  // Every version is looked up, including its tenant.
  return entry.actsOnKey?.startsWith('all versions') === true ? `actsOnKey: ${entry.actsOnKey}` : null
}

function isByPath(entity: string): boolean {
  return !entity.includes('(') || entity.includes('(path:')
}

function isTenanted(entity: string): boolean {
  return !UNTENANTED_LOOKUPS.has(entity.split('(', 1)[0] ?? '')
}

/** Returns the members of the body and the query by which the permissions of a check name entities that may belong to a tenant. */
function askedIn(check: Check): readonly string[] {
  const members = (check.allOf ?? check.anyOf ?? []).flatMap((term) => {
    const [name = '', attribute = ''] = term.split(' ')
    if (UNTENANTED_RESOURCES.has(name.split('.', 1)[0] ?? '')) return []
    if (attribute.startsWith('body:') || attribute.startsWith('query:')) return [attribute]
    return attribute.startsWith('each.') && check.each !== undefined ? [`each of ${check.each}`] : []
  })
  return [...new Set(members)]
}

function memberKnownBy(entry: TenantedEntry, member: string): string | null {
  const [, list] = /^each of (?:body|query):(\w+)\[\]$/.exec(member) ?? []
  if (list !== undefined) return listKnownBy(entry, list)
  // The entities that are found for `each` include their tenant.
  if (member.startsWith('each of ')) return member.slice('each of '.length)
  if (keyIn(entry) === 'body' && member === 'body:processDefinitionKey' && entry.actsOnKey !== undefined)
    return `actsOnKey: ${entry.actsOnKey}`
  const entities = [entry.loads, ...entry.checks.flatMap(lookedUpIn)]
  return entities.find((entity) => entity?.includes(`(${member})`) === true && isTenanted(entity)) ?? null
}

function listKnownBy(entry: TenantedEntry, list: string): string | null {
  if (entry.selectors?.[list] !== undefined) return `selectors: ${list}`
  if (entry.items !== undefined && entry.items.crossTenant !== 'ignored') return 'items'
  return entry.checks.flatMap(lookedUpIn).find((entity) => entity.includes('(each:') && isTenanted(entity)) ?? null
}

/** Returns the entities that a check looks up for its permissions. */
function lookedUpIn(check: Check): readonly string[] {
  return (check.allOf ?? check.anyOf ?? []).flatMap((term) => {
    const [, entity] = /^\S+ (\w+(?:\([^)]*\))?)\.\w+/.exec(term) ?? []
    return entity === undefined || entity === 'each' || entity === 'created' ? [] : [entity]
  })
}
