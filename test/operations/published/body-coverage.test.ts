import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { publishedOperation } from '../../../src/operations/published/facts.ts'
import { isForEveryEngine, oddBodies, operationsWithBody } from '../../engine/published/odd-bodies.ts'
import { FAMILIES, releaseOf } from '../../engine/build.ts'

t.test('each operation with a published JSON body gets an odd body at an engine, in every run', async (t) => {
  const published = OPERATIONS.filter(({ id }) => {
    const { body, consumes } = publishedOperation(id) ?? {}
    return body != null && consumes === 'application/json'
  })
  const covered = new Set<string>()
  for (const family of FAMILIES) {
    const operations = operationsWithBody(releaseOf(family))
    const sent = oddBodies(operations).filter(isForEveryEngine)
    const ids = sent.map(({ operation }) => operation.id)
    t.same(ids.toSorted(), operations.map(({ id }) => id).toSorted(), family)
    for (const id of ids) covered.add(id)
  }
  t.ok(published.length > 100, `${published.length} operations`)
  t.same(
    published.filter(({ id }) => !covered.has(id)).map(({ id }) => id),
    [],
  )
})
