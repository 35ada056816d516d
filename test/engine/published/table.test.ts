import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { templateOf } from '../../operations/published/template-of.ts'
import { javaSkip } from '../../support/requirements.ts'
import { publishedOperations } from './openapi.ts'

/** The published operations of Camunda 7.22. The table also has a few operations of engines with more operations. */
const OURS = OPERATIONS.filter(({ only, unpublished }) => only === undefined && unpublished === undefined)
const published = javaSkip === false ? await publishedOperations() : []

t.test('the table of operations equals the published operations of the engine', { skip: javaSkip }, (t) => {
  const routes = published.map(({ method, path, operationId }) =>
    [method, templateOf(path), operationId].join(' '),
  )
  const ours = OURS.map(({ id, method, template }) => [method, template, id].join(' '))
  t.same(ours.toSorted(), routes.toSorted())
  t.end()
})

t.test('the table marks exactly the published operations without a body', { skip: javaSkip }, (t) => {
  const bodiless = published.filter(
    ({ method, hasBody }) => !hasBody && method !== 'GET' && method !== 'OPTIONS',
  )
  const rows = OURS.filter(({ media }) => media === 'none').map(({ id }) => id)
  t.same(rows.toSorted(), bodiless.map(({ operationId }) => operationId).toSorted())
  t.equal(rows.length, 38)
  t.end()
})

t.test('every write whose response has an id is marked in the table', { skip: javaSkip }, (t) => {
  const withId = published.filter(({ answered }) => answered.includes('id'))
  const named = new Map(OPERATIONS.map(({ id, effect, creates }) => [id, { effect, creates }]))
  const writes = withId.filter(({ operationId }) => named.get(operationId)?.effect === 'write')
  t.ok(writes.length > 30)
  t.same(
    writes.map(({ operationId }) => operationId).filter((id) => named.get(id)?.creates !== 'answer:id'),
    [],
  )
  t.end()
})
