import { OPERATIONS } from '../../../src/operations/all.ts'
import { publishedOperation, type PublishedType } from '../../../src/operations/published/facts.ts'
import { queryParametersOf } from '../../../src/operations/published/query-parameters.ts'
import { type Release, releasesOf } from '../../../src/operations/published/releases.ts'
import type { Operation } from '../../../src/operations/table.ts'

/** A query string with one odd value, encoded. */
export interface OddQuery {
  readonly operation: Operation
  readonly parameter: string
  readonly search: string
}

/** The values that each parameter gets for which the gateway expects more than a text. */
const VALUES = [
  '',
  ' ',
  'text',
  '5',
  '+5',
  '-1',
  '1.5',
  '1e3',
  '2147483648',
  '99999999999999999999',
  'true',
  ' true',
  'TRUE',
  'True',
  'false',
  'null',
  '"true"',
  '"5"',
  '[]',
  '{}',
  ',',
  'a,b',
  'a,,b',
  'a_eq',
  'a_eq_b',
  'a_b_c_d',
  '2020-01-01T00:00:00.000+0000',
  '2020-01-01T00:00:00.000Z',
  '2020-01-01T00:00:00.000+01:00',
  '2020-01-01T00:00:00',
  '2020-01-01',
  '1577836800000',
  '2020-13-45T25:61:61.999+0000',
]

/** The values that a text gets. If the engine does not read it as a text, it refuses one of them. */
const TEXTS = ['', 'text', '5', 'true', ',', 'a,b', '2020-01-01']

/** Pairs of values of a parameter that is repeated. Only the first value counts. */
const REPEATED = [
  ['text', '5'],
  ['5', 'text'],
  ['true', 'text'],
] as const

/**
 * Returns the operations of a release that read a query string. The check of an authorization is left out: an engine without
 * authorization responds to it with 401.
 */
export function operationsWithQuery(release: Release): readonly Operation[] {
  return OPERATIONS.filter(({ id, only, handler }) => {
    const isPresent = only === undefined && (releasesOf(id)?.includes(release) ?? true)
    return isPresent && handler !== 'authorization check' && namesOf(id).length > 0
  })
}

/** Returns query strings in which one parameter is odd or repeated, with the parameters that it needs. */
export function oddQueries(operation: Operation): readonly OddQuery[] {
  const { kinds } = queryParametersOf(operation)
  return namesOf(operation.id).flatMap((parameter) => {
    const common = (kinds.get(parameter) ?? 'text') === 'text' ? TEXTS : VALUES
    const others = neededWith(parameter, operation.id)
    const pairs = [
      ...[...common, ...publishedValuesOf(parameter, operation.id)].map((value) => [[parameter, value]]),
      ...REPEATED.map((values) => values.map((value) => [parameter, value])),
    ]
    return pairs.map((some) => ({
      operation,
      parameter,
      search: `?${new URLSearchParams([...some.map(([name = '', value = '']) => [name, value]), ...others])}`,
    }))
  })
}

/**
 * Returns the published parameters, and those that the gateway reads besides them. The engine's message about a parameter that it
 * cannot set changes while it runs, so such a parameter is left out.
 */
function namesOf(id: string): readonly string[] {
  const { kinds } = queryParametersOf({ id })
  const names = new Set([...(publishedOperation(id)?.query.keys() ?? []), ...kinds.keys()])
  return [...names].filter((name) => kinds.get(name) !== 'object')
}

/** Returns the required parameters, and the other half of an order. */
function neededWith(parameter: string, id: string): [string, string][] {
  const query = publishedOperation(id)?.query ?? new Map()
  const [criterion = ''] = publishedValuesOf('sortBy', id)
  const required = [...query].flatMap(([name, { isRequired, type }]): [string, string][] =>
    isRequired && name !== parameter ? [[name, valuesOf(type)[0] ?? 'duration']] : [],
  )
  if (parameter === 'sortBy') return [...required, ['sortOrder', 'asc']]
  return parameter === 'sortOrder' && criterion !== '' ? [...required, ['sortBy', criterion]] : required
}

function publishedValuesOf(parameter: string, id: string): readonly string[] {
  const type = publishedOperation(id)?.query.get(parameter)?.type
  return type === undefined ? [] : valuesOf(type).flatMap((value) => [value, value.toUpperCase()])
}

function valuesOf(type: PublishedType): readonly string[] {
  return type.kind === 'string' ? (type.values ?? []).map((value) => value.trim()) : []
}
