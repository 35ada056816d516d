import type { Engine, Instance } from './data.ts'
import { RestError, isJson, json, nothing } from './http.ts'
import type { SandboxRequest, JsonObject, SandboxResponse } from './http.ts'
import { among, equals, listOf, ofTenants, page, queryOf, select } from './query.ts'
import type { Tests } from './query.ts'
import { get, post, put } from './router.ts'
import type { Route } from './router.ts'
import { variableOf } from './variables.ts'

export const processInstanceRoutes: readonly Route[] = [
  get('/process-instance', (ask) => json(page(ask, findInstances(ask.engine, queryOf(ask))).map(bodyOf))),
  post('/process-instance', (ask) => json(page(ask, findInstances(ask.engine, ask.body)).map(bodyOf))),
  get('/process-instance/count', (ask) => json({ count: findInstances(ask.engine, queryOf(ask)).length })),
  post('/process-instance/count', (ask) => json({ count: findInstances(ask.engine, ask.body).length })),
  get('/process-instance/:id', (ask) => json(bodyOf(instanceOf(ask)))),
  get('/process-instance/:id/comment', comments),
  get('/process-instance/:id/variables', (ask) =>
    json(Object.fromEntries(instanceWithVariables(ask, 'get process instance variables').variables)),
  ),
  get('/process-instance/:id/variables/:name', getVariable),
  put('/process-instance/:id/variables/:name', putVariable),
  get('/history/process-instance/:id', (ask) => json(historicBodyOf(ask))),
]

/** Returns the response body after a start, with a link to the started instance. */
export function startedBodyOf(ask: SandboxRequest, instance: Instance): JsonObject {
  const self = { method: 'GET', href: `${ask.base}/process-instance/${instance.id}`, rel: 'self' }
  return { ...bodyOf(instance), links: [self], ended: instance.endTime !== null }
}

function bodyOf({ id, definitionId, businessKey, tenantId }: Instance): JsonObject {
  const state = { caseInstanceId: null, ended: false, suspended: false }
  return { links: [], id, definitionId, businessKey, ...state, tenantId }
}

function running(engine: Engine): Instance[] {
  return [...engine.instances.values()].filter((instance) => instance.endTime === null)
}

function instanceOf(ask: SandboxRequest): Instance {
  const { id = '' } = ask.params
  const instance = ask.engine.instances.get(id)
  if (instance !== undefined && instance.endTime === null) return instance
  throw new RestError(404, 'InvalidRequestException', `Process instance with id ${id} does not exist`)
}

const tests: Tests<Instance> = {
  ...equals<Instance>({
    businessKey: 'businessKey',
    processDefinitionId: 'definitionId',
    processDefinitionKey: 'definitionKey',
  }),
  ...among<Instance>({
    processInstanceIds: 'id',
    processDefinitionKeyIn: 'definitionKey',
  }),
  ...ofTenants(),
  processDefinitionKeyNotIn: (instance, value) => !listOf(value).includes(instance.definitionKey),
  suspended: () => false,
}

export function findInstances(engine: Engine, query: JsonObject): Instance[] {
  return select(running(engine), query, tests)
}

/** Returns the comments of an instance. Comments remain after the instance has ended, so ended instances are found as well. */
function comments(ask: SandboxRequest): SandboxResponse {
  const { id = '' } = ask.params
  if (!ask.engine.instances.has(id)) {
    throw new RestError(404, 'InvalidRequestException', `No process instance found for id ${id}`)
  }
  return json(ask.engine.comments.filter((comment) => comment['processInstanceId'] === id))
}

function instanceWithVariables(ask: SandboxRequest, doing: string): Instance {
  const { id = '' } = ask.params
  const instance = ask.engine.instances.get(id)
  if (instance !== undefined && instance.endTime === null) return instance
  const why = `execution ${id} doesn't exist: execution is null`
  throw new RestError(500, 'RestException', `Cannot ${doing}: ${why}`, 0)
}

function getVariable(ask: SandboxRequest): SandboxResponse {
  const { name = '' } = ask.params
  const { variables } = instanceWithVariables(ask, `get process instance variable ${name}`)
  const variable = variables.get(name)
  if (variable !== undefined) return json(variable)
  const message = `process instance variable with name ${name} does not exist`
  throw new RestError(404, 'InvalidRequestException', message)
}

function putVariable(ask: SandboxRequest): SandboxResponse {
  const { name = '' } = ask.params
  const doing = `put process instance variable ${name}`
  const variable = variableOf(isJson(ask.body) ? ask.body : {}, `Cannot ${doing}`)
  instanceWithVariables(ask, doing).variables.set(name, variable)
  return nothing()
}

function historicBodyOf(ask: SandboxRequest): JsonObject {
  const { id = '' } = ask.params
  const instance = ask.engine.instances.get(id)
  if (instance === undefined) {
    throw new RestError(
      404,
      'InvalidRequestException',
      `Historic process instance with id ${id} does not exist`,
    )
  }
  const { businessKey, definitionId, definitionKey, startTime, endTime, tenantId } = instance
  const definition = ask.engine.processDefinitions.get(definitionId)
  return {
    id,
    businessKey,
    processDefinitionId: definitionId,
    processDefinitionKey: definitionKey,
    processDefinitionName: definition?.name ?? null,
    processDefinitionVersion: definition?.version ?? null,
    startTime,
    endTime,
    removalTime: null,
    durationInMillis: endTime === null ? null : Date.parse(endTime) - Date.parse(startTime),
    startUserId: null,
    startActivityId: 'start',
    deleteReason: null,
    rootProcessInstanceId: id,
    superProcessInstanceId: null,
    superCaseInstanceId: null,
    caseInstanceId: null,
    tenantId,
    state: endTime === null ? 'ACTIVE' : 'COMPLETED',
    restartedProcessInstanceId: null,
  }
}
