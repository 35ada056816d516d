import { answer, bodies, type Case, invalid, queries } from './case.ts'

const date = '2020-01-01T00:00:00.000+0000'
const misuse = (how: string) => answer(500, 'ProcessEngineException', `Invalid query usage: ${how}`)
const notValid = (message: string) => answer(400, 'NotValidException', message)
const isNull = (what: string) => answer(500, 'NullValueException', `${what} contains null value`)
const pair = invalid('Only a single sorting parameter specified. sortBy and sortOrder required')
const undirected = notValid('Invalid query: call asc() or desc() after using orderByXX(): direction is null')
const unordered = notValid(
  'You should call any of the orderBy methods first before specifying a direction: currentOrderingProperty is null',
)
const twice = notValid(
  'Invalid query: can specify only one direction desc() or asc() for an ordering constraint: direction is not null',
)
const noCandidate = misuse(
  "candidateUser, candidateGroup, candidateGroupLike, candidateGroupIn, withCandidateGroups, withoutCandidateGroups, withCandidateUsers, withoutCandidateUsers has to be called before 'includeAssignedTasks'.",
)
const due = misuse('cannot set both due date (equal to, before, or after) and withoutDueDate filters.')
const noOrder = (word: string) =>
  answer(500, 'ProcessEngineException', `Booleans and null cannot be used in '${word}' condition`)
const comparator = (kind: string, word: string) =>
  invalid(`Invalid ${kind} variable comparator specified: ${word}`)
const variableSort = (parameters: unknown) => ({
  sorting: [{ sortBy: 'processVariable', sortOrder: 'asc', parameters }],
})
const filter = (members: object) => ({ taskVariables: [{ name: 'a', ...members }] })
const delegation = (state: string) =>
  invalid(`Valid values for property 'delegationState' are 'PENDING' or 'RESOLVED', but was '${state}'`)

const SORTING: Parameters<typeof bodies>[1] = [
  [{ sortBy: 'name', sortOrder: 'asc' }, 200],
  [{ sortBy: 'name' }, pair],
  [{ sortOrder: 'asc' }, pair],
  [{ sortBy: 'x', sortOrder: 'asc' }, 'unmapped'],
  [{ sortBy: 'name', sortOrder: 'ASC' }, 'unmapped'],
  [{ sortBy: null }, 'unmapped'],
  [{ sortBy: 'processVariable', sortOrder: 'asc' }, 'unmapped'],
  [{ sorting: null }, 200],
  [{ sorting: [{}] }, 200],
  [{ sorting: [{ sortBy: 'x' }] }, 200],
  [{ sorting: [{ sortBy: 'x', sortOrder: 'x' }] }, 200],
  [{ sorting: [{ sortBy: 'x', sortOrder: 'asc' }] }, unordered],
  [{ sorting: [{ sortOrder: 'asc' }] }, unordered],
  [{ sorting: [{ sortBy: 'name' }] }, undirected],
  [{ sorting: [{ sortBy: 'name', sortOrder: 'x' }] }, undirected],
  [{ sorting: [{ sortBy: 'name', sortOrder: 'asc' }, { sortOrder: 'desc' }] }, twice],
  [{ sorting: [{ sortBy: 'name' }, { sortOrder: 'asc' }] }, 200],
  [{ sorting: [{ sortBy: 'name' }, { sortBy: 'x' }, { sortOrder: 'asc' }] }, 200],
  [{ sorting: [{ sortBy: 'name' }, { sortBy: 'id', sortOrder: 'asc' }] }, undirected],
  [{ sortBy: 'name', sortOrder: 'asc', sorting: [{ sortBy: 'id', sortOrder: 'desc' }] }, 200],
  [{ sortBy: 'name', sortOrder: 'asc', sorting: [{ sortOrder: 'desc' }] }, twice],
  [{ sorting: [null] }, 500],
  [{ sorting: 5 }, 'unmapped'],
  [variableSort({ variable: 'x', type: 'String' }), 200],
  [variableSort({ variable: 'x', type: 'date' }), 200],
  [variableSort(undefined), answer(500, 'NullValueException', 'variableName is null')],
  [variableSort({ type: 'String' }), answer(500, 'NullValueException', 'variableName is null')],
  [variableSort({ variable: 'x' }), answer(500, 'NullValueException', 'valueType is null')],
  [
    variableSort({ variable: 'x', type: 'File' }),
    answer(500, 'ProcessEngineException', 'Cannot order by variables of type file'),
  ],
  [variableSort({ variable: 'x', type: 'Foo' }), 500],
  [variableSort({ variable: 'x', type: '' }), 500],
  [variableSort({ variable: 5, type: 'String' }), 500],
]

const BLOCKS: Parameters<typeof bodies>[1] = [
  [{ orQueries: [] }, 200],
  [{ orQueries: [null] }, 500],
  [{ orQueries: [{ orQueries: [{ name: 'a' }] }] }, 200],
  [{ orQueries: [{ sorting: [{ sortBy: 'name', sortOrder: 'asc' }] }] }, 200],
  [{ orQueries: [{ sortBy: 'name' }] }, 200],
  [{ orQueries: [{ sortBy: 'x' }] }, 'unmapped'],
  [
    { orQueries: [{ withCandidateGroups: true }] },
    misuse("cannot set withCandidateGroups() within 'or' query"),
  ],
  [
    { orQueries: [{ withoutCandidateUsers: true }] },
    misuse("cannot set withoutCandidateUsers() within 'or' query"),
  ],
  [{ orQueries: [{ withCandidateGroups: false }] }, 200],
  [
    { orQueries: [{ candidateGroups: [] }] },
    answer(500, 'ProcessEngineException', 'Candidate group list is empty'),
  ],
  [{ orQueries: [{ includeAssignedTasks: true }] }, noCandidate],
  [{ orQueries: [{ candidateUser: 'a', candidateGroup: 'b', candidateGroups: ['c'] }] }, 200],
  [{ orQueries: [{ tenantIdIn: ['a'], withoutTenantId: true, dueDate: date, withoutDueDate: true }] }, 200],
  [{ orQueries: [{ delegationState: 'x' }] }, delegation('x')],
  [{ orQueries: [filter({ operator: 'gt', value: '' })] }, 200],
  [{ orQueries: [filter({ operator: 'gt', value: null })] }, noOrder('greater than')],
]

const MEMBERS: Parameters<typeof bodies>[1] = [
  [{}, 200],
  [
    { unknown: { deep: [1] }, name: null, taskIdIn: null, assigned: null, dueAfter: null, priority: null },
    200,
  ],
  [{ priority: '5', assigned: 'true', name: 5, taskIdIn: [5, true] }, 200],
  [{ taskIdIn: 'a' }, 'unmapped'],
  [[], 'unmapped'],
  ['"text"', 'unmapped'],
  ['5', 'unmapped'],
  [{ active: true, suspended: true, assigned: true, unassigned: true }, 200],
  [{ candidateUser: 'a', candidateGroup: 'b' }, misuse('cannot set both candidateUser and candidateGroup')],
  [
    { candidateUser: 'a', candidateGroups: ['b'] },
    misuse('cannot set both candidateGroupIn and candidateUser'),
  ],
  [{ candidateUser: 'a', candidateGroupLike: 'b' }, 200],
  [{ candidateGroup: 'a', candidateGroups: ['b'], candidateGroupLike: 'c' }, 200],
  [{ candidateGroups: [] }, answer(500, 'ProcessEngineException', 'Candidate group list is empty')],
  [{ candidateGroups: [null] }, 200],
  [{ withCandidateGroups: true, withoutCandidateGroups: true }, 200],
  [{ includeAssignedTasks: true }, noCandidate],
  [{ includeAssignedTasks: 'TRUE' }, noCandidate],
  [{ includeAssignedTasks: 1, involvedUser: 'a' }, noCandidate],
  [{ includeAssignedTasks: false }, 200],
  [{ includeAssignedTasks: true, candidateGroupLike: 'a' }, 200],
  [{ includeAssignedTasks: true, withCandidateUsers: true }, 200],
  [
    { tenantIdIn: ['a'], withoutTenantId: true },
    misuse('cannot set both tenantIdIn and withoutTenantId filters.'),
  ],
  [{ tenantIdIn: [], withoutTenantId: true }, 200],
  [{ tenantIdIn: ['a'], withoutTenantId: false }, 200],
  [{ tenantIdIn: [null] }, isNull('tenantIds')],
  [{ taskIdIn: [null] }, isNull('taskIds')],
  [{ assigneeNotIn: ['a', null] }, isNull('Assignees')],
  [{ processInstanceIdIn: [null], processDefinitionKeyIn: [null], taskDefinitionKeyIn: [null] }, 200],
  [{ dueDate: date, withoutDueDate: true }, due],
  [{ due: 0, withoutDueDate: true }, due],
  [{ dueDate: 1, due: null, withoutDueDate: true }, 200],
  [{ dueBefore: ' ', dueAfter: 'null', withoutDueDate: true }, 200],
  [{ followUp: date, created: date }, 200],
  [{ followUp: 'x' }, 'unmapped'],
  [{ delegationState: 'pending' }, 200],
  [{ delegationState: '' }, delegation('')],
]

const FILTERS: Parameters<typeof bodies>[1] = [
  [filter({ operator: 'eq', value: 1 }), 200],
  [filter({ operator: 'neq' }), 200],
  [filter({ operator: 'like', value: null }), 200],
  [filter({ operator: 'gt', value: 'b' }), 200],
  [filter({ operator: 'xx' }), comparator('task', 'xx')],
  ...['constructor', '__proto__', 'toString'].map(
    (operator) => [filter({ operator, value: true }), comparator('task', operator)] as const,
  ),
  [filter({ operator: 'notLike', value: 'b' }), comparator('task', 'notLike')],
  [{ processVariables: [{ name: 'a', operator: 'notLike', value: 'b' }] }, 200],
  [
    { caseInstanceVariables: [{ name: 'a', operator: 'notLike', value: 'b' }] },
    comparator('case', 'notLike'),
  ],
  [{ processVariables: [{ operator: 'xx' }] }, comparator('process', 'xx')],
  [{ processVariables: [{ operator: 'eq' }] }, answer(500, 'NullValueException', 'name is null')],
  [filter({}), 500],
  [filter({ operator: 'gt', value: true }), noOrder('greater than')],
  [filter({ operator: 'gteq' }), noOrder('greater than or equal')],
  [filter({ operator: 'lt', value: '' }), noOrder('less than')],
  [filter({ operator: 'lteq', value: ' null ' }), noOrder('less than or equal')],
  [filter({ operator: 'lteq', value: '\t' }), 200],
  [filter({ operator: 'eq', value: {} }), 500],
  [filter({ operator: 'like', value: [] }), 200],
  [{ taskVariables: [null] }, 500],
  [{ taskVariables: {} }, 'unmapped'],
]

const unfit = (name: string, value: string, type: string, shown = value) =>
  invalid(
    `Cannot set query parameter '${name}' to value '${value}': Cannot convert value ${shown} to java type java.${type}`,
  )
const parts = (name: string, value: string) =>
  invalid(
    `Cannot set query parameter '${name}' to value '${value}': variable query parameter has to have format KEY_OPERATOR_VALUE.`,
  )

const PARAMETERS: Parameters<typeof queries>[1] = [
  ['?unknown=1&priority=%225%22&priority=abc&assigned=true%20x&taskIdIn=,&orq=', 200],
  ['?priority=abc', unfit('priority', 'abc', 'lang.Integer')],
  ['?priority', unfit('priority', '', 'lang.Integer')],
  ['?priority=1.5&maxPriority=1e3&minPriority=null', 200],
  ['?priority=2147483648', unfit('priority', '2147483648', 'lang.Integer')],
  ['?assigned=TRUE', unfit('assigned', 'TRUE', 'lang.Boolean')],
  ['?assigned=0&unassigned=%22TRUE%22', 200],
  ['?createdAfter=yesterday', unfit('createdAfter', 'yesterday', 'util.Date', '"yesterday"')],
  ['?createdAfter=2020-01-01T00:00:00.000%2B0000&due=', 200],
  [
    '?createdAfter=2020-01-01T00:00:00.000+0000',
    unfit('createdAfter', '2020-01-01T00:00:00.000 0000', 'util.Date', '"2020-01-01T00:00:00.000 0000"'),
  ],
  ['?createdAfter=%22x%22', unfit('createdAfter', '"x"', 'util.Date because of double quotes')],
  ['?candidateGroups=', answer(500, 'ProcessEngineException', 'Candidate group list is empty')],
  ['?candidateGroups=a,', 200],
  ['?taskVariables=a_eq_b,c_like_d,&processVariables=a_notLike_b', 200],
  ['?taskVariables=a_eq', parts('taskVariables', 'a_eq')],
  ['?taskVariables=a_eq_b_c', parts('taskVariables', 'a_eq_b_c')],
  ['?taskVariables=,a_eq_b', parts('taskVariables', ',a_eq_b')],
  ['?taskVariables=a__b', comparator('task', '')],
  ['?taskVariables=a_gteq_null', noOrder('greater than or equal')],
  [
    '?sortBy=processVariable&sortOrder=asc',
    invalid("Cannot set query parameter 'sortBy' to value 'processVariable'"),
  ],
  ['?sortBy=name', pair],
  ['?sortBy=name&sortOrder=desc', 200],
  ['?sortOrder=DESC', invalid("Cannot set query parameter 'sortOrder' to value 'DESC'")],
  ['?orQueries=x', answer(500, 'IllegalArgumentException', 'argument type mismatch', null)],
  ['?delegationState=x', delegation('x')],
]

const missing = answer(404, 'QueryParamException', 'HTTP 404 Not Found', null)
const PAGES: Parameters<typeof queries>[1] = [
  ['?firstResult=0&maxResults=', 200],
  ['?maxResults=-1', 200],
  ['?maxResults=%2B5&firstResult=05', 200],
  ['?maxResults=%D9%A1', 200],
  ['?maxResults=%F0%9D%9F%8F', missing],
  ['?maxResults=abc', missing],
  ['?firstResult=%205', missing],
  ['?firstResult=2147483648', missing],
]

export const taskQueryCases: readonly Case[] = [
  ...[SORTING, BLOCKS, MEMBERS, FILTERS].flatMap((rows) => bodies('queryTasksCount', rows)),
  ...bodies(
    'queryTasks',
    [...SORTING, ...MEMBERS].filter((_, index) => index % 4 === 0),
  ),
  ...queries('getTasksCount', PARAMETERS),
  ...queries('getTasksCount', [['?maxResults=abc', 200]]),
  ...queries('getTasks', PAGES),
  ...queries('queryTasks', PAGES, {}),
]
