import { keyIn } from './acts-on.ts'
import type { Check } from './notation.ts'
import type { Row } from './table.ts'

/** What stands before a path's first parameter where that names nothing of a tenant. Everything else may be of one. */
const UNTENANTED_PATHS: ReadonlySet<string> = new Set([
  'authorization',
  'filter',
  'group',
  'metrics',
  'tenant',
  'user',
])

/** Look-ups of what belongs to no tenant. */
export const UNTENANTED_LOOKUPS: ReadonlySet<string> = new Set(['authorization', 'group', 'tenant', 'user'])

/** Resources whose ids name what belongs to no tenant. */
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

/** A member of a request that names what may belong to a tenant, and how that tenant is known. */
export interface Named {
  /** `path`, or `body:processInstanceId`, `each of query:processDefinitionKeyIn[]`. */
  readonly member: string
  /** Null: the row does not say. */
  readonly knownBy: string | null
}

/**
 * What a row names that may belong to a tenant: by its path, and by the members of the request that its checks ask about.
 * A member that no check asks about is not seen here.
 */
export function namedBy(row: Row): readonly Named[] {
  const [, template = ''] = row.route.split(' /')
  const [before = '', ...parameters] = template.split('/:')
  const isNamed = parameters.length > 0 && !UNTENANTED_PATHS.has(before)
  const named: Named[] = isNamed ? [{ member: 'path', knownBy: pathKnownBy(row) }] : []
  for (const check of row.checks)
    for (const member of askedIn(check))
      if (!named.some((one) => one.member === member))
        named.push({ member, knownBy: memberKnownBy(row, member) })
  return named
}

function pathKnownBy(row: Row): string | null {
  // A check that does not apply looks nothing up.
  const always = row.checks.filter(({ when }) => when?.startsWith('body:') !== true)
  if (row.otherTenant === 'ignored') return 'not asked for'
  const entities = [row.entity, ...always.flatMap(lookedUpIn)]
  const known = entities.find((one) => one !== undefined && isTenanted(one) && isByPath(one))
  if (known !== undefined) return known
  // Each version is found, and its tenant with it.
  return row.actsOn?.startsWith('all versions') === true ? `actsOn: ${row.actsOn}` : null
}

function isByPath(entity: string): boolean {
  return !entity.includes('(') || entity.includes('(path:')
}

function isTenanted(entity: string): boolean {
  return !UNTENANTED_LOOKUPS.has(entity.split('(', 1)[0] ?? '')
}

/** Members of the body and the query by which a check's permissions name what may belong to a tenant. */
function askedIn(check: Check): readonly string[] {
  const members = (check.allOf ?? check.anyOf ?? []).flatMap((atom) => {
    const [name = '', attribute = ''] = atom.split(' ')
    if (UNTENANTED_RESOURCES.has(name.split('.', 1)[0] ?? '')) return []
    if (attribute.startsWith('body:') || attribute.startsWith('query:')) return [attribute]
    return attribute.startsWith('each.') && check.each !== undefined ? [`each of ${check.each}`] : []
  })
  return [...new Set(members)]
}

function memberKnownBy(row: Row, member: string): string | null {
  const [, list] = /^each of (?:body|query):(\w+)\[\]$/.exec(member) ?? []
  if (list !== undefined) return listKnownBy(row, list)
  // What is found for it brings its tenant along.
  if (member.startsWith('each of ')) return member.slice('each of '.length)
  if (keyIn(row) === 'body' && member === 'body:processDefinitionKey' && row.actsOn !== undefined)
    return `actsOn: ${row.actsOn}`
  const entities = [row.entity, ...row.checks.flatMap(lookedUpIn)]
  return entities.find((entity) => entity?.includes(`(${member})`) === true && isTenanted(entity)) ?? null
}

function listKnownBy(row: Row, list: string): string | null {
  if (row.resolvesIds?.[list] !== undefined) return `resolvesIds: ${list}`
  if (row.rows !== undefined && row.rows.tenants !== 'ignored') return 'rows'
  return row.checks.flatMap(lookedUpIn).find((entity) => entity.includes('(each:') && isTenanted(entity)) ?? null
}

/** Entities that a check looks up for its permissions. */
function lookedUpIn(check: Check): readonly string[] {
  return (check.allOf ?? check.anyOf ?? []).flatMap((atom) => {
    const [, entity] = /^\S+ (\w+(?:\([^)]*\))?)\.\w+/.exec(atom) ?? []
    return entity === undefined || entity === 'each' || entity === 'created' ? [] : [entity]
  })
}
