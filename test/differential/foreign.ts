import { RESOURCES } from '../../src/operations/permissions.ts'
import type { Operation } from '../../src/operations/table.ts'
import type { Names } from './names.ts'
import { type Asker, type ForeignKind, type Kind, type Plan, planOf } from './plan.ts'
import { Random } from './random.ts'
import { type CallerSet, PASSWORD } from './sets.ts'

const FOREIGN_ACCEPT = 'text/csv'
const FOREIGN_TYPE = 'text/plain'
/** The content type that curl sends for a body if the user sets no type. */
const FORM_TYPE = 'application/x-www-form-urlencoded'
/** Patterns as people type them: a percent sign that begins no percent-encoding, one that begins one, and one at the end. */
const PATTERNS = ['%Rev%', '%25Rev%25', 'Rev%']
/** In these operations, Camunda 7.22 on Spring Boot 3 loops forever on an empty body of JSON type, and blocks the thread. */
const HANGING: ReadonlySet<string> = new Set([
  'postExecuteFilterCount',
  'postExecuteFilterList',
  'postExecuteFilterSingleResult',
])

/** The names of the query parameters that are texts, by operationId. */
export type TextParameters = ReadonlyMap<string, readonly string[]>

interface Choice {
  readonly names: Names
  readonly operations: readonly Operation[]
  readonly texts: TextParameters
}

/** Returns a caller with all permissions and a caller without any. Each sends every operation in every foreign form. */
export function foreignSets(choice: Choice, adminGroup: string): readonly CallerSet[] {
  const everything = Object.values(RESOURCES).map(({ id }) => ({
    type: 1 as const,
    userId: 'allowed',
    groupId: null,
    resourceType: id,
    resourceId: '*',
    permissions: ['ALL'],
  }))
  const common = { ownGroups: [], tenants: [], links: [], password: PASSWORD, group: 'editors' }
  const of = (asker: Asker) => ({ ...common, ...asker, plans: foreignPlans(choice, asker) })
  return [
    {
      ...of({ user: 'allowed', group: 'editors', password: PASSWORD }),
      index: 0,
      joins: [adminGroup],
      records: everything,
    },
    { ...of({ user: 'stranger', group: 'editors', password: PASSWORD }), index: 1, joins: [], records: [] },
  ]
}

function foreignPlans({ names, operations, texts }: Choice, asker: Asker): readonly Plan[] {
  return operations.flatMap((operation, index) => {
    const plan = planOf(operation, names, { random: Random.of(1, index), asker })
    return [
      ...aliensOf(plan),
      ...(operation.effect === 'read' ? percentsOf(plan, texts.get(operation.id) ?? []) : []),
    ]
  })
}

function aliensOf(plan: Plan): readonly Plan[] {
  const { operation, body } = plan
  const text = body === undefined ? 'x' : JSON.stringify(body)
  const as = (kind: ForeignKind, more: Pick<Plan, 'accept' | 'raw'>): Plan => ({ ...plan, kind, ...more })
  const accept = as('foreign accept', { accept: FOREIGN_ACCEPT })
  // The meaning of a body in a GET request is not defined, and the client sends none.
  if (operation.method === 'GET' || operation.method === 'OPTIONS') return [accept]
  return [
    accept,
    as('foreign type', { raw: { type: FOREIGN_TYPE, text } }),
    as('form type', { raw: { type: FORM_TYPE, text } }),
    as('no body', { raw: {} }),
    as('empty text', { raw: { type: FOREIGN_TYPE } }),
    ...(HANGING.has(operation.id) ? [] : [as('empty JSON', { raw: { type: 'application/json' } })]),
  ]
}

/** Returns plans with a pattern in each `Like` parameter, or in two text parameters if there is no such one, and in an unknown parameter. */
function percentsOf(plan: Plan, texts: readonly string[]): readonly Plan[] {
  const likes = texts.filter((name) => name.endsWith('Like'))
  const names = [...(likes.length > 0 ? likes : texts.slice(0, 2)), 'unknown']
  const separator = plan.path.includes('?') ? '&' : '?'
  return names.map((name, index) => ({
    ...plan,
    kind: 'percent',
    path: `${plan.path}${separator}${name}=${PATTERNS[index % PATTERNS.length]}`,
  }))
}

const KINDS: Readonly<Record<ForeignKind, true>> = {
  'foreign accept': true,
  'foreign type': true,
  'form type': true,
  'no body': true,
  'empty JSON': true,
  'empty text': true,
  percent: true,
}

/** Returns whether a kind of request is a foreign one. */
export function isForeign(kind: Kind): kind is ForeignKind {
  return Object.hasOwn(KINDS, kind)
}
