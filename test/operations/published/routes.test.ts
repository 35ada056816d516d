import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { PUBLISHED_IDS, publishedOperation } from '../../../src/operations/published/facts.ts'
import type { Method } from '../../../src/operations/table.ts'
import { openRouter } from '../../support/open-router.ts'
import { FORK_ROUTES } from './fork-routes.ts'
import { templateOf } from './template-of.ts'

/** The ids that the table cannot use, because two forks give different ids to one operation, or one id to different operations. */
const OTHER_IDS: Readonly<Record<string, string>> = {
  'CIB seven deleteDeploymentsAsyncOperation': 'deleteDeployments',
  'Fluxnova getConfiguration': 'getConfigurationById',
}

/** The operations of the table that each fork has, and that no document of Camunda publishes. */
const OF_FORKS = Object.entries(FORK_ROUTES).map(([family, routes]) => {
  const entries = Object.entries(routes).map(([id, route]) => ({
    id: OTHER_IDS[`${family} ${id}`] ?? id,
    route,
  }))
  return { family, entries }
})

const PUBLISHED = PUBLISHED_IDS.map((id) => ({ id, route: publishedOperation(id)?.route ?? '' }))

const matched = await openRouter(t)

// A static path without an entry would be read as that of an entity: `self` as the id of an authorization.
for (const { family, entries } of [{ family: 'Camunda', entries: PUBLISHED }, ...OF_FORKS])
  t.test(`every published path of ${family} leads to its own entry`, async (t) => {
    for (const { id, route } of entries) {
      const [method = '', path = ''] = route.split(' ')
      const template = templateOf(path)
      const found = await matched(path.replaceAll(/\{[^}]+\}/g, 'x'), methodOf(method))
      t.same([found?.id, found?.template], [id, template], route)
    }
  })

for (const { family, entries } of OF_FORKS)
  t.test(`the table has exactly the operations that only ${family} and other forks publish`, (t) => {
    const ours = OPERATIONS.filter(
      ({ id, only = [] }) =>
        publishedOperation(id) === null && only.some((release) => release.startsWith(family)),
    )
    t.same(ours.map(({ id }) => id).toSorted(), entries.map(({ id }) => id).toSorted())
    t.end()
  })

function methodOf(text: string): Method {
  const method = OPERATIONS.find((operation) => operation.method === text)?.method
  if (method === undefined) throw new Error(`The table has no operation with the method ${text}`)
  return method
}
