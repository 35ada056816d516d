import { publishedOperation } from './published/facts.ts'
import type { Operation } from './table.ts'

/**
 * The operations that agents get as tools if the configuration names no others: the daily work on tasks, instances, definitions,
 * incidents, jobs, external tasks and decisions, and the history of them. An agent reads the description of every tool, so the list is
 * short: it has one operation for each purpose, and none that deletes, deploys or changes many entities.
 */
export const DEFAULT_TOOLS: readonly string[] = [
  // Tasks
  'getTasks',
  'getTasksCount',
  'getTask',
  'getTaskVariables',
  'getFormVariables',
  'getComments',
  'createComment',
  'claim',
  'unclaim',
  'setAssignee',
  'complete',
  // Process instances
  'getProcessInstances',
  'getProcessInstancesCount',
  'getProcessInstance',
  'getActivityInstanceTree',
  'getProcessInstanceVariables',
  'setProcessInstanceVariable',
  'updateSuspensionStateById',
  'deliverMessage',
  // Definitions
  'getProcessDefinitions',
  'getProcessDefinition',
  'getProcessDefinitionBpmn20Xml',
  'getStartFormVariablesByKey',
  'startProcessInstanceByKey',
  'getDeployments',
  // Incidents and jobs
  'getIncidents',
  'getIncidentsCount',
  'setIncidentAnnotation',
  'getJobs',
  'getStacktrace',
  'setJobRetries',
  // External tasks
  'getExternalTasks',
  'getExternalTaskErrorDetails',
  'setExternalTaskResourceRetries',
  // Decisions
  'getDecisionDefinitions',
  'getDecisionDefinitionDmnXmlByKey',
  'evaluateDecisionByKey',
  // History
  'getHistoricProcessInstances',
  'getHistoricProcessInstance',
  'getHistoricActivityInstances',
  'getHistoricTaskInstances',
  'getHistoricVariableInstances',
  'getHistoricDecisionInstances',
  'getHistoricIncidents',
]

/**
 * Returns whether an operation can be a tool. The arguments of a tool are JSON, so an operation with a multipart body cannot. Neither
 * can one that no document publishes, because nothing describes its arguments, nor one that only lists links.
 */
export function isToolOperation({ id, method, media }: Pick<Operation, 'id' | 'method' | 'media'>): boolean {
  return method !== 'OPTIONS' && media !== 'multipart' && publishedOperation(id) !== null
}
