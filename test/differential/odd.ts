import { CLAIMING_HEADERS } from '../attacks/header-names.ts'
import { isJson } from './admin.ts'
import type { OddKind, Plan } from './plan.ts'
import { isRead } from './plan.ts'
import type { Random } from './random.ts'

/** Returns the request in a spelling that few clients use. The gateway must read each spelling in the same way as the engine. */
export function oddPlanOf(plan: Plan, kind: OddKind, random: Random): Plan | null {
  const odd = { ...plan, kind }
  if (kind === 'accept') return isRead(plan) ? { ...odd, accept: random.pick(ACCEPTS) } : null
  if (kind === 'selector') return withoutSelector(odd, random)
  if (kind === 'headers') return { ...odd, headers: claimsOf(random) }
  const ways = random.sample([inBody, inQuery, inPath], 3)
  for (const way of ways) {
    const spelt = way(odd, random)
    if (spelt !== null) return spelt
  }
  return null
}

const ACCEPTS = [
  'application/hal+json',
  'application/hal+json, application/json;q=0.5',
  'application/json, application/hal+json',
  'application/json;q=1;q=0.1, application/hal+json;q=0.5',
  'application/json;q=1.5;q=0,application/hal+json',
  'application/json;q=1., application/hal+json;q=0.1',
  'application/json;x="\\", application/hal+json;q=1;y="',
  'APPLICATION/HAL+JSON;Q=0.9, application/json;q=.8',
  'application/json;charset=utf-8',
  'application, application/hal+json',
  'text/html, image/gif, *; q=.2, */*; q=.2',
  'text/csv, application/json;q=0.1',
  'text/csv',
  'application/json;q=1.5',
  ',application/hal+json',
]

/** Returns up to three headers with which a client claims to be another caller or selects another target. They change no response. */
function claimsOf(random: Random): Readonly<Record<string, string>> {
  const names = random.sample(CLAIMING_HEADERS, 1 + random.below(3))
  return Object.fromEntries(names.map((name) => [name, random.pick(CLAIMS)]))
}

const CLAIMS = [
  'admin',
  'demo',
  'camunda-admin',
  'acme',
  'globex',
  'default',
  '127.0.0.1',
  '/engine-rest/user',
  'DELETE',
]

/** Values that are not a query, or queries that cannot be parsed completely. */
const NO_QUERIES: readonly unknown[] = [
  'x',
  '',
  5,
  true,
  [],
  [{}],
  { sorting: 'x' },
  { sorting: ['x'] },
  { tenantIdIn: 'acme' },
  { tenantIdIn: {} },
  { processDefinitionKey: ['office'] },
  { withoutTenantId: 'x' },
]

function withoutSelector(plan: Plan, random: Random): Plan | null {
  const selectors = Object.keys(plan.operation.selectors?.queries ?? {})
  if (selectors.length === 0) return null
  const body = isJson(plan.body) ? plan.body : {}
  const query = random.pick(NO_QUERIES)
  // `processDefinitionKey` is a member of most queries. The other queries do not know it, and would select everything.
  const isKnown = !JSON.stringify(query).includes('Key') || !selectors.includes('historicBatchQuery')
  const selector = random.pick(selectors)
  return isKnown ? { ...plan, body: { ...body, [selector]: query }, leaves: [...plan.leaves, 'batch'] } : null
}

type Step = string | number

/** Changes the spelling of one scalar in the body. */
function inBody(plan: Plan, random: Random): Plan | null {
  const leaves = leavesOf(plan.body, [])
  if (leaves.length === 0) return null
  const { path, value } = random.pick(leaves)
  return { ...plan, body: changed(plan.body, path, spellingOf(value, random)) }
}

interface Leaf {
  readonly path: readonly Step[]
  readonly value: string | number | boolean
}

function leavesOf(value: unknown, path: readonly Step[]): readonly Leaf[] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return [{ path, value }]
  if (Array.isArray(value)) return value.flatMap((one, index) => leavesOf(one, [...path, index]))
  if (!isJson(value)) return []
  // A wrong password locks the caller out of the secured engine.
  const members = Object.entries(value).filter(([name]) => !/password/i.test(name))
  return members.flatMap(([name, one]) => leavesOf(one, [...path, name]))
}

function changed(value: unknown, [step, ...rest]: readonly Step[], to: unknown): unknown {
  if (step === undefined) return to
  if (Array.isArray(value)) return value.map((one, index) => (index === step ? changed(one, rest, to) : one))
  return isJson(value) ? { ...value, [step]: changed(value[step], rest, to) } : value
}

/** Returns a value that means the same or matches nothing. It never drops a condition, which would change data that other requests read. */
function spellingOf(value: string | number | boolean, random: Random): unknown {
  if (typeof value === 'boolean')
    return random.pick(value ? ['TRUE', 'True', ' true', 1, '\u0001true'] : ['FALSE', 'False', 0, 'false '])
  if (typeof value === 'number') return random.pick([`${value}`, ` ${value} `, `+${value}`, `${value}.0`])
  return random.pick([...textsLike(value), 5, 1.5, true, `${value}\u0001`, `\u0001${value}`])
}

function textsLike(value: string): readonly string[] {
  const cases = value.includes('<') ? [] : [value.toUpperCase()]
  return [`${value} `, ` ${value}`, `${value},`, `${value},x`, ...cases]
}

/** Changes the spelling of one parameter in the query string, or adds a parameter. */
function inQuery(plan: Plan, random: Random): Plan | null {
  const [path = '', query = ''] = plan.path.split('?')
  if (query === '') return isRead(plan) ? { ...plan, path: `${path}?${random.pick(PARAMETERS)}` } : null
  const pairs = query.split('&')
  const at = random.below(pairs.length)
  const [name = '', value = ''] = pairs[at]?.split('=') ?? []
  const cases = value.includes('<') ? [] : [value.toUpperCase()]
  const values = [`${value}%20`, `%20${value}`, `%01${value}`, `${value}%01`, `${value},`, ...cases]
  const others = [`${name}=x`, `${name}=`, `${name}=true`]
  const odd = random.pick([
    ...values.map((one) => `${name}=${one}`),
    ...others.map((other) => `${name}=${value}&${other}`),
    ...(isRead(plan) ? others.map((other) => `${other}&${name}=${value}`) : []),
  ])
  return { ...plan, path: `${path}?${pairs.map((pair, index) => (index === at ? odd : pair)).join('&')}` }
}

/** The pages contain all items. Without a sort, the engine does not define which items a shorter page contains. */
const PARAMETERS = [
  'withoutTenantId=TRUE',
  'withoutTenantId=1',
  'withoutTenantId=%20true',
  'withoutTenantId=true&withoutTenantId=false',
  'withoutTenantId=false&withoutTenantId=true',
  'tenantIdIn=acme,',
  'tenantIdIn=',
  'tenantIdIn=,',
  'tenantIdIn=ACME',
  'tenantIdIn=globex&tenantIdIn=acme',
  'maxResults=1000&maxResults=2000',
  'maxResults=%2B1000',
  'firstResult=&maxResults=1000',
  'sortBy=&sortOrder=',
  'active=True',
]

/** Adds a space, a comma or a tab after the id or the key in the path. */
function inPath(plan: Plan, random: Random): Plan | null {
  const [path = '', ...query] = plan.path.split('?')
  if (!path.includes('>')) return null
  const odd = path.replace('>', `>${random.pick(['%20', ',', '%09'])}`)
  return { ...plan, path: [odd, ...query].join('?') }
}
