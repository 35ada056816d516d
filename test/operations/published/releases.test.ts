import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { RELEASES, releasesOf } from '../../../src/operations/published/releases.ts'

t.test('the comment operations exist in every known release but Camunda 7.22', (t) => {
  const later = RELEASES.filter((release) => release !== 'Camunda 7.22')
  t.same(releasesOf('updateTaskComment'), later)
  const ids = OPERATIONS.filter(({ only }) => only?.length === later.length).map(({ id }) => id)
  t.same(ids.toSorted(), [
    'deleteProcessInstanceComment',
    'deleteProcessInstanceComments',
    'deleteTaskComment',
    'deleteTaskComments',
    'updateProcessInstanceComment',
    'updateTaskComment',
  ])
  t.end()
})

t.test('an operation that all documents publish, or none, has no list of releases', (t) => {
  t.equal(releasesOf('getTask'), null)
  t.equal(releasesOf('getConfiguration'), null)
  t.end()
})
