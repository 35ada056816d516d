import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { compilePolicies } from '../../../src/policy/authz/compile-policies.ts'
import { createAllowedLinks } from '../../../src/policy/authz/allowed-links.ts'
import { indexRecords } from '../../../src/policy/authz/records/records.ts'
import { recordsOf } from '../../support/record-lines.ts'

const policy = compilePolicies(OPERATIONS).get('availableUserOperations')
const LINKS = ['self', 'delete', 'update'].map((rel) => ({ rel }))

async function offeredTo(userId: string, impliesIdentity: boolean): Promise<readonly unknown[]> {
  const allowedLinks = policy?.allowedLinks ?? null
  if (allowedLinks === null) throw new Error('no links')
  const keep = createAllowedLinks(allowedLinks, { impliesIdentity, lookUp: () => null })
  const asked = {
    principal: { userId, groups: [], tenants: [] },
    params: { id: 'anna' },
    query: new Map(),
    body: undefined,
  }
  const body = await keep(Buffer.from(JSON.stringify({ links: LINKS })), asked, indexRecords([]))
  return JSON.parse(body.toString()).links.map(({ rel }: { rel: string }) => rel)
}

t.test('users are offered all links on themselves, as the engine grants them implicitly', async (t) => {
  t.same(
    await offeredTo('anna', true),
    LINKS.map(({ rel }) => rel),
  )
})

t.test('users are not offered links on others, or without implicit grants', async (t) => {
  t.same(await offeredTo('ben', true), ['self'])
  t.same(await offeredTo('anna', false), ['self'])
})

const FILTER_LINKS = ['self', 'singleResult', 'list', 'count', 'delete', 'update']

/** Returns the links on a filter that a caller is offered. */
async function filterLinksFor(userId: string, owner: string | null, lines: readonly string[] = []) {
  const allowedLinks = compilePolicies(OPERATIONS).get('filterResourceOptionsSingle')?.allowedLinks ?? null
  if (allowedLinks === null) throw new Error('no links')
  const lookedUp: string[] = []
  const lookUp = (name: string, id: string) => {
    lookedUp.push(`${name} ${id}`)
    return { owner }
  }
  const keep = createAllowedLinks(allowedLinks, { impliesIdentity: true, impliesFilters: true, lookUp })
  const asked = {
    principal: { userId, groups: [], tenants: [] },
    params: { id: 'f1' },
    query: new Map(),
    body: undefined,
  }
  const links = FILTER_LINKS.map((rel) => ({ rel }))
  const body = await keep(Buffer.from(JSON.stringify({ links })), asked, recordsOf(lines))
  t.same(lookedUp, ['filter f1'])
  return JSON.parse(body.toString()).links.map(({ rel }: { rel: string }) => rel)
}

t.test('the owner of a filter is offered all links, and other users those of their records', async (t) => {
  t.same(await filterLinksFor('anna', 'anna'), FILTER_LINKS)
  t.same(await filterLinksFor('ben', 'anna'), [])
  t.same(await filterLinksFor('ben', null), [])
  t.same(await filterLinksFor('ben', 'anna', ['grant ben FILTER:* DELETE']), ['delete'])
})

t.test('a record for the owner replaces the permissions of the owner', async (t) => {
  t.same(await filterLinksFor('anna', 'anna', ['grant anna FILTER:f1 UPDATE']), ['update'])
})
