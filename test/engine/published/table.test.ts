import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { javaSkip } from '../../support/requirements.ts'
import { publishedOperations } from './openapi.ts'

/** What Camunda 7.22 has; a few rows are for engines that have more. */
const OURS = OPERATIONS.filter(({ only, unpublished }) => only === undefined && unpublished === undefined)
const published = javaSkip === false ? await publishedOperations() : []

t.test('the table holds exactly the operations that the engine publishes', { skip: javaSkip }, (t) => {
  const routes = published.map(({ method, path, operationId }) =>
    [method, path.replace(/\{([^}]+)\}/g, (_, name: string) => `:${camelCase(name)}`), operationId].join(' '),
  )
  const ours = OURS.map(({ id, method, template }) => [method, template, id].join(' '))
  t.same(ours.toSorted(), routes.toSorted())
  t.end()
})

t.test('it says of those, and only of those, that they take no body', { skip: javaSkip }, (t) => {
  const bodiless = published.filter(
    ({ method, hasBody }) => !hasBody && method !== 'GET' && method !== 'OPTIONS',
  )
  const rows = OURS.filter(({ media }) => media === 'none').map(({ id }) => id)
  t.same(rows.toSorted(), bodiless.map(({ operationId }) => operationId).toSorted())
  t.equal(rows.length, 38)
  t.end()
})

t.test('every write whose answer has an id says so', { skip: javaSkip }, (t) => {
  const withId = published.filter(({ answered }) => answered.includes('id'))
  const named = new Map(OPERATIONS.map(({ id, retry, creates }) => [id, { retry, creates }]))
  const writes = withId.filter(({ operationId }) => named.get(operationId)?.retry === 'unsent')
  t.ok(writes.length > 30)
  t.same(
    writes.map(({ operationId }) => operationId).filter((id) => named.get(id)?.creates !== 'answer:id'),
    [],
  )
  t.end()
})

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
