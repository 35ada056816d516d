import { exchange } from '../engine/exchange.ts'
import type { Ask } from '../engine/exchange.ts'

/** Returns requests for the nineteen operations, by operation. Each request works once for each start of the sandbox. */
export async function asksOf(base: string): Promise<Readonly<Record<string, Ask>>> {
  const review = await idsOf(base, '/process-instance?processDefinitionKey=review')
  const task = await idsOf(base, `/task?processInstanceId=${review[0]}`)
  const decision = await idsOf(base, '/decision-definition?key=discount')
  const decisionInstance = await idsOf(base, '/history/decision-instance')
  const catching = await idsOf(base, '/process-instance?processDefinitionKey=catching')
  const moving = await idsOf(base, '/process-instance?processDefinitionKey=moving')
  const versions = await idsOf(base, '/process-definition?key=moving')
  const receive = await idsOf(base, `/execution?activityId=receive&processInstanceId=${catching[0]}`)
  return {
    ...reads(String(review[0]), String(decisionInstance[0])),
    'POST /task': post('/task?firstResult=0&maxResults=3', {
      processDefinitionKey: 'review',
      candidateGroup: 'accounting',
      sorting: [{ sortBy: 'created', sortOrder: 'desc' }],
    }),
    'POST /history/external-task-log': post('/history/external-task-log?maxResults=2', {
      creationLog: true,
      topicName: 'work',
    }),
    'POST /decision-definition/{id}/evaluate': post(`/decision-definition/${decision[0]}/evaluate`, {
      variables: { amount: { value: 120, type: 'Integer' } },
    }),
    'POST /process-definition/key/{key}/submit-form': post('/process-definition/key/review/submit-form', {
      businessKey: 'order-9',
      variables: { title: { value: 'Report', type: 'String' }, amount: { value: 42, type: 'Long' } },
    }),
    'PUT /task/{id}': put(`/task/${task[0]}`, { name: 'Review it today', assignee: 'mary', priority: 70 }),
    'PUT /process-instance/{id}/variables/{varName}': put(`/process-instance/${review[0]}/variables/amount`, {
      value: 300,
      type: 'Long',
    }),
    'POST /authorization/create': post('/authorization/create', {
      type: 1,
      permissions: ['READ', 'UPDATE'],
      userId: 'mary',
      groupId: null,
      resourceType: 7,
      resourceId: task[0],
    }),
    'POST /execution/{id}/signal': post(`/execution/${receive[0]}/signal`, {
      variables: { received: { value: true, type: 'Boolean' } },
    }),
    'POST /signal': post('/signal', { name: 'stopAll' }),
    'POST /migration/executeAsync': migrate('/migration/executeAsync', versions, moving.slice(0, 2)),
    'POST /migration/execute': migrate('/migration/execute', versions, moving.slice(2)),
    'POST /history/cleanup': { method: 'POST', path: '/history/cleanup?immediatelyDue=true' },
  }
}

function reads(reviewId: string, decisionInstanceId: string): Record<string, Ask> {
  const includes = 'includeInputs=true&includeOutputs=true'
  return {
    'GET /task/report/candidate-group-count': get('/task/report/candidate-group-count'),
    'GET /external-task/topic-names': get('/external-task/topic-names'),
    'GET /event-subscription': get('/event-subscription?eventType=message'),
    'GET /process-instance/{id}/comment': get(`/process-instance/${reviewId}/comment`),
    'GET /process-definition/key/{key}/tenant-id/{tenant-id}/rendered-form': get(
      '/process-definition/key/tenantReview/tenant-id/acme/rendered-form',
    ),
    'GET /decision-definition/key/{key}/diagram': get('/decision-definition/key/discount/diagram'),
    'GET /history/decision-instance/{id}': get(
      `/history/decision-instance/${decisionInstanceId}?${includes}`,
    ),
  }
}

function get(path: string): Ask {
  return { method: 'GET', path }
}

function post(path: string, body: unknown): Ask {
  return { method: 'POST', path, body }
}

function put(path: string, body: unknown): Ask {
  return { method: 'PUT', path, body }
}

function migrate(path: string, versions: readonly string[], processInstanceIds: readonly string[]): Ask {
  return post(path, { migrationPlan: planOf(versions), processInstanceIds })
}

/** Returns a migration plan from the first version of 'moving' to the second. */
export function planOf([sourceProcessDefinitionId, targetProcessDefinitionId]: readonly (
  | string
  | undefined
)[]) {
  const instructions = [{ sourceActivityIds: ['stay'], targetActivityIds: ['stay'] }]
  return { sourceProcessDefinitionId, targetProcessDefinitionId, instructions }
}

/** Returns the ids of a list, in its order. */
export async function idsOf(base: string, path: string): Promise<string[]> {
  const { body } = await exchange(base, get(path))
  if (!Array.isArray(body)) throw new Error(`${path}: ${JSON.stringify(body)}`)
  return body.map((row: unknown) => String(valueOf(row, 'id')))
}

function valueOf(row: unknown, member: string): unknown {
  if (typeof row !== 'object' || row === null) return undefined
  return Object.entries(row).find(([name]) => name === member)?.[1]
}
