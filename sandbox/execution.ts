import type { Engine, Execution, EventSubscription } from './data.ts'
import { RestError, json, nothing } from './http.ts'
import type { SandboxRequest, JsonObject, SandboxResponse } from './http.ts'
import { among, equals, ofTenants, page, queryOf, select } from './query.ts'
import type { Tests } from './query.ts'
import { get, post } from './router.ts'
import type { Route } from './router.ts'
import { leave } from './runtime.ts'
import { variablesOf } from './variables.ts'

/** The routes for executions, and for events that executions receive. */
export const executionRoutes: readonly Route[] = [
  get('/execution', (ask) => json(page(ask, findExecutions(ask)))),
  get('/execution/:id', getExecution),
  post('/execution/:id/signal', signalExecution),
  post('/signal', broadcast),
  get('/event-subscription', (ask) => json(page(ask, findSubscriptions(ask)))),
  get('/event-subscription/count', (ask) => json({ count: findSubscriptions(ask).length })),
]

function findExecutions(ask: SandboxRequest): JsonObject[] {
  const { executions, instances } = ask.engine
  const instanceOf = ({ processInstanceId }: Execution) => instances.get(processInstanceId)
  const running = [...instances.values()].filter(({ id, endTime }) => endTime === null && !executions.has(id))
  // A process instance is an execution as well, even if it waits in child executions.
  const roots = running.map(({ id, tenantId }) => ({ id, processInstanceId: id, activityId: '', tenantId }))
  const tests: Tests<Execution> = {
    ...executionTests,
    processDefinitionId: (one, id) => instanceOf(one)?.definitionId === id,
    processDefinitionKey: (one, key) => instanceOf(one)?.definitionKey === key,
  }
  return select([...roots, ...executions.values()], queryOf(ask), tests).map(executionBodyOf)
}

const executionTests: Tests<Execution> = {
  ...equals<Execution>({
    executionId: 'id',
    processInstanceId: 'processInstanceId',
    activityId: 'activityId',
  }),
  ...among<Execution>({ tenantIdIn: 'tenantId' }),
}

function executionBodyOf({ id, processInstanceId, tenantId }: Execution): JsonObject {
  return { id, processInstanceId, ended: false, tenantId }
}

function getExecution(ask: SandboxRequest): SandboxResponse {
  const { id = '' } = ask.params
  const found = ask.engine.executions.get(id)
  if (found !== undefined) return json(executionBodyOf(found))
  const instance = ask.engine.instances.get(id)
  if (instance !== undefined && instance.endTime === null) {
    return json(executionBodyOf({ id, processInstanceId: id, activityId: '', tenantId: instance.tenantId }))
  }
  throw new RestError(404, 'InvalidRequestException', `Execution with id ${id} does not exist`)
}

function signalExecution(ask: SandboxRequest): SandboxResponse {
  const { id = '' } = ask.params
  const doing = `Cannot signal execution ${id}`
  const variables = variablesOf(ask.body['variables'], doing)
  const execution = ask.engine.executions.get(id)
  if (execution === undefined) {
    throw new RestError(500, 'RestException', `${doing}: execution ${id} doesn't exist: execution is null`, 0)
  }
  if ([...ask.engine.tasks.values()].some((task) => task.executionId === id)) {
    throw new RestError(500, 'RestException', `${doing}: UserTask should not be signalled before complete`, 0)
  }
  leave(ask.engine, execution, variables)
  return nothing()
}

function broadcast(ask: SandboxRequest): SandboxResponse {
  const { name, executionId, tenantId, withoutTenantId } = ask.body
  if (typeof name !== 'string') throw new RestError(400, 'InvalidRequestException', 'No signal name given')
  const variables = variablesOf(ask.body['variables'], 'Cannot throw signal')
  const query = {
    eventType: 'signal',
    eventName: name,
    executionId: executionId ?? null,
    tenantIdIn: typeof tenantId === 'string' ? [tenantId] : [],
    withoutTenantId: withoutTenantId === true,
  }
  const caught = select(ask.engine.subscriptions.values(), query, tests)
  if (typeof executionId === 'string' && caught.length === 0) throw unheard(ask.engine, name, executionId)
  for (const subscription of caught) leave(ask.engine, executionOf(ask.engine, subscription), variables)
  return nothing()
}

function unheard(engine: Engine, name: string, executionId: string): RestError {
  if (engine.executions.has(executionId)) {
    const message = `Execution '${executionId}' has not subscribed to a signal event with name '${name}'.`
    return new RestError(500, 'NotFoundException', message, 0)
  }
  const message = `Cannot find execution with id '${executionId}': execution is null`
  return new RestError(500, 'NullValueException', message, 0)
}

function executionOf(engine: Engine, { executionId }: EventSubscription): Execution {
  const execution = engine.executions.get(executionId)
  if (execution === undefined) throw new Error(`no execution ${executionId}`)
  return execution
}

const tests: Tests<EventSubscription> = {
  ...equals<EventSubscription>({
    eventSubscriptionId: 'id',
    eventType: 'eventType',
    eventName: 'eventName',
    executionId: 'executionId',
    processInstanceId: 'processInstanceId',
    activityId: 'activityId',
  }),
  ...ofTenants('includeEventSubscriptionsWithoutTenantId'),
}

function findSubscriptions(ask: SandboxRequest): EventSubscription[] {
  return select(ask.engine.subscriptions.values(), queryOf(ask), tests)
}
