import t from 'tap'
import type { ResourceName } from '../../src/operations/permissions.ts'
import type { LookupName } from '../../src/operations/lookup-name.ts'
import type { Decision } from '../../src/policy/authz/checks/decision.ts'
import { createAuthorize } from '../../src/policy/authz/checks/authorize.ts'
import type { AuthorizeOptions } from '../../src/policy/authz/checks/authorize-options.ts'
import {
  type DecisionTrace,
  type TraceDecision,
  withAllMissing,
} from '../../src/policy/authz/checks/decision-trace.ts'
import { LOOKUPS } from '../../src/policy/authz/entities/lookup-rules.ts'
import {
  type AuditedGround,
  auditedGroundOf,
  type AuditedRequest,
} from '../../src/explain/audited-request.ts'
import {
  type ComparedPolicies,
  type ComparedPolicy,
  recordChangesBetween,
} from '../../src/explain/compared-policy.ts'
import { EffectiveComparison } from '../../src/explain/effective-changes.ts'
import { groundsOfCheck } from '../../src/explain/permit-grounds.ts'
import { type LineDecision, LineDecider } from '../../src/explain/line-decision.ts'
import type { OperationPolicy } from '../../src/policy/authz/operation-policy.ts'
import type { AccessRequest } from '../../src/request/access-request.ts'
import type { Attributes } from '../../src/request/attributes.ts'
import type { ImplicitBits } from '../../src/policy/authz/entities/implicit-bits.ts'
import type { Targets } from '../../src/policy/authz/entities/look-ups.ts'
import type { Principal } from '../../src/request/principal.ts'
import { pickFrom, policyOf, randomPolicies, seeded, USERS } from './generated-policies.ts'
import { ENTITY_IDS, randomRequest } from './generated-requests.ts'
import { seed } from '../support/requirements.ts'

/** Returns the answer that was chosen when the question was asked for the first time. */
function answered<T>(answers: Map<string, { readonly value: T }>, question: string, choose: () => T): T {
  const answer = answers.get(question) ?? { value: choose() }
  answers.set(question, answer)
  return answer.value
}

/** The state of an engine that answers each question at random, and always in the same way. */
class RandomEngine {
  readonly #random: () => number
  readonly #entities = new Map<string, { readonly value: Attributes | null }>()
  readonly sets = new Map<string, { readonly value: Targets | null }>()
  readonly conditions = new Map<string, { readonly value: boolean | null }>()
  readonly links = new Map<string, { readonly value: ImplicitBits }>()
  readonly created: string
  readonly isOwn: boolean
  readonly tenantsOfKey: readonly (string | null)[]
  hasMissing = false

  constructor(random: () => number) {
    this.#random = random
    this.created = this.pick(ENTITY_IDS)
    this.isOwn = this.pick([true, false])
    this.tenantsOfKey = this.pick([[null], ['t'], [null, 't']])
  }

  pick<T>(list: readonly T[]): T {
    return pickFrom(this.#random, list)
  }

  lookUp(name: LookupName, id: string): Attributes | null {
    const found = answered(this.#entities, `${name} ${id}`, () =>
      this.#random() < 0.1 ? null : this.#attributesOf(name),
    )
    if (found === null) this.hasMissing = true
    return found
  }

  #attributesOf(name: LookupName): Attributes {
    const { members, texts = [], definition, instance } = LOOKUPS[name]
    const names = (definition ?? instance) ? [...members, 'processDefinitionKey', 'command'] : members
    const isText = (member: string): boolean =>
      texts.includes(member) ||
      (member === 'processDefinitionKey' && texts.includes(definition ?? instance ?? ''))
    return Object.fromEntries(
      names.map((member) => [
        member,
        member === 'tenantId'
          ? this.pick([null, null, 't'])
          : !isText(member) && this.#random() < 0.3
            ? null
            : this.pick(ENTITY_IDS),
      ]),
    )
  }
}

interface World {
  readonly engine: RandomEngine
  readonly policy: OperationPolicy
  readonly request: Omit<AccessRequest, 'principal'>
}

function optionsOf({ engine, policy }: World, compared: ComparedPolicy): AuthorizeOptions {
  const each = (set: string) =>
    answered(engine.sets, set, () => {
      const names = policy.checks.before.flatMap(({ permissions }) =>
        permissions.flatMap(({ attribute }) => {
          if (attribute.from === 'each') return [attribute.name]
          return attribute.from === 'lookup' && attribute.by.from === 'each' ? [attribute.by.name] : []
        }),
      )
      const targets = Array.from({ length: engine.pick([0, 1, 1, 2]) }, () =>
        Object.fromEntries(names.map((name) => [name, engine.pick([...ENTITY_IDS, null])])),
      )
      return engine.pick([targets, targets, { candidates: targets }, null])
    })
  return {
    records: () => compared.records,
    adminGroups: compared.adminGroups,
    adminUsers: compared.adminUsers,
    lookUp: (name, id) => engine.lookUp(name, id),
    lookUpAll: async (name, ids) =>
      new Map(
        ids.flatMap((id) => {
          const found = engine.lookUp(name, id)
          return found === null ? [] : [[id, found] as const]
        }),
      ),
    findTargets: async (set) => each(set),
    isOwn: async () => engine.isOwn,
    findCondition: async (condition) =>
      answered(engine.conditions, condition, () => engine.pick([true, false, null])),
    tenantsOfKey: async () => engine.tenantsOfKey,
    implicitGrants: {
      on: async (taskId, { groups }) =>
        answered(engine.links, taskId, () => ({
          user: engine.pick([0, 0, compared.linkBits]),
          groups: groups.length > 0 ? engine.pick([0, 0, compared.linkBits]) : 0,
        })),
      tasks: async () => ({ user: new Set(), groups: new Set(), bits: 0 }),
    },
    impliesIdentity: compared.impliesIdentity,
    checksTenants: compared.checksTenants,
  }
}

interface DecidedRequest {
  readonly decision: Decision
  /** The reasons for which the checks have passed, in the form of an audit line. */
  readonly grounds: readonly AuditedGround[]
}

async function decide(
  world: World,
  compared: ComparedPolicy,
  principal: Principal,
  isReported = false,
): Promise<DecidedRequest> {
  const accessRequest = { ...world.request, principal }
  const options = optionsOf(world, compared)
  const bound = createAuthorize(world.policy.checks, options)
  const seen: DecisionTrace[] = []
  const collect: TraceDecision = (one) => {
    seen.push(one)
    return one.decision
  }
  const decision = await (isReported
    ? withAllMissing((trace) => bound.authorize(accessRequest, trace ?? collect))
    : bound.authorize(accessRequest, collect))
  const grounds = seen.flatMap((one) => groundsOfCheck(one, accessRequest, options)).map(auditedGroundOf)
  if (!decision.permitted || bound.verifyCreated === null) return { decision, grounds }
  return { decision: bound.verifyCreated(accessRequest, world.engine.created), grounds }
}

interface OldDecision {
  readonly user: string
  readonly decision: Decision
  readonly isReported: boolean
  readonly grounds: AuditedRequest['permittedBy']
}

function lineOf(
  { policy, request, engine }: World,
  { user, decision, isReported, grounds }: OldDecision,
): AuditedRequest {
  const of = {
    user,
    operation: policy.operation.id,
    params: request.params,
    authenticated: 'basic',
    isCut: false,
  }
  if (decision.permitted)
    return {
      ...of,
      decision: 'permitted',
      isReported: false,
      stage: null,
      rule: null,
      missing: [],
      permittedBy: grounds,
      isExecuted: !engine.hasMissing,
    }
  const { refusal, denialReason } = decision
  return {
    ...of,
    decision: 'refused',
    isReported,
    stage: 'permit',
    rule: denialReason?.rule ?? ('code' in refusal ? refusal.code : refusal.reason),
    missing: denialReason?.missing ?? [],
    permittedBy: null,
    isExecuted: false,
  }
}

interface Case {
  readonly world: World
  readonly policies: ComparedPolicies
  readonly line: AuditedRequest
  readonly expected: 'permitted' | 'refused'
}

/** Decides a random request by two random policies. */
async function randomCase(random: () => number, policy: OperationPolicy): Promise<Case> {
  const policies = randomPolicies(random, { count: 10, resources: resourcesOf(policy), otherUsers: 0.1 })
  const engine = new RandomEngine(random)
  const world: World = { engine, policy, request: randomRequest(random, policy) }
  const user = pickFrom(random, USERS)
  const [before, after] = [policies.before.users?.get(user), policies.after.users?.get(user)]
  if (before === undefined || after === undefined) throw new Error('no user')
  const isReported = random() < 0.3
  const old = await decide(world, policies.before, before, isReported)
  const { decision } = await decide(world, policies.after, after)
  // After both decisions, because only one of them may look up the entity that does not exist.
  const grounds = random() < 0.5 && old.grounds.length < 20 ? old.grounds : null
  const line = lineOf(world, { user, decision: old.decision, isReported, grounds })
  return { world, policies, line, expected: decision.permitted ? 'permitted' : 'refused' }
}

/** Returns what a decision says about the new policy. Null if it says nothing. */
function saidBy(decided: LineDecision, line: AuditedRequest): string | null {
  if (decided.result === 'unchanged') return line.decision
  if (decided.result === 'changed') return decided.after
  return decided.result === 'undecidable' ? null : 'not by the old policy'
}

t.test('each decision from a line equals the decision about the request itself', async (t) => {
  const random = seeded(7 * seed)
  const counts = { unchanged: 0, changed: 0, undecidable: 0, 'not by the old policy': 0 }
  const { policies: table } = policyOf([], null)
  const checked = [...table.values()].filter((policy) => resourcesOf(policy).length > 0)
  for (let round = 0; round < 8; round += 1) {
    for (const policy of checked) {
      const { world, policies, line, expected } = await randomCase(random, policy)
      const comparison = new EffectiveComparison(policies, recordChangesBetween(policies))
      const decided = new LineDecider(policies, comparison).decide(line)
      counts[decided.result] += 1

      const said = saidBy(decided, line)
      if (said !== null && said !== expected)
        t.fail(
          JSON.stringify({
            line,
            decided,
            expected,
            world: world.request,
            records: policies.before.list,
            newRecords: policies.after.list,
          }),
        )
    }
  }
  t.ok(counts.changed > 60, `${counts.changed} requests change`)
  t.ok(counts.unchanged > 1_000, `${counts.unchanged} requests do not change`)
})

function resourcesOf({ checks }: OperationPolicy): readonly ResourceName[] {
  return [...checks.before, ...checks.after].flatMap(({ permissions }) =>
    permissions.map(({ resource }) => resource),
  )
}
