import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { compilePolicies } from '../../../src/policy/authz/compile-policies.ts'
import { createAllowedLinks } from '../../../src/policy/authz/allowed-links.ts'
import { indexRecords } from '../../../src/policy/authz/records/records.ts'

const policy = compilePolicies(OPERATIONS).get('availableUserOperations')
const LINKS = ['self', 'delete', 'update'].map((rel) => ({ rel }))

function offeredTo(userId: string, impliesIdentity: boolean): readonly unknown[] {
  const allowedLinks = policy?.allowedLinks ?? null
  if (allowedLinks === null) throw new Error('no links')
  const keep = createAllowedLinks(allowedLinks, { impliesIdentity })
  const asked = {
    principal: { userId, groups: [], tenants: [] },
    params: { id: 'anna' },
    query: new Map(),
    body: undefined,
  }
  const body = keep(Buffer.from(JSON.stringify({ links: LINKS })), asked, indexRecords([]))
  return JSON.parse(body.toString()).links.map(({ rel }: { rel: string }) => rel)
}

t.test('users are offered all links on themselves, as the engine grants them implicitly', (t) => {
  t.same(
    offeredTo('anna', true),
    LINKS.map(({ rel }) => rel),
  )
  t.end()
})

t.test('users are not offered links on others, or without implicit grants', (t) => {
  t.same(offeredTo('ben', true), ['self'])
  t.same(offeredTo('anna', false), ['self'])
  t.end()
})
