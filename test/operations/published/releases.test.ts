import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { isWithin, RELEASES, releasesOf, withClassNames } from '../../../src/operations/published/releases.ts'

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

t.test('versions are compared as numbers', (t) => {
  for (const [version, since, until, expected] of [
    ['7.10', '7.9', null, true],
    ['7.9', '7.10', null, false],
    ['7.10', null, '7.9', false],
    ['7.9', null, '7.10', true],
    ['8.0', '7.24', null, true],
    ['7.24', null, '8.0', true],
    ['7.23', '7.23', '7.23', true],
    ['7.2', null, null, true],
  ] as const)
    t.equal(isWithin(version, { since, until }), expected, `${version} in ${since} to ${until}`)
  t.end()
})

t.test('only a class at the start of a message gets the name of the release', (t) => {
  const message = 'org.camunda.bpm.engine.AuthorizationException: no READ on org.camunda.bpm.x'
  const renamed = 'org.operaton.bpm.engine.AuthorizationException: no READ on org.camunda.bpm.x'
  t.equal(withClassNames(message, 'Operaton 1.0'), renamed)
  t.equal(withClassNames(message, 'Camunda 7.24'), message)
  t.equal(withClassNames('No org.camunda.bpm.x', 'Operaton 1.0'), 'No org.camunda.bpm.x')
  t.equal(withClassNames('org.camunda.bpmx', 'Operaton 1.0'), 'org.camunda.bpmx')
  t.end()
})
