import type { Template, Templates } from './template.ts'
import { uploadOf, VARIABLES } from './template.ts'

const TASK = { id: '<new.task>' }
const onTask = (template: Template): readonly Template[] => [
  { uses: 'task', ...template, params: { ...TASK, ...template.params } },
]
const VALUE = { value: 2, type: 'Long' }
const MODIFIED = { modifications: { pages: VALUE }, deletions: [] }

const QUERIES = [
  {},
  { processDefinitionKey: 'office' },
  { processDefinitionKeyIn: ['office', 'review'] },
  { assignee: 'anna' },
  { candidateGroup: 'editors' },
  { taskIdIn: ['<task.*>', '<task.alone-1>'] },
  { processInstanceId: '<pi.*>' },
  { orQueries: [{ assignee: 'anna', candidateGroups: ['readers'], includeAssignedTasks: true }] },
  // Camunda 7.22 ignores this member. Newer engines do not ignore it.
  { taskDefinitionKeyNotIn: ['desk'] },
]
const LISTS: readonly Template[] = QUERIES.map((body) => ({ body }))
const GETS: readonly Template[] = [
  '',
  'processDefinitionKey=office',
  'processDefinitionKeyIn=office,review',
  'assignee=anna',
  'candidateGroup=editors',
  'taskIdIn=<task.*>,<task.alone-1>',
  'unassigned=true',
  'taskDefinitionKeyNotIn=desk',
  'unknown=1',
].map((query) => ({ query }))

const variables = (suffix: 'TaskVariable' | 'TaskLocalVariable', local: string): Templates => ({
  [`get${suffix}s`]: [{}],
  [`modify${suffix}s`]: onTask({ body: MODIFIED, keeps: true }),
  [`get${suffix}`]: [
    { params: { id: '<task.office-1.At-the-desk>', varName: local } },
    { params: { id: '<task.*>', varName: 'pages' } },
  ],
  [`put${suffix}`]: onTask({ params: { varName: 'mine' }, body: VALUE, keeps: true }),
  [`delete${suffix}`]: onTask({ params: { varName: 'nothing' }, keeps: true }),
  [`get${suffix}Binary`]: [
    { params: { id: '<task.office-1.At-the-desk>', varName: 'file' } },
    { params: { id: '<task.*>', varName: 'pages' } },
  ],
  [`setBinary${suffix}`]: onTask({ params: { varName: 'upload' }, form: uploadOf(), keeps: true }),
})

const FILTERS = [{ params: { id: '<filter.*>' } }, { params: { id: '<filter.single>' } }]

export const tasks: Templates = {
  getTasks: [...GETS, { query: 'sortBy=name&sortOrder=asc&firstResult=1&maxResults=2&nameLike=%25alone%25' }],
  queryTasks: [
    ...LISTS,
    {
      query: 'firstResult=0&maxResults=2',
      body: { nameLike: '%alone%', sorting: [{ sortBy: 'name', sortOrder: 'desc' }] },
    },
  ],
  getTasksCount: GETS,
  queryTasksCount: LISTS,
  getTask: [{}],
  updateTask: onTask({
    body: {
      name: 'new',
      description: null,
      priority: 70,
      assignee: 'carl',
      due: '2031-05-02T08:00:00.000+0000',
    },
  }),
  deleteTask: onTask({}),
  setAssignee: onTask({ body: { userId: 'carl' } }),
  handleBpmnError: onTask({ body: { errorCode: 'stop', errorMessage: 'stopped' } }),
  handleEscalation: onTask({ body: { escalationCode: 'raise' } }),
  claim: onTask({ body: { userId: 'carl' } }),
  complete: onTask({ body: VARIABLES }),
  delegateTask: onTask({ body: { userId: 'carl' } }),
  resolve: onTask({ body: {} }),
  submit: onTask({ body: VARIABLES }),
  unclaim: onTask({}),
  createTask: [
    { body: { name: 'made' }, leaves: ['task'] },
    { body: { name: 'made', tenantId: 'acme', assignee: 'carl' }, leaves: ['task'] },
  ],
  getTaskCountByCandidateGroup: [{}],
  getAttachments: [
    { params: { id: '<task.office-1.At-the-desk>' } },
    {},
    { params: { id: '<endedtask.*>' } },
  ],
  getAttachment: [
    { params: { id: '<task.office-1.At-the-desk>', attachmentId: '<attachment.office-1>' } },
    { params: { id: '<task.*>', attachmentId: '<attachment.*>' } },
  ],
  getAttachmentData: [
    { params: { id: '<task.office-1.At-the-desk>', attachmentId: '<attachment.office-1>' } },
    { params: { id: '<task.*>', attachmentId: '<attachment.*>' } },
  ],
  deleteAttachment: [{ params: { id: '<new.task>', attachmentId: '<new.attachment>' }, uses: 'attached' }],
  addAttachment: onTask({
    form: [
      { name: 'attachment-name', value: 'added' },
      { name: 'content', value: 'added', file: 'added.txt', type: 'text/plain' },
    ],
    keeps: true,
  }),
  getComments: [{ params: { id: '<task.office-1.At-the-desk>' } }, {}, { params: { id: '<endedtask.*>' } }],
  getComment: [
    { params: { id: '<task.office-1.At-the-desk>', commentId: '<comment.office-1>' } },
    { params: { id: '<task.*>', commentId: '<comment.*>' } },
  ],
  createComment: onTask({ body: { message: 'a comment' }, keeps: true }),
  getIdentityLinks: [{}, { query: 'type=candidate' }],
  addIdentityLink: onTask({ body: { userId: 'carl', groupId: null, type: 'candidate' } }),
  deleteIdentityLink: onTask({ body: { userId: 'carl', groupId: null, type: 'candidate' }, keeps: true }),
  ...variables('TaskVariable', 'colour'),
  ...variables('TaskLocalVariable', 'note'),
  getFilterList: [{}, { query: 'name=all' }, { query: 'itemCount=true' }],
  getFilterCount: [{}],
  filterResourceOptions: [{}],
  filterResourceOptionsSingle: [{}],
  updateFilter: [
    {
      params: { id: '<new.filter>' },
      body: { name: 'new', resourceType: 'Task', owner: null, query: {}, properties: {} },
      uses: 'filter',
      keeps: true,
    },
  ],
  deleteFilter: [{ params: { id: '<new.filter>' }, uses: 'filter' }],
  createFilter: [
    {
      body: { name: 'made', resourceType: 'Task', owner: null, query: {}, properties: {} },
      leaves: ['filter', 'auth'],
    },
    {
      body: { name: 'made', resourceType: 'Task', owner: 'carl', query: {}, properties: {} },
      leaves: ['filter', 'auth'],
    },
  ],
  getSingleFilter: [{}, { query: 'itemCount=true' }],
  executeFilterCount: FILTERS,
  executeFilterList: FILTERS,
  executeFilterSingleResult: FILTERS,
  postExecuteFilterCount: FILTERS.map((filter) => ({ ...filter, body: { processDefinitionKey: 'office' } })),
  postExecuteFilterList: FILTERS.map((filter) => ({ ...filter, body: {} })),
  postExecuteFilterSingleResult: FILTERS.map((filter) => ({ ...filter, body: {} })),
}
