import type { Template, Templates } from './template.ts'
import { VARIABLES } from './template.ts'

const OF_TENANT: readonly Record<string, string>[] = [
  { key: '<pdkey.office>', tenantId: '<tenant.acme>' },
  { key: '<pdkey.mail>', tenantId: '<tenant.acme>' },
  { key: '<pdkey.*>', tenantId: '<tenant.*>' },
]
const DECISION_OF_TENANT: readonly Record<string, string>[] = [
  { key: '<ddkey.discount>', tenantId: '<tenant.acme>' },
  { key: '<ddkey.*>', tenantId: '<tenant.*>' },
]
const DRD_OF_TENANT: readonly Record<string, string>[] = [
  { key: '<drdkey.menu>', tenantId: '<tenant.acme>' },
  { key: '<drdkey.menu>', tenantId: '<tenant.globex>' },
]

const each = (params: readonly Record<string, string>[], template: Template = {}): readonly Template[] =>
  params.map((some) => ({ params: some, ...template }))

const SUM = { variables: { sum: { value: 1200, type: 'Integer' } } }
const START = { businessKey: 'started', variables: { pages: { value: 3, type: 'Long' } } }
const TTL = { historyTimeToLive: 30 }
const ACTIVE = { suspended: false, includeProcessInstances: false }
const ALL_ACTIVE = { suspended: false, includeProcessInstances: true }
const STARTED = { leaves: ['instance'] } as const
const BY_KEY = [{ key: '<pdkey.office>' }, { key: '<pdkey.review>' }, { key: '<pdkey.mail>' }]
/** Definitions that may be started and activated without damage to the world. */
const SOUND = [{ id: '<pd.office.1>' }, { id: '<pd.office.1.acme>' }, { id: '<pd.review.1>' }]

const byForm = (name: string, params: readonly Record<string, string>[], template: Template) => ({
  [name]: each(params, template),
})

export const definitions: Templates = {
  getProcessDefinitions: [
    {},
    { query: 'latestVersion=true' },
    { query: 'key=office' },
    { query: 'keysIn=office,review,mail' },
    { query: 'sortBy=key&sortOrder=asc&firstResult=1&maxResults=4&withoutTenantId=true&latestVersion=true' },
    { query: 'startablePermissionCheck=true' },
  ],
  getProcessDefinitionsCount: [{}, { query: 'latestVersion=true' }],
  getProcessDefinitionStatistics: [{}, { query: 'incidents=true' }],
  getActivityStatistics: [
    {},
    { query: 'failedJobs=true&incidents=true' },
    { params: { id: '<pd.broken.1>' }, query: 'failedJobs=true&incidentsForType=failedJob' },
    { params: { id: '<pd.external.1>' }, query: 'incidents=true' },
  ],
  getProcessDefinition: [{}],
  deleteProcessDefinition: [{ params: { id: '<new.pd>' }, uses: 'deployment', query: 'cascade=true' }],
  getStaticCalledProcessDefinitions: [{ params: { id: '<pd.caller.1>' } }, {}],
  ...byForm('updateHistoryTimeToLiveByProcessDefinitionId', SOUND, { body: TTL }),
  ...byForm('startProcessInstance', SOUND, { body: START, ...STARTED }),
  ...byForm('submitForm', SOUND, { body: START, ...STARTED }),
  updateProcessDefinitionSuspensionStateById: [
    ...each(SOUND, { body: ACTIVE }),
    ...each(SOUND, { body: ALL_ACTIVE }),
  ],
  restartProcessInstance: [
    {
      params: { id: '<pd.office.1>' },
      body: {
        processInstanceIds: ['<new.pi>'],
        instructions: [{ type: 'startBeforeActivity', activityId: 'desk' }],
      },
      uses: 'ended',
      ...STARTED,
    },
  ],
  restartProcessInstanceAsyncOperation: [
    {
      params: { id: '<pd.office.1>' },
      body: {
        processInstanceIds: ['<new.pi>'],
        instructions: [{ type: 'startBeforeActivity', activityId: 'desk' }],
      },
      uses: 'ended',
      leaves: ['batch'],
    },
  ],
  deleteAllProcessDefinitionsByKey: [
    { params: { key: 'versions' }, uses: 'versions' },
    { params: { key: 'versions' }, uses: 'versions', query: 'cascade=true&skipCustomListeners=true' },
  ],
  deleteAllProcessDefinitionsByKeyAndTenantId: [
    { params: { key: 'versions', tenantId: 'acme' }, uses: 'versions' },
    { params: { key: 'versions', tenantId: 'globex' }, uses: 'versions', query: 'cascade=true' },
    { params: { key: 'versions', tenantId: '<tenant.*>' }, uses: 'versions', query: 'skipIoMappings=true' },
  ],
  deleteProcessDefinitionsByKey: [{ params: { key: 'temp' }, uses: 'deployment', query: 'cascade=true' }],
  ...byForm('updateHistoryTimeToLiveByProcessDefinitionKey', BY_KEY, { body: TTL }),
  ...byForm('startProcessInstanceByKey', BY_KEY, { body: START, ...STARTED }),
  ...byForm('submitFormByKey', BY_KEY, { body: START, ...STARTED }),
  updateProcessDefinitionSuspensionStateByKey: [
    ...each(BY_KEY, { body: ACTIVE }),
    ...each(BY_KEY, { body: ALL_ACTIVE }),
  ],
  updateProcessDefinitionSuspensionState: [
    { body: { ...ACTIVE, processDefinitionKey: 'office' } },
    { body: { ...ALL_ACTIVE, processDefinitionKey: 'mail' } },
    { body: ACTIVE },
    { body: { ...ACTIVE, processDefinitionId: '<pd.office.1>' } },
  ],
  getLatestProcessDefinitionByTenantId: each(OF_TENANT),
  deleteProcessDefinitionsByKeyAndTenantId: [
    { params: { key: 'temp', tenantId: 'acme' }, uses: 'deploymentAcme', query: 'cascade=true' },
  ],
  getDeployedStartFormByKeyAndTenantId: each(OF_TENANT),
  getProcessDefinitionDiagramByKeyAndTenantId: each(OF_TENANT),
  getStartFormVariablesByKeyAndTenantId: each(OF_TENANT),
  ...byForm('updateHistoryTimeToLiveByProcessDefinitionKeyAndTenantId', OF_TENANT, { body: TTL }),
  getRenderedStartFormByKeyAndTenantId: each(OF_TENANT),
  ...byForm('startProcessInstanceByKeyAndTenantId', OF_TENANT.slice(0, 2), { body: START, ...STARTED }),
  getStartFormByKeyAndTenantId: each(OF_TENANT),
  getActivityStatisticsByProcessDefinitionKeyAndTenantId: each(OF_TENANT),
  ...byForm('submitFormByKeyAndTenantId', OF_TENANT.slice(0, 2), { body: START, ...STARTED }),
  updateProcessDefinitionSuspensionStateByKeyAndTenantId: [
    ...each(OF_TENANT.slice(0, 2), { body: ACTIVE }),
    ...each(OF_TENANT.slice(0, 2), { body: ALL_ACTIVE }),
  ],
  getProcessDefinitionBpmn20XmlByKeyAndTenantId: each(OF_TENANT),
  getDecisionDefinitions: [{}, { query: 'latestVersion=true' }, { query: 'key=discount' }],
  getDecisionDefinitionsCount: [{}],
  evaluateDecisionById: [
    { params: { id: '<dd.discount.1>' }, body: SUM },
    { params: { id: '<dd.*>' }, body: SUM },
  ],
  updateHistoryTimeToLiveByDecisionDefinitionId: [{ body: TTL }],
  evaluateDecisionByKey: [{ body: SUM }],
  updateHistoryTimeToLiveByDecisionDefinitionKey: [{ body: TTL }],
  getDecisionDefinitionByKeyAndTenantId: each(DECISION_OF_TENANT),
  getDecisionDefinitionDiagramByKeyAndTenant: each(DECISION_OF_TENANT),
  ...byForm('evaluateDecisionByKeyAndTenant', DECISION_OF_TENANT, { body: SUM }),
  ...byForm('updateHistoryTimeToLiveByDecisionDefinitionKeyAndTenant', DECISION_OF_TENANT, { body: TTL }),
  getDecisionDefinitionDmnXmlByKeyAndTenant: each(DECISION_OF_TENANT),
  getDecisionRequirementsDefinitionByKeyAndTenantId: each(DRD_OF_TENANT),
  getDecisionRequirementsDefinitionDiagramByKeyAndTenantId: each(DRD_OF_TENANT),
  getDecisionRequirementsDefinitionDmnXmlByKeyAndTenantId: each(DRD_OF_TENANT),
  getDeployments: [{}, { query: 'name=office' }, { query: 'withoutTenantId=true' }],
  getDeploymentsCount: [{}, { query: 'nameLike=%25of%25' }],
  deleteDeployment: [{ params: { id: '<new.deployment>' }, query: 'cascade=true', uses: 'deployment' }],
  redeploy: [
    { params: { id: '<new.deployment>' }, body: {}, uses: 'deployment', leaves: ['deployment', 'auth'] },
  ],
  getDeploymentResource: resources(),
  getDeploymentResourceData: resources(),
  createDeployment: [
    {
      form: [
        { name: 'deployment-name', value: 'made' },
        { name: 'note.txt', value: 'a note', file: 'note.txt', type: 'text/plain' },
      ],
      leaves: ['deployment', 'auth'],
    },
    {
      form: [
        { name: 'deployment-name', value: 'made' },
        { name: 'tenant-id', value: 'acme' },
        { name: 'note.txt', value: 'a note', file: 'note.txt', type: 'text/plain' },
      ],
      leaves: ['deployment', 'auth'],
    },
  ],
  evaluateCondition: [
    { body: { variables: { amount: { value: 20, type: 'Integer' } } }, ...STARTED },
    { body: { variables: { amount: { value: 2, type: 'Integer' } } }, ...STARTED },
    {
      body: {
        variables: { amount: { value: 20, type: 'Integer' } },
        processDefinitionId: '<pd.byCondition.1>',
      },
      ...STARTED,
    },
    { body: { ...VARIABLES, processDefinitionId: 'nosuch' }, ...STARTED },
  ],
}

function resources(): readonly Template[] {
  return each([
    { id: '<deployment.office>', resourceId: '<resource.office.office.bpmn>' },
    { id: '<deployment.office.acme>', resourceId: '<resource.office.acme.start.html>' },
    { id: '<deployment.discount>', resourceId: '<resource.discount.discount.png>' },
    { id: '<deployment.discount>', resourceId: '<resource.*>' },
  ])
}
