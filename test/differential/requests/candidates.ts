import type { Template } from './template.ts'

/** A request of one operation. */
export interface NamedTemplate extends Template {
  readonly operationId: string
}

/** The user of a stored filter's query. It is replaced by each user for whom a filter is created. */
const USER = '@candidate'

/** Conditions that a GET and a POST can have. */
const CONDITIONS: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { includeAssignedTasks: true },
  { processDefinitionKey: 'review' },
  { unassigned: true },
  { nameLike: '%e%' },
  { withoutTenantId: true },
  { tenantIdIn: ['acme'] },
  { taskIdIn: ['<task.*>', '<task.alone-1>'] },
  { processDefinitionKeyIn: ['office', 'review'], includeAssignedTasks: true },
]
/** Conditions that the gateway may refuse together with a candidate user (docs/deviations.md). Engines refuse some of them with 400. */
const OTHER_CANDIDATES: readonly Readonly<Record<string, unknown>>[] = [
  { withCandidateUsers: true },
  { withoutCandidateUsers: true },
  { withCandidateGroups: true },
  { candidateGroup: 'editors' },
  { candidateGroups: ['editors', 'readers'] },
  { involvedUser: 'ben' },
]

function nested(user: string): readonly object[] {
  return [
    { orQueries: [{ candidateUser: user, assignee: 'anna' }] },
    { orQueries: [{ candidateUser: user, candidateGroups: ['readers'] }] },
    { processDefinitionKey: 'review', orQueries: [{ candidateUser: user, nameLike: '%alone%' }] },
    { orQueries: [{ candidateUser: user, owner: 'ben' }, { processDefinitionKeyIn: ['review', 'office'] }] },
    { candidateUser: user, orQueries: [{ nameLike: '%e%', assignee: 'anna' }] },
  ]
}

const NESTED_WITH_OTHERS = (user: string): readonly object[] => [
  { candidateUser: user, orQueries: [{ candidateGroup: 'readers', assignee: 'anna' }] },
  {
    orQueries: [
      { candidateUser: user, assignee: 'anna' },
      { candidateUser: 'ben', owner: 'anna' },
    ],
  },
]

/** Queries in which the engine computes the caller. */
const OF_THE_CALLER: readonly object[] = [
  { orQueries: [{ candidateUserExpression: '${currentUser()}', assignee: 'anna' }] },
]

/** Returns task queries with this candidate user, in every form in which a client can send them. */
export function candidateRequests(user: string): readonly NamedTemplate[] {
  const queries = [...CONDITIONS.map((one) => ({ candidateUser: user, ...one })), ...nested(user)]
  const withOthers = [
    ...OTHER_CANDIDATES.map((one) => ({ candidateUser: user, ...one })),
    ...NESTED_WITH_OTHERS(user),
  ]
  return [
    ...queries.flatMap((query) => formsOf(query)),
    // One form of each, because most of them are refused.
    ...withOthers.flatMap((query, at) =>
      mayBeRefused(
        formsOf(query)
          .slice(at % 2)
          .slice(0, 1),
      ),
    ),
    ...OF_THE_CALLER.flatMap((query) => formsOf(query)),
  ]
}

function mayBeRefused(templates: readonly NamedTemplate[]): readonly NamedTemplate[] {
  return templates.map((one) => ({ ...one, mayBeRefused: true }))
}

function formsOf(query: object): readonly NamedTemplate[] {
  const posts = ['queryTasks', 'queryTasksCount'].map((operationId) => ({ operationId, body: query }))
  if ('orQueries' in query) return posts
  const text = Object.entries(query).map(([name, value]) => `${name}=${[value].flat().join(',')}`)
  const gets = ['getTasks', 'getTasksCount'].map((operationId) => ({ operationId, query: text.join('&') }))
  return [...gets, ...posts]
}

/** The queries of the stored filters with a candidate user. A filter shows all of these conditions. */
const STORED: readonly object[] = [
  { candidateUser: USER },
  { candidateUser: USER, includeAssignedTasks: true, processDefinitionKey: 'review' },
  { orQueries: [{ candidateUser: USER, assignee: 'anna' }] },
]

/** Returns the filters of a set by their names. Their queries have these candidate users, one after the other. */
export function candidateFilters(
  prefix: string,
  users: readonly string[],
  owner: string,
): Readonly<Record<string, unknown>> {
  const filters = users.map((user, at) => {
    const query = JSON.parse(JSON.stringify(STORED[at % STORED.length]).replaceAll(USER, user))
    const body = { resourceType: 'Task', name: `${prefix}-${at}`, properties: {}, query }
    return [`kept.${prefix}.${at}`, { ...body, owner: at % 2 === 0 ? owner : null }]
  })
  return Object.fromEntries(filters)
}

/** Returns requests that execute a stored filter, as it is and with more conditions. */
export function filterRequests(name: string, user: string): readonly NamedTemplate[] {
  const params = { id: `<${name}>` }
  const as = (...operationIds: string[]): NamedTemplate[] =>
    operationIds.map((operationId) => ({ operationId, params }))
  const more = [{}, { processDefinitionKey: 'review' }, { candidateUser: user }]
  return [
    ...as('executeFilterCount', 'executeFilterList', 'getSingleFilter'),
    ...more.flatMap((body) =>
      as('postExecuteFilterCount', 'postExecuteFilterList').flatMap((one) => {
        const template = { ...one, body }
        return 'candidateUser' in body ? mayBeRefused([template]) : [template]
      }),
    ),
    { operationId: 'getFilterList', query: 'itemCount=true' },
  ]
}
