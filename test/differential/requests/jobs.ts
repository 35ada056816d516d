import type { Template, Templates } from './template.ts'

const JOB = { id: '<new.job>' }
const EXTERN = { id: '<new.extern>' }
const DEFINITIONS = [
  { id: '<jobdef.mail.1.send.async-continuation.async-before>' },
  { id: '<jobdef.mail.1.acme.send.async-continuation.async-before>' },
]

const onJob = (template: Template): readonly Template[] => [{ params: JOB, uses: 'job', ...template }]
/** Returns a request for a job that belongs to a batch and to no definition. */
const onSeed = (template: Template): readonly Template[] => [
  { params: { id: '<new.seedjob>' }, uses: 'batch', leaves: ['batch', 'instance'], ...template },
]
const onExtern = (template: Template): readonly Template[] => [
  { params: EXTERN, uses: 'extern', ...template },
]
const onDefinition = (body: unknown): readonly Template[] => DEFINITIONS.map((params) => ({ params, body }))

const LISTS = ['', 'processInstanceId=<pi.mail-1>', 'processDefinitionKey=mail'].map((query) => ({ query }))
const POSTS = [{}, { processDefinitionKey: 'mail' }, { processInstanceId: '<pi.*>' }].map((body) => ({
  body,
}))
const ACTIVE = { suspended: false, includeJobs: true }
const WORKER = { workerId: 'worker' }

export const jobs: Templates = {
  getJobs: [...LISTS, { query: 'withException=true' }],
  queryJobs: POSTS,
  getJobsCount: LISTS,
  queryJobsCount: POSTS,
  deleteJob: [...onJob({}), ...onSeed({})],
  setJobDuedate: onJob({ body: { duedate: '2035-01-01T00:00:00.000+0000', cascade: false }, keeps: true }),
  recalculateDuedate: [{ params: JOB, uses: 'timer', keeps: true }],
  executeJob: [...onJob({}), ...onSeed({})],
  setJobPriority: onJob({ body: { priority: 3 }, keeps: true }),
  setJobRetries: [...onJob({ body: { retries: 2 } }), ...onSeed({ body: { retries: 2 } })],
  updateJobSuspensionState: onJob({ body: { suspended: false }, keeps: true }),
  setJobRetriesAsyncOperation: [
    { body: { jobIds: ['<new.job>'], retries: 2 }, uses: 'job', leaves: ['batch'] },
    { body: { jobQuery: { processDefinitionKey: 'mail' }, retries: 2 }, leaves: ['batch'] },
  ],
  updateSuspensionStateBy: [
    { body: { suspended: false, processInstanceId: '<new.pi>' }, uses: 'job', keeps: true },
    { body: { suspended: false, processDefinitionId: '<pd.mail.1>' } },
    { body: { suspended: false, processDefinitionKey: 'mail' } },
    { body: { suspended: false, processDefinitionId: '<pd.mail.1.acme>' } },
    { body: { suspended: false, jobDefinitionId: DEFINITIONS[1]?.id } },
    { body: { suspended: false, jobDefinitionId: DEFINITIONS[0]?.id } },
  ],
  getJobDefinitions: [{}, { query: 'processDefinitionKey=mail' }, { query: 'active=true' }],
  queryJobDefinitions: [{ body: {} }, { body: { processDefinitionKey: 'timed' } }],
  getJobDefinitionsCount: [{}],
  queryJobDefinitionsCount: [{ body: {} }],
  setJobPriorityJobDefinition: [
    ...onDefinition({ priority: 0, includeJobs: false }),
    ...onDefinition({ priority: 0, includeJobs: true }),
  ],
  setJobRetriesJobDefinition: onDefinition({ retries: 3 }),
  updateSuspensionStateJobDefinition: [...onDefinition({ suspended: false }), ...onDefinition(ACTIVE)],
  updateSuspensionStateJobDefinitions: [
    { body: { suspended: false, processDefinitionKey: 'mail' } },
    { body: { ...ACTIVE, processDefinitionKey: 'mail' } },
    { body: { ...ACTIVE, processDefinitionId: '<pd.mail.1>' } },
    { body: { ...ACTIVE, processDefinitionId: '<pd.mail.1.acme>' } },
    { body: ACTIVE },
  ],
  getExternalTasks: [{}, { query: 'topicName=work' }, { query: 'processInstanceId=<pi.external-1>' }],
  queryExternalTasks: [{ body: {} }, { body: { processDefinitionKey: 'external' } }],
  getExternalTasksCount: [{}, { query: 'locked=true' }],
  queryExternalTasksCount: [{ body: {} }],
  handleExternalTaskBpmnError: onExtern({ body: { ...WORKER, errorCode: 'stop' } }),
  completeExternalTaskResource: onExtern({ body: WORKER }),
  extendLock: onExtern({ body: { ...WORKER, newDuration: 600_000 }, keeps: true }),
  handleFailure: onExtern({ body: { ...WORKER, errorMessage: 'failed', retries: 2, retryTimeout: 10 } }),
  lock: onExtern({ body: { ...WORKER, lockDuration: 600_000 }, keeps: true }),
  setExternalTaskResourcePriority: onExtern({ body: { priority: 7 }, keeps: true }),
  setExternalTaskResourceRetries: onExtern({ body: { retries: 4 }, keeps: true }),
  unlock: onExtern({ body: {} }),
  fetchAndLock: [
    {
      body: { workerId: 'fetcher', maxTasks: 10, topics: [{ topicName: 'work', lockDuration: 600_000 }] },
      leaves: ['locks'],
    },
    { body: { workerId: 'fetcher', maxTasks: 10, topics: [{ topicName: 'nosuch', lockDuration: 1000 }] } },
  ],
  setExternalTaskRetries: [
    { body: { retries: 8, externalTaskIds: ['<new.extern>'] }, uses: 'extern', keeps: true },
    { body: { retries: 8, processInstanceIds: ['<new.pi>'] }, uses: 'extern', keeps: true },
  ],
  setExternalTaskRetriesAsyncOperation: [
    { body: { retries: 8, externalTaskIds: ['<new.extern>'] }, uses: 'extern', leaves: ['batch'] },
  ],
  getTopicNames: [{}, { query: 'withLockedTasks=true' }],
}
