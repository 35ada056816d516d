import type { StoredItem } from './data.ts'
import { json } from './http.ts'
import type { SandboxRequest } from './http.ts'
import { among, equals, page, queryOf, select } from './query.ts'
import type { Tests } from './query.ts'
import { get } from './router.ts'
import type { Route } from './router.ts'

export const externalTaskRoutes: readonly Route[] = [
  get('/external-task', (ask) => json(page(ask, find(ask)))),
  get('/external-task/count', (ask) => json({ count: find(ask).length })),
  get('/external-task/topic-names', (ask) => json(topicsOf(ask))),
]

const tests: Tests<StoredItem> = {
  ...equals<StoredItem>({
    externalTaskId: 'id',
    topicName: 'topicName',
    workerId: 'workerId',
    activityId: 'activityId',
    executionId: 'executionId',
    processInstanceId: 'processInstanceId',
    processDefinitionId: 'processDefinitionId',
  }),
  ...among<StoredItem>({
    externalTaskIdIn: 'id',
    processInstanceIdIn: 'processInstanceId',
    tenantIdIn: 'tenantId',
  }),
  locked: (row) => row['workerId'] !== null,
  notLocked: (row) => row['workerId'] === null,
}

function find(ask: SandboxRequest): StoredItem[] {
  return select(ask.engine.externalTasks.values(), queryOf(ask), tests)
}

/** Returns the distinct topics. The sandbox locks no task, so a query for locked tasks has no results. */
function topicsOf(ask: SandboxRequest): string[] {
  if (ask.query.get('withLockedTasks') === 'true') return []
  return [...new Set([...ask.engine.externalTasks.values()].map(({ topicName }) => topicName))]
}
