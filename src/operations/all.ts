import { authorization } from './tags/authorization.ts'
import { batch } from './tags/batch.ts'
import { condition } from './tags/condition.ts'
import { decisionDefinition } from './tags/decision-definition.ts'
import { decisionRequirementsDefinition } from './tags/decision-requirements-definition.ts'
import { deployment } from './tags/deployment.ts'
import { engine } from './tags/engine.ts'
import { eventSubscription } from './tags/event-subscription.ts'
import { execution } from './tags/execution.ts'
import { externalTask } from './tags/external-task.ts'
import { filter } from './tags/filter.ts'
import { forks } from './tags/forks.ts'
import { group } from './tags/group.ts'
import { historicActivityInstance } from './tags/historic-activity-instance.ts'
import { historicBatch } from './tags/historic-batch.ts'
import { historicDecisionDefinition } from './tags/historic-decision-definition.ts'
import { historicDecisionInstance } from './tags/historic-decision-instance.ts'
import { historicDecisionRequirementsDefinition } from './tags/historic-decision-requirements-definition.ts'
import { historicDetail } from './tags/historic-detail.ts'
import { historicExternalTaskLog } from './tags/historic-external-task-log.ts'
import { historicIdentityLinkLog } from './tags/historic-identity-link-log.ts'
import { historicIncident } from './tags/historic-incident.ts'
import { historicJobLog } from './tags/historic-job-log.ts'
import { historicProcessDefinition } from './tags/historic-process-definition.ts'
import { historicProcessInstance } from './tags/historic-process-instance.ts'
import { historicTaskInstance } from './tags/historic-task-instance.ts'
import { historicUserOperationLog } from './tags/historic-user-operation-log.ts'
import { historicVariableInstance } from './tags/historic-variable-instance.ts'
import { historyCleanup } from './tags/history-cleanup.ts'
import { identity } from './tags/identity.ts'
import { incident } from './tags/incident.ts'
import { job } from './tags/job.ts'
import { jobDefinition } from './tags/job-definition.ts'
import { message } from './tags/message.ts'
import { metrics } from './tags/metrics.ts'
import { migration } from './tags/migration.ts'
import { modification } from './tags/modification.ts'
import { newerEngines } from './tags/newer-engines.ts'
import { processDefinition } from './tags/process-definition.ts'
import { processInstance } from './tags/process-instance.ts'
import { schemaLog } from './tags/schema-log.ts'
import { signal } from './tags/signal.ts'
import { task } from './tags/task.ts'
import { taskAttachment } from './tags/task-attachment.ts'
import { taskComment } from './tags/task-comment.ts'
import { taskIdentityLink } from './tags/task-identity-link.ts'
import { taskLocalVariable } from './tags/task-local-variable.ts'
import { taskVariable } from './tags/task-variable.ts'
import { telemetry } from './tags/telemetry.ts'
import { tenant } from './tags/tenant.ts'
import { user } from './tags/user.ts'
import { variableInstance } from './tags/variable-instance.ts'
import { version } from './tags/version.ts'
import { type Operation } from './table.ts'
import { operationsOf } from './compile-table.ts'

/** All operations that the gateway serves. A request for any other operation is refused. */
export const OPERATIONS: readonly Operation[] = operationsOf({
  authorization,
  batch,
  condition,
  decisionDefinition,
  decisionRequirementsDefinition,
  deployment,
  engine,
  eventSubscription,
  execution,
  externalTask,
  filter,
  forks,
  group,
  historicActivityInstance,
  historicBatch,
  historicDecisionDefinition,
  historicDecisionInstance,
  historicDecisionRequirementsDefinition,
  historicDetail,
  historicExternalTaskLog,
  historicIdentityLinkLog,
  historicIncident,
  historicJobLog,
  historicProcessDefinition,
  historicProcessInstance,
  historicTaskInstance,
  historicUserOperationLog,
  historicVariableInstance,
  historyCleanup,
  identity,
  incident,
  job,
  jobDefinition,
  message,
  metrics,
  migration,
  modification,
  newerEngines,
  processDefinition,
  processInstance,
  schemaLog,
  signal,
  task,
  taskAttachment,
  taskComment,
  taskIdentityLink,
  taskLocalVariable,
  taskVariable,
  telemetry,
  tenant,
  user,
  variableInstance,
  version,
})
