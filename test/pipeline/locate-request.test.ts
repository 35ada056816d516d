import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { requireOperation } from '../../src/pipeline/locate-request.ts'

const [comment, configuration, task] = ['updateTaskComment', 'getConfiguration', 'getTask'].map((id) =>
  OPERATIONS.find((operation) => operation.id === id),
)

t.test('an operation that the release lacks is refused with its name, its path and the release', (t) => {
  if (comment === undefined) throw new Error('the table lacks the operation')
  t.throws(() => requireOperation(comment, 'Camunda 7.22'), {
    code: 'GW_OPERATION_MISSING',
    statusCode: 404,
    message: 'Camunda 7.22 does not have the operation updateTaskComment (PUT /task/{id}/comment)',
  })
  t.end()
})

t.test('an operation passes if the release has it, if all have it, and if the release is not known', (t) => {
  if (comment === undefined || configuration === undefined || task === undefined) throw new Error('none')
  for (const release of ['Camunda 7.23', 'Camunda 7.24', 'Operaton 1.0', 'Fluxnova 2.0', 'OrqueIO'] as const)
    t.doesNotThrow(() => requireOperation(comment, release), release)
  t.doesNotThrow(() => requireOperation(task, 'Camunda 7.22'))
  t.doesNotThrow(() => requireOperation(configuration, 'CIB seven 2.2'))
  t.throws(() => requireOperation(configuration, 'Operaton 2.1'), { code: 'GW_OPERATION_MISSING' })
  t.doesNotThrow(() => requireOperation(configuration, null))
  t.end()
})
