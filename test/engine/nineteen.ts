import type { Ask } from './exchange.ts'
import type { Seeded } from './seed.ts'

export interface Scenario {
  /** Method and template, as in the API. */
  readonly operation: string
  /** The status of an engine that permits the request. */
  readonly status: 200 | 204
  request(seeded: Seeded): Ask
  /** Members, besides ids, times and hosts, that may differ between two runs. Used by `normalize`. */
  readonly volatile: readonly string[]
}

/**
 * Every request works once for each seed. Run each scenario with one seed and then with the other, not all scenarios
 * with one seed first: counts and signal subscriptions belong to the engine and not to the seed.
 */
export const nineteen: readonly Scenario[] = [
  get('GET /task/report/candidate-group-count', () => '/task/report/candidate-group-count'),
  get('GET /external-task/topic-names', () => '/external-task/topic-names'),
  get(
    'GET /event-subscription',
    (seeded) => `/event-subscription?eventType=message&processInstanceId=${seeded.catchingInstanceId}`,
  ),
  get(
    'GET /process-instance/{id}/comment',
    (seeded) => `/process-instance/${seeded.reviewInstanceId}/comment`,
  ),
  get(
    'GET /process-definition/key/{key}/tenant-id/{tenant-id}/rendered-form',
    () => '/process-definition/key/tenantReview/tenant-id/acme/rendered-form',
  ),
  get('GET /decision-definition/key/{key}/diagram', () => '/decision-definition/key/discount/diagram'),
  get(
    'GET /history/decision-instance/{id}',
    (seeded) =>
      `/history/decision-instance/${seeded.decisionInstanceId}?includeInputs=true&includeOutputs=true`,
  ),
  send(200, 'POST /task', (seeded) => ({
    method: 'POST',
    path: '/task?firstResult=0&maxResults=5',
    body: {
      processDefinitionKey: 'review',
      processInstanceBusinessKey: seeded.businessKey,
      candidateGroup: 'editors',
      sorting: [{ sortBy: 'created', sortOrder: 'desc' }],
    },
  })),
  send(200, 'POST /history/external-task-log', (seeded) => ({
    method: 'POST',
    path: '/history/external-task-log?maxResults=5',
    body: {
      processInstanceId: seeded.externalInstanceId,
      creationLog: true,
      sorting: [{ sortBy: 'timestamp', sortOrder: 'asc' }],
    },
  })),
  send(200, 'POST /decision-definition/{id}/evaluate', (seeded) => ({
    method: 'POST',
    path: `/decision-definition/${seeded.decisionDefinitionId}/evaluate`,
    body: { variables: { sum: { value: 1200, type: 'Integer' } } },
  })),
  send(200, 'POST /process-definition/key/{key}/submit-form', (seeded) => ({
    method: 'POST',
    path: '/process-definition/key/review/submit-form',
    body: {
      businessKey: seeded.businessKey,
      variables: {
        subject: { value: 'Annual report', type: 'String' },
        pages: { value: 40, type: 'Long' },
        urgent: { value: true, type: 'Boolean' },
      },
    },
  })),
  send(204, 'PUT /task/{id}', (seeded) => ({
    method: 'PUT',
    path: `/task/${seeded.taskId}`,
    body: {
      name: 'Read it today',
      description: null,
      assignee: 'mary',
      priority: 70,
      due: '2031-05-02T08:00:00.000+0000',
    },
  })),
  send(204, 'PUT /process-instance/{id}/variables/{varName}', (seeded) => ({
    method: 'PUT',
    path: `/process-instance/${seeded.reviewInstanceId}/variables/pages`,
    body: { value: 13, type: 'Long' },
  })),
  send(200, 'POST /authorization/create', (seeded) => ({
    method: 'POST',
    path: '/authorization/create',
    body: {
      type: 1,
      permissions: ['READ', 'TASK_WORK'],
      userId: null,
      groupId: 'editors',
      resourceType: 7,
      resourceId: seeded.businessKey,
    },
  })),
  send(204, 'POST /execution/{id}/signal', (seeded) => ({
    method: 'POST',
    path: `/execution/${seeded.receiveExecutionId}/signal`,
    body: { variables: { received: { value: true, type: 'Boolean' } } },
  })),
  send(204, 'POST /signal', () => ({
    method: 'POST',
    path: '/signal',
    body: { name: 'halt', variables: { reason: { value: 'stock-taking', type: 'String' } } },
  })),
  send(200, 'POST /migration/executeAsync', (seeded) =>
    migrate(seeded, '/migration/executeAsync', seeded.movingLater),
  ),
  send(204, 'POST /migration/execute', (seeded) => migrate(seeded, '/migration/execute', seeded.movingNow)),
  send(200, 'POST /history/cleanup', () => ({
    method: 'POST',
    path: '/history/cleanup?immediatelyDue=true',
  })),
]

function get(operation: string, pathOf: (seeded: Seeded) => string): Scenario {
  return {
    operation,
    status: 200,
    volatile: [],
    request: (seeded) => ({ method: 'GET', path: pathOf(seeded) }),
  }
}

function send(status: 200 | 204, operation: string, request: (seeded: Seeded) => Ask): Scenario {
  return { operation, status, volatile: [], request }
}

function migrate(seeded: Seeded, path: string, processInstanceIds: readonly string[]): Ask {
  const instructions = [
    { sourceActivityIds: ['stay'], targetActivityIds: ['stay'], updateEventTrigger: false },
  ]
  const migrationPlan = {
    sourceProcessDefinitionId: seeded.movingFirstId,
    targetProcessDefinitionId: seeded.movingSecondId,
    instructions,
  }
  const body = { migrationPlan, processInstanceIds, skipCustomListeners: true, skipIoMappings: true }
  return { method: 'POST', path, body }
}
