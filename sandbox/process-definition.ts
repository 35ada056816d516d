import { bpmnOf } from './bpmn.ts'
import type { ProcessDefinition } from './data.ts'
import { renderForm, submittedOf } from './form.ts'
import { RestError, content, json } from './http.ts'
import type { SandboxRequest, JsonObject, SandboxResponse } from './http.ts'
import { NAMESPACE } from './models.ts'
import { startedBodyOf } from './process-instance.ts'
import { among, equals, ofTenants, page, queryOf, select } from './query.ts'
import type { Tests } from './query.ts'
import { get, post } from './router.ts'
import type { Route } from './router.ts'
import { startInstance } from './runtime.ts'
import { variablesOf } from './variables.ts'

type FindDefinition = (ask: SandboxRequest) => ProcessDefinition

export const processDefinitionRoutes: readonly Route[] = [
  get('/process-definition', (ask) => json(page(ask, find(ask)).map(bodyOf))),
  get('/process-definition/count', (ask) => json({ count: find(ask).length })),
  ...below('/process-definition/key/:key', byKey, byKey),
  ...below('/process-definition/key/:key/tenant-id/:tenantId', byKey, byKey),
  ...below('/process-definition/:id', byId, byIdToStart),
]

function below(path: string, toRead: FindDefinition, toStart: FindDefinition): Route[] {
  return [
    get(path, (ask) => json(bodyOf(toRead(ask)))),
    get(`${path}/xml`, (ask) => xml(toRead(ask))),
    get(`${path}/rendered-form`, (ask) => renderedForm(toRead(ask)), 'application/xhtml+xml'),
    post(`${path}/submit-form`, (ask) => submitForm(ask, toStart(ask))),
    post(`${path}/start`, (ask) => start(ask, toStart(ask))),
  ]
}

/** Returns the latest version with the path's key and with the path's tenant, or without a tenant if the path has none. */
function byKey(ask: SandboxRequest): ProcessDefinition {
  const { key = '' } = ask.params
  const tenantId = ask.params['tenantId'] ?? null
  const versions = [...ask.engine.processDefinitions.values()].filter(
    (one) => one.key === key && one.tenantId === tenantId,
  )
  const latest = versions.sort((a, b) => b.version - a.version)[0]
  if (latest !== undefined) return latest
  const tenant = tenantId === null ? 'no tenant-id' : `tenant-id: ${tenantId}`
  throw new RestError(404, 'RestException', `No matching process definition with key: ${key} and ${tenant}`)
}

function byId(ask: SandboxRequest): ProcessDefinition {
  const { id = '' } = ask.params
  const definition = ask.engine.processDefinitions.get(id)
  if (definition !== undefined) return definition
  throw new RestError(404, 'InvalidRequestException', `No matching definition with id ${id}`, 0)
}

function byIdToStart(ask: SandboxRequest): ProcessDefinition {
  const { id = '' } = ask.params
  const definition = ask.engine.processDefinitions.get(id)
  if (definition !== undefined) return definition
  const why = `no deployed process definition found with id '${id}': processDefinition is null`
  throw new RestError(500, 'RestException', `Cannot instantiate process definition ${id}: ${why}`, 0)
}

function bodyOf(definition: ProcessDefinition): JsonObject {
  const { id, key, name, version, tenantId, deploymentId } = definition
  return {
    id,
    key,
    category: NAMESPACE,
    description: null,
    name,
    version,
    resource: `${key}.bpmn`,
    deploymentId,
    diagram: null,
    suspended: false,
    tenantId,
    versionTag: `${version}.0`,
    historyTimeToLive: 30,
    startableInTasklist: true,
  }
}

const tests: Tests<ProcessDefinition> = {
  ...equals<ProcessDefinition>({
    processDefinitionId: 'id',
    key: 'key',
    name: 'name',
    version: 'version',
    deploymentId: 'deploymentId',
  }),
  ...among<ProcessDefinition>({ processDefinitionIdIn: 'id', keysIn: 'key' }),
  ...ofTenants('includeProcessDefinitionsWithoutTenantId'),
  versionTag: (definition, value) => `${definition.version}.0` === value,
}

function find(ask: SandboxRequest): ProcessDefinition[] {
  const all = [...ask.engine.processDefinitions.values()]
  const isLatest = (one: ProcessDefinition) =>
    !all.some(
      (other) => other.key === one.key && other.tenantId === one.tenantId && other.version > one.version,
    )
  return select(all, queryOf(ask), { ...tests, latestVersion: isLatest })
}

function xml({ id, model }: ProcessDefinition): SandboxResponse {
  return json({ id, bpmn20Xml: bpmnOf(model) })
}

function renderedForm({ id, model }: ProcessDefinition): SandboxResponse {
  if (model.form.length > 0) return content('application/xhtml+xml', Buffer.from(renderForm(model.form)))
  const message = `No matching rendered start form for process definition with the id ${id} found.`
  throw new RestError(404, 'InvalidRequestException', message)
}

function start(ask: SandboxRequest, definition: ProcessDefinition): SandboxResponse {
  const variables = variablesOf(
    ask.body['variables'],
    `Cannot instantiate process definition ${definition.id}`,
  )
  const instance = startInstance(ask.engine, definition, { businessKey: businessKeyOf(ask), variables })
  return json(startedBodyOf(ask, instance))
}

function submitForm(ask: SandboxRequest, definition: ProcessDefinition): SandboxResponse {
  const doing = `Cannot instantiate process definition ${definition.id}`
  const given = variablesOf(ask.body['variables'], doing)
  const variables = submittedOf(definition.model.form, given, doing)
  const instance = startInstance(ask.engine, definition, { businessKey: businessKeyOf(ask), variables })
  return json(startedBodyOf(ask, instance))
}

function businessKeyOf({ body }: SandboxRequest): string | null {
  return typeof body['businessKey'] === 'string' ? body['businessKey'] : null
}
