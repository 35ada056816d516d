import t from 'tap'
import { OPERATIONS } from '../../../../src/operations/all.ts'
import { createAllowedLinks } from '../../../../src/policy/authz/rows/allowed-links.ts'
import { indexRecords } from '../../../../src/policy/authz/records/records.ts'

const operation = OPERATIONS.find(({ id }) => id === 'availableUserOperations')
const LINKS = ['self', 'delete', 'update'].map((rel) => ({ rel }))

function offeredTo(userId: string, impliesIdentity: boolean): readonly unknown[] {
  if (operation === undefined) throw new Error('no such operation')
  const keep = createAllowedLinks(operation, { impliesIdentity })
  const asked = {
    principal: { userId, groups: [], tenants: [] },
    params: { id: 'anna' },
    query: new Map(),
    body: undefined,
  }
  const body = keep?.(Buffer.from(JSON.stringify({ links: LINKS })), asked, indexRecords([]))
  return JSON.parse(body?.toString() ?? '').links.map(({ rel }: { rel: string }) => rel)
}

t.test('users are offered all on themselves, as the engine writes it for them', (t) => {
  t.same(
    offeredTo('anna', true),
    LINKS.map(({ rel }) => rel),
  )
  t.end()
})

t.test('not on others, and not where nothing is implied', (t) => {
  t.same(offeredTo('ben', true), ['self'])
  t.same(offeredTo('anna', false), ['self'])
  t.end()
})
