import { authorization } from './rows/authorization.ts'
import { batch } from './rows/batch.ts'
import { condition } from './rows/condition.ts'
import { decisionDefinition } from './rows/decision-definition.ts'
import { decisionRequirementsDefinition } from './rows/decision-requirements-definition.ts'
import { deployment } from './rows/deployment.ts'
import { engine } from './rows/engine.ts'
import { eventSubscription } from './rows/event-subscription.ts'
import { execution } from './rows/execution.ts'
import { externalTask } from './rows/external-task.ts'
import { filter } from './rows/filter.ts'
import { forks } from './rows/forks.ts'
import { group } from './rows/group.ts'
import { historicActivityInstance } from './rows/historic-activity-instance.ts'
import { historicBatch } from './rows/historic-batch.ts'
import { historicDecisionDefinition } from './rows/historic-decision-definition.ts'
import { historicDecisionInstance } from './rows/historic-decision-instance.ts'
import { historicDecisionRequirementsDefinition } from './rows/historic-decision-requirements-definition.ts'
import { historicDetail } from './rows/historic-detail.ts'
import { historicExternalTaskLog } from './rows/historic-external-task-log.ts'
import { historicIdentityLinkLog } from './rows/historic-identity-link-log.ts'
import { historicIncident } from './rows/historic-incident.ts'
import { historicJobLog } from './rows/historic-job-log.ts'
import { historicProcessDefinition } from './rows/historic-process-definition.ts'
import { historicProcessInstance } from './rows/historic-process-instance.ts'
import { historicTaskInstance } from './rows/historic-task-instance.ts'
import { historicUserOperationLog } from './rows/historic-user-operation-log.ts'
import { historicVariableInstance } from './rows/historic-variable-instance.ts'
import { historyCleanup } from './rows/history-cleanup.ts'
import { identity } from './rows/identity.ts'
import { incident } from './rows/incident.ts'
import { job } from './rows/job.ts'
import { jobDefinition } from './rows/job-definition.ts'
import { message } from './rows/message.ts'
import { metrics } from './rows/metrics.ts'
import { migration } from './rows/migration.ts'
import { modification } from './rows/modification.ts'
import { newerEngines } from './rows/newer-engines.ts'
import { processDefinition } from './rows/process-definition.ts'
import { processInstance } from './rows/process-instance.ts'
import { schemaLog } from './rows/schema-log.ts'
import { signal } from './rows/signal.ts'
import { task } from './rows/task.ts'
import { taskAttachment } from './rows/task-attachment.ts'
import { taskComment } from './rows/task-comment.ts'
import { taskIdentityLink } from './rows/task-identity-link.ts'
import { taskLocalVariable } from './rows/task-local-variable.ts'
import { taskVariable } from './rows/task-variable.ts'
import { telemetry } from './rows/telemetry.ts'
import { tenant } from './rows/tenant.ts'
import { user } from './rows/user.ts'
import { variableInstance } from './rows/variable-instance.ts'
import { version } from './rows/version.ts'
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
