import { ALL_BITS, RESOURCES } from '../operations/permissions.ts'
import type { Principal } from '../request/principal.ts'
import { isRecord } from '../request/value.ts'
import type { CompiledCheck } from '../policy/authz/checks/compiled-check.ts'
import type { CompiledAttribute, Permission } from '../policy/authz/checks/compiled-permission.ts'
import { PERMITTED, type Decision } from '../policy/authz/checks/decision.ts'
import { evaluate, isDecidedGlobally, UNDECIDABLE } from '../policy/authz/checks/evaluate.ts'
import type { EvaluationContext } from '../policy/authz/checks/evaluation-context.ts'
import { argumentOf } from '../policy/authz/checks/references.ts'
import { tenantsFor } from '../policy/authz/decision/admin.ts'
import { namedIds } from '../policy/authz/decision/granted-ids.ts'
import { LoadedEntities } from '../policy/authz/entities/loaded-entities.ts'
import { LOOKUPS } from '../policy/authz/entities/lookup-rules.ts'
import { type AuditedGround, auditedGroundOf, type AuditedRequest } from './audited-request.ts'
import { groundsOfCheck } from './permit-grounds.ts'
import type { ComparedPolicies, ComparedPolicy, Pair } from './compared-policy.ts'
import { ownIdsOf } from './effective-changes.ts'

/** The decisions of both policies about one check, for one set of facts that are not in the line. */
export interface CheckOutcome extends Pair<Decision> {
  /** Why the check has passed by the old policy. Empty if the line does not say it, so that nothing is compared. */
  readonly grounds: readonly AuditedGround[]
  /** Whether a grant on all ids decides for the old policy, before the condition of the check and its entities are read. */
  readonly isGlobal: boolean
  /** Whether the outcome is that of a set as a whole, or of an entity that does not exist. */
  readonly isOfSet: boolean
}

export interface OutcomeInput {
  readonly request: AuditedRequest
  readonly principals: Pair<Principal>
  readonly policies: ComparedPolicies
}

/** The largest number of sets of facts that are tried for one check. */
const MAX_FACTS = 20_000

/** An id that no record, user, group or tenant has. */
const OTHER_ID = '\u0000other'
/** The id of an entity that the line does not name. */
const SOME_ENTITY = '\u0000entity'

/** An id in a check that the line does not contain, with its possible values. */
interface UnknownId {
  readonly attribute: UnknownAttribute
  readonly values: readonly (string | null)[]
}

type UnknownAttribute = Exclude<CompiledAttribute, { readonly from: 'none' | 'any' | 'caller' | 'path' }>

/** The facts of a request that are not in its line. */
interface Facts {
  readonly body: Record<string, unknown>
  readonly query: Map<string, string>
  readonly each: Record<string, string | null>
  readonly attributes: Record<string, string | null>
  created: string | null
}

/** Returns the possible decisions about one check. The condition of the check is assumed to hold. Null if there are too many. */
export function outcomesOf(conditional: CompiledCheck, input: OutcomeInput): readonly CheckOutcome[] | null {
  const check: CompiledCheck = { ...conditional, when: null }
  const unknown = unknownIdsOf(check, input)
  const count = unknown.reduce((product, { values }) => product * values.length, 1)
  if (count > MAX_FACTS) return null
  const outcomes: CheckOutcome[] = []
  for (let at = 0; at < count; at += 1) {
    const facts = factsOf(unknown, at)
    for (const attributes of attributesOf(check, facts))
      outcomes.push(...outcomesWithLinks(check, { ...facts, attributes }, input))
  }
  return [...outcomes, ...outcomesOfSet(check, input)]
}

/** Describes the facts of a check that a line does not contain. */
export function unknownFactsOf({ permissions, when, each }: CompiledCheck): string {
  const unknown = new Set(
    permissions.flatMap(({ attribute }) => {
      if (attribute.from === 'lookup') return [`${attribute.name} of the ${attribute.lookup}`]
      if (attribute.from === 'query' || attribute.from === 'body')
        return [`${attribute.name} of the ${attribute.from}`]
      return attribute.from === 'created' ? ['the created id'] : []
    }),
  )
  if (permissions.some(({ resource }) => resource === 'TASK')) unknown.add('the links of the task')
  if (each !== null) unknown.add(`the entities (${each})`)
  if (when !== null) unknown.add('a condition of the check')
  return `not in the line: ${unknown.size === 0 ? 'whether the entity exists' : [...unknown].join(', ')}`
}

function unknownIdsOf(check: CompiledCheck, input: OutcomeInput): readonly UnknownId[] {
  const values = new Map<string, { readonly attribute: UnknownAttribute; readonly ids: Set<string | null> }>()
  for (const { resource, attribute } of check.permissions) {
    if (isKnown(attribute)) continue
    const key = JSON.stringify(attribute)
    const known = values.get(key) ?? { attribute, ids: new Set<string | null>([OTHER_ID]) }
    values.set(key, known)
    if (mayBeMissing(attribute)) known.ids.add(null)
    for (const id of idsThatMatter(resource, input)) known.ids.add(id)
  }
  return [...values.values()].map(({ attribute, ids }) => ({ attribute, values: [...ids] }))
}

function isKnown(attribute: CompiledAttribute): attribute is Exclude<CompiledAttribute, UnknownAttribute> {
  const { from } = attribute
  return from === 'none' || from === 'any' || from === 'caller' || from === 'path'
}

/** Returns whether a request or an entity may have no value. */
export function mayBeMissing(attribute: UnknownAttribute): boolean {
  if (attribute.from === 'created') return false
  if (attribute.from !== 'lookup') return true
  const { texts = [], definition, instance } = LOOKUPS[attribute.lookup]
  const source =
    attribute.name === 'processDefinitionKey' ? (definition ?? instance ?? attribute.name) : attribute.name
  return !texts.includes(source)
}

/** Returns the ids of a resource for which the decisions about the caller may differ from those for other ids. */
function idsThatMatter(
  resource: Permission['resource'],
  { request, principals, policies }: OutcomeInput,
): Iterable<string> {
  const { id, name } = RESOURCES[resource]
  const { before, after } = principals
  return [
    ...namedIds(policies.before.records, before, id),
    ...namedIds(policies.after.records, after, id),
    ...ownIdsOf(before, id),
    ...ownIdsOf(after, id),
    ...request.missing.flatMap((one) =>
      one.resource === name && one.resourceId !== '*' ? [one.resourceId] : [],
    ),
  ]
}

/** Returns the facts of one combination of values. */
function factsOf(unknown: readonly UnknownId[], combination: number): Facts {
  const facts: Facts = { body: {}, query: new Map(), each: {}, attributes: {}, created: null }
  let rest = combination
  for (const { attribute, values } of unknown) {
    const value = values[rest % values.length] ?? null
    rest = Math.floor(rest / values.length)
    addFact(facts, attribute, value)
  }
  return facts
}

function addFact(facts: Facts, attribute: UnknownAttribute, value: string | null): void {
  const { from } = attribute
  if (from === 'lookup') facts.attributes[attribute.name] = value
  else if (from === 'each') facts.each[attribute.name] = value
  else if (from === 'created') facts.created = value
  else if (from === 'query' && value !== null) facts.query.set(attribute.name, value)
  else if (from === 'body' && value !== null) setMember(facts.body, attribute.name, value)
}

/** Sets a member at a dotted path. */
function setMember(body: Record<string, unknown>, path: string, value: string): void {
  const [name = '', ...rest] = path.split('.')
  if (rest.length === 0) {
    body[name] = value
    return
  }
  const held = body[name]
  const holder: Record<string, unknown> = isRecord(held) ? { ...held } : {}
  setMember(holder, rest.join('.'), value)
  body[name] = holder
}

/** Returns the possible attributes of the looked-up entities: as given, and of an entity that every caller finds. */
function attributesOf(
  { permissions, exempt }: CompiledCheck,
  { attributes }: Facts,
): readonly Facts['attributes'][] {
  const isTask = permissions.some(
    ({ attribute }) => attribute.from === 'lookup' && attribute.lookup === 'task',
  )
  const usual = {
    processDefinitionKey: OTHER_ID,
    executionId: SOME_ENTITY,
    caseExecutionId: null,
    ...attributes,
  }
  if (!isTask && exempt === null) return [usual]
  const open = { ...usual, caseExecutionId: SOME_ENTITY, executionId: null, processDefinitionKey: null }
  return [usual, open]
}

/** Returns the outcomes without a link of the caller to the task, and with each kind of link. */
function outcomesWithLinks(check: CompiledCheck, facts: Facts, input: OutcomeInput): readonly CheckOutcome[] {
  const { before, after } = input.policies
  const decide = (links: LinkKind): CheckOutcome => {
    const old = { ...input, policy: before, principal: input.principals.before, links }
    const decided = decideSide(check, facts, old)
    const fresh = decideSide(check, facts, {
      ...input,
      policy: after,
      principal: input.principals.after,
      links,
    })
    return {
      before: decided.decision,
      after: fresh.decision,
      grounds: groundsIn(check, decided, old),
      isGlobal: decided.context === null,
      isOfSet: false,
    }
  }
  const mayBeLinked = linkBitsIn(check, before) !== 0 || linkBitsIn(check, after) !== 0
  return (!mayBeLinked ? NO_LINKS : isOnFilter(check) ? OWNERS : LINKS).map(decide)
}

/** Returns the bits that a link of the caller to the task of a check grants, or that the owner of its filter has. */
function linkBitsIn(check: CompiledCheck, { linkBits, impliesFilters }: ComparedPolicy): number {
  if (isOnFilter(check)) return impliesFilters === true ? ALL_BITS : 0
  const isOfTask = check.each === null && check.permissions.some(({ resource }) => resource === 'TASK')
  return isOfTask ? linkBits : 0
}

function isOnFilter({ permissions }: CompiledCheck): boolean {
  return permissions.some(({ resource, attribute }) => resource === 'FILTER' && attribute.from === 'path')
}

type LinkKind = 'none' | 'user' | 'groups'
const LINKS: readonly LinkKind[] = ['none', 'user', 'groups']
const NO_LINKS: readonly LinkKind[] = ['none']
const OWNERS: readonly LinkKind[] = ['none', 'user']

interface Side {
  readonly request: AuditedRequest
  readonly policy: ComparedPolicy
  readonly principal: Principal
  readonly links: LinkKind
}

interface SideDecision {
  readonly decision: Decision
  /** Null if a grant on all ids decides. */
  readonly context: EvaluationContext | null
}

/** Decides as a request does: links are only considered if records refuse. */
function decideSide(check: CompiledCheck, facts: Facts, side: Side): SideDecision {
  const { policy, links } = side
  const context = contextOf(check, facts, side)
  const options = optionsOf(policy)
  if (isOver(check, context, side)) return { decision: PERMITTED, context: null }
  const decision = evaluate(check, context, options)
  if (decision.permitted || links === 'none') return { decision, context }
  const linkBits = linkBitsIn(check, policy)
  const implicitGrants = links === 'user' ? { user: linkBits, groups: 0 } : { user: 0, groups: linkBits }
  const linked = { ...context, implicitGrants }
  return { decision: evaluate(check, linked, options), context: linked }
}

function groundsIn(
  check: CompiledCheck,
  { decision, context }: SideDecision,
  { request, policy, principal }: Pick<Side, 'request' | 'policy' | 'principal'>,
): readonly AuditedGround[] {
  if (request.permittedBy === null) return []
  return groundsOfCheck({ check, context, decision }, { principal }, optionsOf(policy)).map(auditedGroundOf)
}

/** Returns whether a grant on all ids decides the check before any entity is read. */
function isOver(
  check: CompiledCheck,
  { accessRequest }: EvaluationContext,
  { policy, principal }: Side,
): boolean {
  return (
    !check.after &&
    (check.each === null || tenantsFor({ principal }, policy) === null) &&
    isDecidedGlobally(check, accessRequest, optionsOf(policy))
  )
}

function optionsOf(policy: ComparedPolicy) {
  const { records, adminGroups, adminUsers } = policy
  return { records: () => records, adminGroups, adminUsers }
}

function contextOf(
  check: CompiledCheck,
  facts: Facts,
  { request, policy, principal }: Side,
): EvaluationContext {
  const { body, query, each, created, attributes } = facts
  const accessRequest = {
    principal,
    params: request.params,
    query: new Map(query),
    body: structuredClone(body),
  }
  const target: Record<string, string | null> = { ...each }
  const loaded = new LoadedEntities()
  const context: EvaluationContext = {
    accessRequest,
    loaded,
    each: check.each === null ? null : target,
    created,
    impliesIdentity: policy.impliesIdentity,
    impliesFilters: policy.impliesFilters ?? false,
  }
  for (const { attribute } of check.permissions) {
    if (attribute.from !== 'lookup') continue
    if (argumentOf(attribute, context) === null) nameEntity(attribute.by, { accessRequest, target })
    loaded.add(attribute.lookup, argumentOf(attribute, context) ?? '', attributes)
  }
  return context
}

/** Sets the member of the request or of the set that names the entity of a lookup. */
function nameEntity(
  { from, name }: (CompiledAttribute & { readonly from: 'lookup' })['by'],
  {
    accessRequest,
    target,
  }: {
    readonly accessRequest: { readonly query: Map<string, string>; readonly body: Record<string, unknown> }
    readonly target: Record<string, string | null>
  },
): void {
  if (from === 'each') target[name] = SOME_ENTITY
  else if (from === 'query') accessRequest.query.set(name, SOME_ENTITY)
  else if (from === 'body') setMember(accessRequest.body, name, SOME_ENTITY)
}

/**
 * Returns the outcomes that do not depend on an entity. A set that cannot be determined, and an entity that does not exist, are
 * permitted only by grants on all ids.
 */
function outcomesOfSet(
  check: CompiledCheck,
  { request, principals, policies }: OutcomeInput,
): readonly CheckOutcome[] {
  const isLoaded =
    check.entity !== null || check.permissions.some(({ attribute }) => attribute.from === 'lookup')
  if (check.each === null && (!isLoaded || request.isExecuted)) return []
  const decide = (policy: ComparedPolicy, principal: Principal): Decision => {
    const accessRequest = { principal, params: {}, query: new Map<string, string>(), body: undefined }
    return isDecidedGlobally(check, accessRequest, optionsOf(policy)) ? PERMITTED : UNDECIDABLE
  }
  const before = decide(policies.before, principals.before)
  const side = { request, policy: policies.before, principal: principals.before }
  return [
    {
      before,
      after: decide(policies.after, principals.after),
      grounds: groundsIn(check, { decision: before, context: null }, side),
      isGlobal: true,
      isOfSet: true,
    },
  ]
}
