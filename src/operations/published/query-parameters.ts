import {
  PUBLISHED_IDS,
  publishedOperation,
  publishedSchema,
  type PublishedFields,
  type PublishedOperation,
  type PublishedType,
} from './facts.ts'

/**
 * How the engine reads the text of a query parameter:
 * - `page`: a number that the engine's framework reads before it calls the operation.
 * - `criterion`: the name of a sort criterion. `order`: the direction of the order.
 * - `texts`: a comma-separated list. `list`: the same, but an empty text is an empty list.
 * - `variables` and `conditions`: comma-separated lists of comparisons.
 * - `object`: the engine cannot set the parameter.
 *
 * Any text is allowed for `text`.
 */
export type QueryKind =
  | 'page'
  | 'criterion'
  | 'order'
  | 'text'
  | 'texts'
  | 'list'
  | 'integer'
  | 'long'
  | 'boolean'
  | 'date'
  | 'variables'
  | 'conditions'
  | 'object'

/** The parameters of an operation that the engine reads, by name. */
export interface QueryParameters {
  readonly kinds: ReadonlyMap<string, QueryKind>
  /** Whether the engine's message about a bad value names the parameter. */
  readonly isNamed: boolean
}

/** Parameters that the engine reads in another way than the published type says, and parameters that are not published. */
const ENGINE_KINDS: Readonly<Record<string, Readonly<Record<string, QueryKind>>>> = {
  // The engine does not read these parameters.
  getBatches: { startedAfter: 'text', startedBefore: 'text', withFailures: 'text', withoutFailures: 'text' },
  // `created`, `due` and `followUp` are older names of `createdOn`, `dueDate` and `followUpDate`.
  getTasks: {
    candidateGroups: 'list',
    created: 'date',
    due: 'date',
    followUp: 'date',
    followUpBefore: 'date',
    orQueries: 'object',
    withCommentAttachmentInfo: 'boolean',
  },
  // This is no page of a list: the engine reads the numbers as it reads the interval.
  interval: { firstResult: 'integer', interval: 'long', maxResults: 'integer' },
}

/** Flags in queries that are not a part of the query: the engine reads any text as a flag. */
const FLAGS: ReadonlySet<string> = new Set(['deserializeValues', 'itemCount'])

/** Operations that convert their parameters themselves. */
const UNNAMED: ReadonlySet<string> = new Set(['deleteTaskMetrics', 'getMetrics', 'interval'])

const PAGE: ReadonlySet<string> = new Set(['firstResult', 'maxResults'])

/** The published operations by method and path. */
const BY_ROUTE: ReadonlyMap<string, PublishedOperation> = new Map(
  PUBLISHED_IDS.flatMap((id) => {
    const operation = publishedOperation(id)
    return operation === null ? [] : [[operation.route, operation]]
  }),
)

/** The parameters of the published operations, by operationId. Parameters that only some versions of the engine have are left out. */
const QUERY_PARAMETERS: ReadonlyMap<string, QueryParameters> = new Map(
  [...BY_ROUTE.values()]
    .filter(({ versions }) => versions.since === null)
    .map((operation): [string, QueryParameters] => [
      operation.id,
      { kinds: kindsOf(operation), isNamed: !UNNAMED.has(operation.id) },
    ])
    .filter(([, { kinds }]) => kinds.size > 0),
)

const NONE: QueryParameters = { kinds: new Map(), isNamed: true }

/** Returns the parameters of an operation. Empty if the engine reads any text for each. */
export function queryParametersOf({ id }: { readonly id: string }): QueryParameters {
  return QUERY_PARAMETERS.get(id) ?? NONE
}

/** The parameters of a query for tasks. */
export const TASK_QUERY_PARAMETERS = queryParametersOf({ id: 'getTasks' })

function kindsOf(operation: PublishedOperation): ReadonlyMap<string, QueryKind> {
  const { route, query } = operation
  const list = BY_ROUTE.get(route.replace(/\/count$/, '')) ?? operation
  const types = new Map([...list.query, ...query])
  const isSorted = types.has('sortBy') && route.startsWith('GET ')
  const members = isSorted ? membersOfBody(list.route) : null
  const kinds = [...types]
    .filter(([name, { versions }]) => versions.since === null && (list === operation || !PAGE.has(name)))
    .map(([name, { type }]): [string, QueryKind] => [
      name,
      kindOf(name, members?.get(name)?.type ?? type, isSorted),
    ])
  return new Map([...kinds, ...Object.entries(ENGINE_KINDS[list.id] ?? {})])
}

/** Returns the members of the body with the same query: the engine sets the parameters of a list in the same way. */
function membersOfBody(route: string): PublishedFields | null {
  const body = BY_ROUTE.get(route.replace('GET', 'POST'))?.body
  return body?.kind === 'schema' && body.name.endsWith('QueryDto') ? publishedSchema(body.name) : null
}

/** Returns the kind of a parameter. Outside of sorted lists, the engine reads any text as a flag. */
function kindOf(name: string, type: PublishedType, isSorted: boolean): QueryKind {
  if (PAGE.has(name)) return 'page'
  if (type.kind === 'string' && type.format === 'date-time') return 'date'
  if (!isSorted || FLAGS.has(name)) return 'text'
  if (name === 'sortBy') return 'criterion'
  if (name === 'sortOrder') return 'order'
  if (type.kind === 'boolean') return 'boolean'
  if (type.kind === 'integer') return type.format === 'int64' ? 'long' : 'integer'
  return type.kind === 'list' ? kindOfItems(type.items) : 'text'
}

function kindOfItems(items: PublishedType): QueryKind {
  if (items.kind !== 'schema') return 'texts'
  return publishedSchema(items.name).has('name') ? 'variables' : 'conditions'
}
