import { formOf } from '../world.ts'
import { job } from '../models.ts'
import type { NamedTemplate } from './candidates.ts'

/** Returns the names of what a creator's requests create. */
export const createdBy = (index: number) =>
  ({ filter: `made.filter.${index}`, deployment: `made.deployment.${index}` }) as const

/** Returns requests that create a filter and a deployment. */
export function creations(index: number): readonly NamedTemplate[] {
  const { filter, deployment } = createdBy(index)
  const body = { resourceType: 'Task', name: `made-${index}`, owner: '@user', properties: {} }
  const files = { [`made${index}.bpmn`]: job(`made${index}`, '${true}') }
  return [
    {
      operationId: 'createFilter',
      body: { ...body, query: { processDefinitionKey: 'office' } },
      defines: filter,
    },
    { operationId: 'createDeployment', form: formOf({ name: `made-${index}`, files }), defines: deployment },
  ]
}

/** Returns requests that read, execute and change a created filter and deployment. The names may be those of another creator. */
export function usesOf(index: number): readonly NamedTemplate[] {
  const created = createdBy(index)
  const [filter, deployment] = [{ id: `<${created.filter}>` }, { id: `<${created.deployment}>` }]
  const changed = { resourceType: 'Task', name: `changed-${index}`, query: {}, properties: {} }
  return [
    ...['getSingleFilter', 'executeFilterCount', 'executeFilterList', 'executeFilterSingleResult'].map(
      (operationId) => ({ operationId, params: filter }),
    ),
    { operationId: 'postExecuteFilterCount', params: filter, body: { candidateUser: '@user' } },
    { operationId: 'postExecuteFilterList', params: filter, body: {} },
    { operationId: 'filterResourceOptionsSingle', params: filter },
    { operationId: 'getFilterList', query: 'itemCount=true' },
    { operationId: 'getFilterCount' },
    { operationId: 'queryAuthorizations', query: 'resourceType=5&userIdIn=@user' },
    { operationId: 'queryAuthorizations', query: 'resourceType=9&userIdIn=@user' },
    { operationId: 'updateFilter', params: filter, body: { ...changed, owner: `user${index}` } },
    { operationId: 'getDeployment', params: deployment },
    { operationId: 'getDeploymentResources', params: deployment },
    { operationId: 'getDeployments', query: 'nameLike=made-%25' },
    { operationId: 'getDeploymentsCount', query: 'nameLike=made-%25' },
    { operationId: 'getProcessDefinitions', query: `key=made${index}` },
    { operationId: 'redeploy', params: deployment, body: {} },
  ]
}

/** Returns requests that delete a created filter and deployment. */
export function deletions(index: number): readonly NamedTemplate[] {
  const created = createdBy(index)
  return [
    { operationId: 'deleteFilter', params: { id: `<${created.filter}>` } },
    { operationId: 'deleteDeployment', params: { id: `<${created.deployment}>` }, query: 'cascade=true' },
  ]
}
