import { answer, bodies, type Case, invalid, queries } from './case.ts'

const notValid = (message: string) => answer(400, 'NotValidException', message)
const badRequest = (message: string) => answer(400, 'BadUserRequestException', message)
const fault = (message: string) => answer(500, 'ProcessEngineException', message)
const pair = invalid('Only a single sorting parameter specified. sortBy and sortOrder required')

const LOGS = bodies('queryHistoricExternalTaskLogs', [
  [{ creationLog: true, failureLog: false, successLog: true, logId: 5, id: [] }, 200],
  [{ sortBy: 'timestamp', sortOrder: 'desc' }, 200],
  [{ sortBy: 'timestamp' }, pair],
  [{ sortBy: 'x', sortOrder: 'asc' }, 'unmapped'],
  [
    { sorting: [{ sortBy: 'retries' }] },
    notValid('Invalid query: call asc() or desc() after using orderByXX(): direction is null'),
  ],
  [{ activityIdIn: [] }, 200],
  [{ activityIdIn: [''] }, notValid('activityIds contains empty string')],
  [{ activityInstanceIdIn: [null, ''] }, notValid('activityIds contains null value')],
  [{ executionIdIn: ['a', ''] }, notValid('executionIds contains empty string')],
  [{ tenantIdIn: [''], withoutTenantId: true }, 200],
  [{ tenantIdIn: [null] }, answer(500, 'NullValueException', 'tenantIds contains null value')],
  [{ priorityHigherThanOrEquals: '9223372036854775807', priorityLowerThanOrEquals: 1.5 }, 200],
  [{ priorityHigherThanOrEquals: '9223372036854775808' }, 'unmapped'],
  [{ workerId: [] }, 'unmapped'],
])

const SUBSCRIPTIONS = queries('getEventSubscriptions', [
  ['?eventType=foo&eventName=&tenantIdIn=,&withoutTenantId=true&sorting=x', 200],
  ['?sortBy=created&sortOrder=asc', 200],
  [
    '?sortBy=createdDate&sortOrder=asc',
    invalid("Cannot set query parameter 'sortBy' to value 'createdDate'"),
  ],
  ['?sortBy=tenantId', pair],
  ['?sortOrder=', invalid("Cannot set query parameter 'sortOrder' to value ''")],
  [
    '?withoutTenantId=x',
    invalid(
      "Cannot set query parameter 'withoutTenantId' to value 'x': Cannot convert value x to java type java.lang.Boolean",
    ),
  ],
  ['?maxResults=x', answer(404, 'QueryParamException', 'HTTP 404 Not Found', null)],
])

const noParameter = (name: string) => invalid(`Query parameter '${name}' cannot be null`)

const CHECKS = queries('isUserAuthorized', [
  ['', noParameter('permissionName')],
  ['?resourceName=Task&resourceType=7', noParameter('permissionName')],
  ['?permissionName=READ&resourceType=7', noParameter('resourceName')],
  ['?permissionName=READ&resourceName=Task', noParameter('resourceType')],
  ['?permissionName=NOSUCH&resourceName=Task&resourceType=', noParameter('resourceType')],
  ['?resourceType=x', answer(404, 'QueryParamException', 'HTTP 404 Not Found', null)],
])

const FLAGS = [
  ...queries('getTopicNames', [
    ['?withLockedTasks=abc&withRetriesLeft=', 200],
    ['?withLockedTasks=true', 200],
  ]),
  ...queries('cleanupAsync', [
    ['?immediatelyDue=TRUE', 200],
    ['?immediatelyDue=abc', 200],
  ]),
]

const CREDENTIALS = bodies('verifyUser', [
  [{}, invalid('Username and password are required')],
  [{ username: 'mary' }, invalid('Username and password are required')],
  [{ username: null, password: 'x' }, invalid('Username and password are required')],
  [{ username: '', password: '' }, 200],
])

const delegation = (state: string) =>
  invalid(`Valid values for property 'delegationState' are 'PENDING' or 'RESOLVED', but was '${state}'`)

const TASKS = bodies(
  'updateTask',
  [
    [{ name: 'T', priority: '7', due: null, delegationState: 'Pending', unknown: 1 }, 204],
    [{ name: 'T', due: '2020-01-01' }, 'unmapped'],
    [{ name: 'T', priority: 'x' }, 'unmapped'],
    [{ name: 'T', suspended: 'x' }, 'unmapped'],
    [{ name: 'T', executionId: [] }, 'unmapped'],
    [{ name: 'T', delegationState: 'x' }, delegation('x'), 1],
    [{ name: 'T', delegationState: '' }, delegation(''), 1],
  ],
  { id: '{taskId}' },
)

const record = { type: 1, permissions: ['READ'], userId: 'validation', resourceType: 7, resourceId: 'x' }
const illegal = (name: string, resource: string) =>
  badRequest(`The permission '${name}' is not valid for '${resource}' resource type.`)
const foreign = (id: number, name: string) =>
  badRequest(`ENGINE-03087 The resource type with id:'${id}' is not valid for '${name}' permission.`)
const nobody = answer(500, 'NullValueException', "Authorization must either have a 'userId' or a 'groupId'.")
const unrecognized = (type: number) =>
  fault(`ENGINE-03025 Unrecognized authorization type '${type}'. Must be one of ['0', '1', '2']`)
const without = (name: string): object => ({ ...record, [name]: undefined })

const RECORDS = bodies('createAuthorization', [
  [
    without('type'),
    answer(
      500,
      'NullPointerException',
      'Cannot invoke "java.lang.Integer.intValue()" because "this.type" is null',
      null,
    ),
  ],
  [{ ...record, type: 'x' }, 'unmapped'],
  [{ ...record, permissions: 'READ' }, 'unmapped'],
  [{ ...record, type: 3 }, unrecognized(3), 1],
  [{ ...record, type: '+3' }, unrecognized(3), 1],
  [{ ...record, type: '-3' }, unrecognized(-3), 1],
  [{ ...record, type: 2 }, 200, 1],
  [
    { ...record, type: null },
    fault("ENGINE-03028 Illegal value 'validation' for userId for GLOBAL authorization. Must be '*'"),
    1,
  ],
  [
    { ...without('userId'), type: 0, groupId: 'g' },
    fault("ENGINE-03027 Cannot use 'groupId' for GLOBAL authorization"),
    1,
  ],
  [{ ...without('userId'), type: 0 }, nobody, 1],
  [without('userId'), nobody, 1],
  [{ ...record, groupId: 'g' }, nobody, 1],
  [without('resourceType'), 500, 1],
  [
    without('permissions'),
    answer(500, 'NullPointerException', 'Cannot read the array length because "names" is null', null),
    1,
  ],
  [{ ...record, permissions: ['FOO'] }, illegal('FOO', 'TASK'), 1],
  [{ ...record, permissions: [null] }, illegal('null', 'TASK'), 1],
  [{ ...record, permissions: ['ACCESS'] }, illegal('ACCESS', 'TASK'), 1],
  [{ ...record, permissions: ['ACCESS'], resourceType: 1 }, foreign(1, 'ACCESS'), 1],
  [{ ...record, permissions: ['CREATE'], resourceType: '10' }, foreign(10, 'CREATE'), 1],
  [{ ...record, permissions: ['CREATE', 'UPDATE_TASK'], resourceType: 10 }, 400, 1],
  [{ ...record, permissions: ['X'], resourceType: 99 }, illegal('X', 'null'), 1],
  [{ ...record, permissions: ['READ'], resourceType: 99 }, foreign(99, 'READ'), 1],
  [{ ...record, permissions: ['ALL'] }, 200],
  [{ ...record, permissions: [], resourceId: 'none', removalTime: 'x' }, 200],
  [{ ...record, type: '0', userId: '*', permissions: ['NONE'], resourceId: 'everybody' }, 200],
  [{ ...record, type: 1.5, resourceId: 'cut off' }, 200],
  [{ ...record, type: -0.5, userId: '*', resourceId: 'cut off' }, 200],
  [{ ...record, type: 3.7 }, unrecognized(3), 1],
  [{ ...record, type: ' 07 ' }, unrecognized(7), 1],
  ...['', ' ', 'null'].flatMap(
    (blank): Rows => [
      [
        { ...record, type: blank },
        fault("ENGINE-03028 Illegal value 'validation' for userId for GLOBAL authorization. Must be '*'"),
        1,
      ],
      [{ ...record, resourceType: blank }, 500, 1],
    ],
  ),
  [{ ...record, type: '\u0661', resourceId: 'another script' }, 200],
  [{ ...record, resourceType: '\u0667', resourceId: 'yet another' }, 200],
  [{ ...record, resourceType: 1.5, resourceId: 'cut off' }, 200],
  [{ ...record, resourceType: 99.5 }, foreign(99, 'READ'), 1],
  [{ ...record, resourceType: '+7', resourceId: 'signed' }, 200],
  [without('resourceId'), 200],
])

const plan = {
  sourceProcessDefinitionId: '{movingFirstId}',
  targetProcessDefinitionId: '{movingSecondId}',
  instructions: [{ sourceActivityIds: ['stay'], targetActivityIds: ['stay'] }],
}
const migration = (members: object, more: object = {}) => ({
  migrationPlan: { ...plan, ...members },
  ...more,
})
const ids = { processInstanceIds: ['nosuch'] }
const none = badRequest('Process instance ids cannot empty: process instance ids is empty')
const noPlan =
  'Cannot invoke "org.camunda.bpm.engine.rest.dto.migration.MigrationPlanDto.getSourceProcessDefinitionId()" because "migrationPlanDto" is null'
const noId = (which: string) => ({ ...invalid(`${which} process definition id is null`), code: 0 as const })
const outOfBounds = answer(500, 'IndexOutOfBoundsException', 'Index 0 out of bounds for length 0', null)
const transient = { variables: { v: { value: 1, valueInfo: { transient: true } } } }

type Rows = Parameters<typeof bodies>[1]

const MIGRATIONS: Rows = [
  [{}, answer(500, 'NullPointerException', noPlan, null)],
  [{ migrationPlan: {} }, noId('Source')],
  [{ migrationPlan: { sourceProcessDefinitionId: '{movingFirstId}' } }, noId('Target')],
  [{ migrationPlan: 5 }, 'unmapped'],
  [migration({}, { processInstanceIds: 'x' }), 'unmapped'],
  [migration({}, { skipIoMappings: 'x' }), 'unmapped'],
  [migration({}, { processInstanceQuery: { sortBy: 'x' } }), 'unmapped'],
  [
    migration({ variables: { v: { type: 'Foo' } } }),
    answer(400, 'RestException', "Unsupported value type 'Foo'", null),
  ],
  [migration({ instructions: [{ sourceActivityIds: [], targetActivityIds: ['stay'] }] }), outOfBounds],
  [migration({ instructions: [{}] }), 500],
  [migration({ instructions: null }), none, 2],
  [migration({}), none, 2],
  [migration({}, { processInstanceIds: [] }), none, 2],
  [
    migration({}, { processInstanceIds: [null] }),
    badRequest('Process instance ids cannot be null: process instance ids contains null value'),
    2,
  ],
  [migration({}, { ...ids, processInstanceQuery: { sortBy: 'instanceId' } }), pair, 2],
  [
    migration({}, { ...ids, processInstanceQuery: { variables: [{ name: 'a', operator: 'xx' }] } }),
    invalid('Invalid variable comparator specified: xx'),
    2,
  ],
  [
    migration({}, { ...ids, processInstanceQuery: { variables: [{ name: 'a', operator: 'gt' }] } }),
    notValid("Booleans and null cannot be used in 'greater than' condition"),
    2,
  ],
  ...(
    [
      ['processDefinitionKeyIn', 'processDefinitionKeys'],
      ['processDefinitionKeyNotIn', 'processDefinitionKeyNotIn'],
      ['tenantIdIn', 'tenantIds'],
      ['activityIdIn', 'activity ids'],
    ] as const
  ).map(
    ([member, name]) =>
      [
        migration({}, { ...ids, processInstanceQuery: { [member]: ['a', null] } }),
        answer(500, 'NullValueException', `${name} contains null value`),
        2,
      ] as const,
  ),
  ...(
    [
      ['rootProcessInstances', 'superProcessInstance'],
      ['leafProcessInstances', 'subProcessInstance'],
    ] as const
  ).map(
    ([flag, id]) =>
      [
        migration({}, { ...ids, processInstanceQuery: { [flag]: true, [id]: 'x' } }),
        fault(`Invalid query usage: cannot set both ${flag} and ${id}Id`),
        2,
      ] as const,
  ),
  [
    migration({}, { ...ids, processInstanceQuery: { processInstanceIds: [] } }),
    fault('Set of process instance ids is empty'),
    2,
  ],
  [
    migration({}, { ...ids, processInstanceQuery: { sorting: [{ sortBy: 'instanceId' }] } }),
    notValid('Invalid query: call asc() or desc() after using orderByXX(): direction is null'),
    2,
  ],
  [migration({}, { processInstanceQuery: { businessKey: 'nosuch' } }), 400],
  [migration({}, { processInstanceQuery: { businessKey: 'nosuch', rootProcessInstances: true } }), 400, 2],
  [migration({ instructions: [{ sourceActivityIds: ['x'], targetActivityIds: ['stay'] }] }, ids), 400],
]

const PLANS: Rows = [
  [{}, noId('Source')],
  [{ sourceProcessDefinitionId: null, targetProcessDefinitionId: 'x' }, noId('Source')],
  [{ sourceProcessDefinitionId: '{movingFirstId}' }, noId('Target')],
  [{ sourceProcessDefinitionId: [] }, 'unmapped'],
  [{ variables: { v: { type: 'Foo' } } }, answer(400, 'RestException', "Unsupported value type 'Foo'", null)],
  [{ ...plan, targetProcessDefinitionId: 'x' }, 400],
]

export const otherCases: readonly Case[] = [
  ...LOGS,
  ...SUBSCRIPTIONS,
  ...CHECKS,
  ...CREDENTIALS,
  ...FLAGS,
  ...TASKS,
  ...RECORDS,
  ...bodies('generateMigrationPlan', [
    ...PLANS,
    [{ updateEventTriggers: 'x' }, 'unmapped'],
    [{ instructions: 5 }, noId('Source')],
    [{ ...plan, instructions: [{}] }, 200],
  ]),
  ...bodies('validateMigrationPlan', [
    ...PLANS,
    [{ updateEventTriggers: 'x' }, noId('Source')],
    [{ instructions: 5 }, 'unmapped'],
    [{ instructions: null }, noId('Source')],
    [{ instructions: [{}] }, 500],
    [{ instructions: [{ sourceActivityIds: [], targetActivityIds: ['stay'] }] }, outOfBounds],
    [plan, 200],
  ]),
  ...bodies('executeMigrationPlan', [...MIGRATIONS, [migration(transient, ids), 500]]),
  ...bodies('executeMigrationPlanAsync', [
    ...MIGRATIONS,
    [migration({}, ids), 200],
    [
      migration(transient, ids),
      badRequest("ENGINE-13044 Setting transient variable 'v' asynchronously is currently not supported."),
      4,
    ],
    [migration({ variables: { v: { value: 1, valueInfo: { transient: false } } } }, ids), 200],
  ]),
  ...bodies(
    'submitFormByKey',
    [
      [{ variables: [] }, 'unmapped', 1],
      [{ skipIoMappings: 'x' }, 'unmapped', 1],
      [{ startInstructions: 5 }, 'unmapped', 1],
      [{ variables: { pages: { type: 'Foo' } } }, 400],
      [{ businessKey: 5, variables: { subject: { value: 's' }, pages: { type: 'Long', value: 2 } } }, 200],
    ],
    { key: 'review' },
  ),
]
