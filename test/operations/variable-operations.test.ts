import t from 'tap'
import { variableOperations } from '../../src/operations/variable-operations.ts'

const OPERATIONS = {
  list: 'list',
  modify: 'modify',
  get: 'get',
  put: { id: 'put', body: 'VariableValueDto' },
  remove: 'remove',
  getData: 'getData',
  postData: 'postData',
} as const

t.test('variables have seven operations, and one of them may have a field of its own', (t) => {
  const entries = Object.fromEntries(
    variableOperations({ path: '/task/:id/variables', entity: 'task', operations: OPERATIONS }),
  )
  t.same(
    Object.entries(entries).map(([id, { route, body }]) => [id, route, body]),
    [
      ['list', 'GET /task/:id/variables', undefined],
      ['modify', 'POST /task/:id/variables', undefined],
      ['get', 'GET /task/:id/variables/:varName', undefined],
      ['put', 'PUT /task/:id/variables/:varName', 'VariableValueDto'],
      ['remove', 'DELETE /task/:id/variables/:varName', 'none'],
      ['getData', 'GET /task/:id/variables/:varName/data', undefined],
      ['postData', 'POST /task/:id/variables/:varName/data', 'multipart'],
    ],
  )
  t.end()
})

t.test('reading variables requires READ, and changing them UPDATE_VARIABLE or UPDATE', (t) => {
  const entries = Object.fromEntries(
    variableOperations({ path: '/execution/:id/variables', entity: 'execution', operations: OPERATIONS }),
  )
  for (const id of ['list', 'get', 'getData'])
    t.match(entries[id]?.checks, [
      {
        anyOf: ['PROCESS_INSTANCE.READ execution.processInstanceId', String],
        reads: 'variables',
        denied: 403,
      },
    ])
  for (const id of ['modify', 'put', 'remove', 'postData']) {
    const [check, ...others] = entries[id]?.checks ?? []
    t.match(check?.anyOf, [
      'PROCESS_INSTANCE.UPDATE_VARIABLE execution.processInstanceId',
      'PROCESS_DEFINITION.UPDATE_INSTANCE_VARIABLE execution.processDefinitionKey',
      'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
      'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
    ])
    t.same([check?.reads, others], [undefined, []])
  }
  t.end()
})

t.test('the messages name the entity as the resource of the API calls it', (t) => {
  const entries = Object.fromEntries(
    variableOperations({
      path: '/process-instance/:id/variables',
      entity: 'execution',
      name: 'process instance',
      operations: OPERATIONS,
    }),
  )
  t.match(entries['modify'], {
    notFound:
      "500 RestException 0: Cannot modify variables for process instance {id}: execution {id} doesn't exist: execution is null",
    crossTenant:
      "500 RestException 0: Cannot modify variables for process instance {id}: ENGINE-13034 Cannot update the process instance '{id}' because it belongs to no authenticated tenant.",
  })
  t.end()
})
