import t from 'tap'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { exchange } from '../engine/exchange.ts'
import { nineteen } from '../engine/nineteen.ts'
import { asksOf } from './asks.ts'
import { membersOf } from './members.ts'

const instance = 'links id definitionId businessKey caseInstanceId ended suspended tenantId'
const authorization =
  'id type permissions userId groupId resourceType resourceId removalTime rootProcessInstanceId'
const task =
  'id name assignee created due followUp lastUpdated delegationState description executionId owner ' +
  'parentTaskId priority processDefinitionId processInstanceId taskDefinitionKey caseExecutionId caseInstanceId ' +
  'caseDefinitionId suspended formKey camundaFormRef tenantId taskState'
const log =
  'id timestamp removalTime externalTaskId topicName workerId priority retries errorMessage activityId ' +
  'activityInstanceId executionId processInstanceId processDefinitionId processDefinitionKey tenantId ' +
  'rootProcessInstanceId creationLog failureLog successLog deletionLog'
const job =
  'id jobDefinitionId processInstanceId processDefinitionId processDefinitionKey executionId exceptionMessage ' +
  'failedActivityId retries dueDate suspended priority tenantId createTime batchId'
const decision =
  'id decisionDefinitionId decisionDefinitionKey decisionDefinitionName evaluationTime removalTime ' +
  'processDefinitionId processDefinitionKey processInstanceId rootProcessInstanceId caseDefinitionId ' +
  'caseDefinitionKey caseInstanceId activityId activityInstanceId userId inputs outputs collectResultValue ' +
  'rootDecisionInstanceId decisionRequirementsDefinitionId decisionRequirementsDefinitionKey tenantId'
const input =
  'type value valueInfo id decisionInstanceId clauseId clauseName errorMessage createTime removalTime ' +
  'rootProcessInstanceId'
const output = `${input} ruleId ruleOrder variableName`
const comment = 'links id userId time taskId message removalTime rootProcessInstanceId processInstanceId'
const subscription = 'id eventType eventName executionId processInstanceId activityId createdDate tenantId'
const batch =
  'id type totalJobs jobsCreated batchJobsPerSeed invocationsPerBatchJob seedJobDefinitionId ' +
  'monitorJobDefinitionId batchJobDefinitionId suspended tenantId createUserId startTime executionStartTime'

/** The members of the objects in each response, by place. Null for a response without JSON. */
const recorded: Readonly<Record<string, Readonly<Record<string, string>> | null>> = {
  'POST /process-definition/key/{key}/submit-form': { '': instance, 'links[]': 'method href rel' },
  'POST /authorization/create': { '': authorization },
  'PUT /task/{id}': null,
  'POST /task': { '[]': task },
  'POST /history/external-task-log': { '[]': log },
  'POST /decision-definition/{id}/evaluate': {
    '[]': 'discount',
    '[].discount': 'type value valueInfo',
    '[].discount.valueInfo': '',
  },
  'POST /execution/{id}/signal': null,
  'POST /history/cleanup': { '': job },
  'GET /history/decision-instance/{id}': {
    '': decision,
    'inputs[]': input,
    'inputs[].valueInfo': '',
    'outputs[]': output,
    'outputs[].valueInfo': '',
  },
  'GET /process-instance/{id}/comment': { '[]': comment },
  'PUT /process-instance/{id}/variables/{varName}': null,
  'GET /task/report/candidate-group-count': { '[]': 'groupName taskCount' },
  'GET /process-definition/key/{key}/tenant-id/{tenant-id}/rendered-form': null,
  'GET /decision-definition/key/{key}/diagram': null,
  'GET /external-task/topic-names': {},
  'POST /signal': null,
  'GET /event-subscription': { '[]': subscription },
  'POST /migration/executeAsync': { '': batch },
  'POST /migration/execute': null,
}

const types: Readonly<Record<string, string>> = {
  'GET /process-definition/key/{key}/tenant-id/{tenant-id}/rendered-form': 'application/xhtml+xml',
  'GET /decision-definition/key/{key}/diagram': 'image/png',
}

for (const { operation, status } of nineteen) {
  void t.test(`${operation} returns the status, headers and members of the engine`, async (t) => {
    const sandbox = await startSandbox()
    t.teardown(() => sandbox.close())
    const ask = (await asksOf(sandbox.base))[operation]
    if (ask === undefined) throw new Error(`no request for ${operation}`)
    const answer = await exchange(sandbox.base, ask)
    t.equal(answer.status, status)
    const type = status === 204 ? null : (types[operation] ?? 'application/json')
    t.equal(answer.headers.get('content-type'), type)
    t.equal(answer.headers.get('cache-control'), ask.method === 'GET' ? 'no-cache' : null)
    t.equal(answer.headers.has('content-length'), status === 200)
    const members = recorded[operation] ?? null
    if (members !== null) t.same(membersOf(answer.body), sorted(members))
  })
}

function sorted(members: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(members).map(([place, names]) => [place, names.split(' ').sort().join(' ')]),
  )
}
