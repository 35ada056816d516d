import t from 'tap'
import {
  type CeilingRule,
  claimsOf,
  createCeilingOf,
  createRuleRateOf,
} from '../../../src/policy/limits/ceiling.ts'
import { claimKeyOf } from '../../../src/request/claims.ts'

const RULE: CeilingRule = { ceiling: 'read', users: [], groups: [], clients: [], claim: null }
const SCOPE = { path: ['scope'], values: ['agent'] }
const PETER = { userId: 'peter', groups: ['clerks'] }

function withClaim(path: readonly string[], values: readonly string[] | 'unreadable') {
  return { ...PETER, claims: new Map([[claimKeyOf(path), values]]) }
}

t.test('a rule applies to every caller that one of its members names', (t) => {
  const cases: readonly (readonly [
    string,
    Partial<CeilingRule>,
    Parameters<ReturnType<typeof createCeilingOf>>[0],
    boolean,
  ])[] = [
    ['user', { users: ['peter'] }, PETER, true],
    ['another user', { users: ['mary'] }, PETER, false],
    ['group', { groups: ['x', 'clerks'] }, PETER, true],
    ['a user with the name of a group', { groups: ['peter'] }, PETER, false],
    ['no member', {}, PETER, true],
    ['user or group', { users: ['mary'], groups: ['clerks'] }, PETER, true],
    ['client without a token', { clients: ['bot'] }, PETER, false],
    ['client by azp', { clients: ['bot'] }, withClaim(['azp'], ['bot']), true],
    ['client by client_id', { clients: ['bot'] }, withClaim(['client_id'], ['bot']), true],
    ['another client', { clients: ['bot'] }, withClaim(['azp'], ['web']), false],
    ['claim', { claim: SCOPE }, withClaim(['scope'], ['openid', 'agent']), true],
    ['another value', { claim: SCOPE }, withClaim(['scope'], ['openid']), false],
    ['another claim', { claim: SCOPE }, withClaim(['scp'], ['agent']), false],
    ['an unreadable claim', { claim: SCOPE }, withClaim(['scope'], 'unreadable'), true],
  ]
  for (const [name, members, caller, applies] of cases)
    t.equal(createCeilingOf([{ ...RULE, ...members }])(caller), applies ? 'read' : 'all', name)
  t.end()
})

t.test('the lowest ceiling of the rules that apply is the ceiling of a caller', (t) => {
  const ceilingOf = createCeilingOf([
    { ...RULE, ceiling: 'all', users: ['peter'] },
    { ...RULE, ceiling: 'safe' },
    { ...RULE, ceiling: 'read', groups: ['clerks'] },
  ])
  t.equal(ceilingOf(PETER), 'read')
  t.equal(ceilingOf({ userId: 'peter', groups: [] }), 'safe')
  t.equal(createCeilingOf([])(PETER), 'all')
  t.end()
})

t.test('a principal contains only the claims that rules name, each once', (t) => {
  t.same(claimsOf([RULE, { ...RULE, users: ['peter'] }]), [])
  t.same(
    claimsOf([
      { ...RULE, claim: SCOPE },
      { ...RULE, claim: SCOPE },
    ]),
    [['scope']],
  )
  t.same(claimsOf([{ ...RULE, clients: ['bot'] }]), [['client_id'], ['azp'], ['appid'], ['cid']])
  t.end()
})

function rateOf(requests: number) {
  return { requests, perMs: 60_000, burst: 1 }
}

t.test(
  'the slowest rate of the rules that apply is the rate of a caller, with a counter for each rule',
  (t) => {
    const ruleRateOf = createRuleRateOf([
      { ...RULE, rate: null },
      { ...RULE, rate: rateOf(20) },
      { ...RULE, groups: ['clerks'], rate: rateOf(10) },
      { ...RULE, groups: ['clerks'], rate: rateOf(30) },
      { ...RULE, users: ['mary'], rate: rateOf(1) },
    ])
    t.same(ruleRateOf(PETER), { rate: rateOf(10), counter: '\0ceiling:2' })
    t.same(ruleRateOf({ userId: 'x', groups: [] }), { rate: rateOf(20), counter: '\0ceiling:1' })
    t.equal(createRuleRateOf([{ ...RULE, rate: null }])(PETER), null)
    t.end()
  },
)

function namesOf(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-department-${100_000 + index}`)
}

t.test('the most rules, names and groups do not delay other requests', (t) => {
  const rules = Array.from({ length: 100 }, (_, index) => ({
    ...RULE,
    users: namesOf(`user${index}`, 1000),
    groups: namesOf(`group${index}`, 1000),
    clients: namesOf(`client${index}`, 1000),
  }))
  const ceilingOf = createCeilingOf(rules)
  const times = Array.from({ length: 5 }, (_, index) => {
    const caller = { ...withClaim(['azp'], namesOf('other', 500)), groups: namesOf(`other${index}`, 500) }
    const startMs = performance.now()
    t.equal(ceilingOf(caller), 'all')
    return performance.now() - startMs
  })
  t.ok(Math.min(...times) < 50, `${Math.min(...times)} ms`)
  t.equal(ceilingOf({ ...PETER, groups: namesOf('group99', 1) }), 'read')
  t.end()
})
