import { authorization } from './authorization.ts'
import { batch } from './batch.ts'
import { condition } from './condition.ts'
import { decisionDefinition } from './decision-definition.ts'
import { decisionRequirementsDefinition } from './decision-requirements-definition.ts'
import { deployment } from './deployment.ts'
import { engine } from './engine.ts'
import { eventSubscription } from './event-subscription.ts'
import { execution } from './execution.ts'
import { externalTask } from './external-task.ts'
import { filter } from './filter.ts'
import { group } from './group.ts'
import { historicActivityInstance } from './historic-activity-instance.ts'
import { historicBatch } from './historic-batch.ts'
import { historicDecisionDefinition } from './historic-decision-definition.ts'
import { historicDecisionInstance } from './historic-decision-instance.ts'
import { historicDecisionRequirementsDefinition } from './historic-decision-requirements-definition.ts'
import { historicDetail } from './historic-detail.ts'
import { historicExternalTaskLog } from './historic-external-task-log.ts'
import { historicIdentityLinkLog } from './historic-identity-link-log.ts'
import { historicIncident } from './historic-incident.ts'
import { historicJobLog } from './historic-job-log.ts'
import { historicProcessDefinition } from './historic-process-definition.ts'
import { historicProcessInstance } from './historic-process-instance.ts'
import { historicTaskInstance } from './historic-task-instance.ts'
import { historicUserOperationLog } from './historic-user-operation-log.ts'
import { historicVariableInstance } from './historic-variable-instance.ts'
import { historyCleanup } from './history-cleanup.ts'
import { identity } from './identity.ts'
import { incident } from './incident.ts'
import { job } from './job.ts'
import { jobDefinition } from './job-definition.ts'
import { message } from './message.ts'
import { metrics } from './metrics.ts'
import { migration } from './migration.ts'
import { modification } from './modification.ts'
import { newerEngines } from './newer-engines.ts'
import { processDefinition } from './process-definition.ts'
import { processInstance } from './process-instance.ts'
import { schemaLog } from './schema-log.ts'
import { signal } from './signal.ts'
import { task } from './task.ts'
import { taskAttachment } from './task-attachment.ts'
import { taskComment } from './task-comment.ts'
import { taskIdentityLink } from './task-identity-link.ts'
import { taskLocalVariable } from './task-local-variable.ts'
import { taskVariable } from './task-variable.ts'
import { telemetry } from './telemetry.ts'
import { tenant } from './tenant.ts'
import { user } from './user.ts'
import { variableInstance } from './variable-instance.ts'
import { version } from './version.ts'
import { type Operation, operationsOf } from './table.ts'

/** Every operation the gateway serves. What is not here does not exist. */
export const OPERATIONS: readonly Operation[] = operationsOf([
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
])
