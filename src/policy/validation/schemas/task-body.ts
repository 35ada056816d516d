import { boolean, date, integer, object, string } from './jackson.ts'
import type { ValidationRule } from './engine-error.ts'
import { membersOf } from './engine-error.ts'
import { delegationFinding } from './task-query-rules.ts'

/** Also the members that cannot be changed are read, and must be of their type. */
export const taskBody = object({
  id: string,
  name: string,
  assignee: string,
  created: date,
  due: date,
  followUp: date,
  lastUpdated: date,
  delegationState: string,
  description: string,
  executionId: string,
  owner: string,
  parentTaskId: string,
  priority: integer,
  processDefinitionId: string,
  processInstanceId: string,
  taskDefinitionKey: string,
  caseExecutionId: string,
  caseInstanceId: string,
  caseDefinitionId: string,
  suspended: boolean,
  formKey: string,
  tenantId: string,
  taskState: string,
})

/** The task is read, then changed, then saved: between the two permission checks. */
export const taskRules: readonly ValidationRule[] = [
  { after: 1, find: ({ body }) => delegationFinding(membersOf(body)['delegationState']) },
]
