import type { CheckTargetSet } from '../operations/notation.ts'
import type { AccessRequest } from '../request/access-request.ts'
import type { Attributes } from '../request/attributes.ts'
import type { CompiledCheck, Condition } from '../policy/authz/checks/compiled-check.ts'
import { parametersOf } from '../policy/authz/checks/compile-check.ts'
import type { CompiledAttribute, Permission, Reference } from '../policy/authz/checks/compiled-permission.ts'
import { applies } from '../policy/authz/checks/evaluate.ts'
import { argumentOf, isSameReference } from '../policy/authz/checks/references.ts'
import { LoadedEntities } from '../policy/authz/entities/loaded-entities.ts'
import type { Targets } from '../policy/authz/entities/look-ups.ts'
import { COMPOSITES, hasMember } from '../policy/authz/entities/lookup-rules.ts'
import type { OperationPolicy } from '../policy/authz/operation-policy.ts'
import { mayBeMissing, OTHER_ID, setMember, SOME_ENTITY } from './possible-outcomes.ts'

/** A request that a caller could send, with the entities that the engine could have for it. */
export interface PossibleRequest {
  readonly accessRequest: AccessRequest
  /** Returns the entity that a lookup would find. */
  readonly entityOf: (lookup: string, id: string) => Attributes | null
  /** Returns the entities that a search would find. */
  readonly targetsOf: (set: string) => Targets | null
}

/** The facts about a caller on which the values to try depend. */
export interface RequestValues {
  readonly principal: AccessRequest['principal']
  /** Returns one id for each different decision about these permissions, an unnamed id included. */
  readonly idsOf: (permissions: readonly PermissionOfId[]) => Promise<readonly string[]>
  /** Whether the engine has cases. Every caller may work on their tasks. */
  readonly hasCases: boolean
}

/** A permission that is checked on an id. */
export type PermissionOfId = Pick<Permission, 'resource' | 'permission'>

/** A member of the request, or of an entity or a set, whose value is tried out. */
interface Variable {
  readonly attribute: VariableAttribute
  /** The permissions that are checked on the value. */
  readonly permissions: PermissionOfId[]
  readonly others: Set<string | null>
}

type VariableAttribute = Exclude<
  CompiledAttribute,
  { readonly from: 'none' | 'any' | 'caller' | 'created' } | { readonly from: 'item' }
>

/** The part of a request that selects its entities: a search for them, or a member of the request. */
type RequestSelection =
  | { readonly kind: 'set'; readonly set: CheckTargetSet; readonly list: CompiledCheck['list'] }
  | { readonly kind: 'member'; readonly from: 'body' | 'query'; readonly name: string }

/** Sets that only the engine can determine. */
const UNKNOWN_SETS: ReadonlySet<string> = new Set([
  'jobDefinitions',
  'jobHistoricInstances',
  'jobJobs',
  'unknown',
] satisfies CheckTargetSet[])

/** The parts of an operation's requests on which its decision may depend. */
export interface RequestSpace {
  readonly policy: OperationPolicy
  readonly variables: readonly Variable[]
  readonly references: readonly Reference[]
  readonly selections: readonly RequestSelection[]
}

export function requestSpaceOf(policy: OperationPolicy): RequestSpace {
  const references = referencesOf(policy)
  return { policy, references, variables: variablesOf(policy, references), selections: selectionsOf(policy) }
}

/**
 * Returns the requests that decide whether any request of a caller is permitted: each id that may make a difference, both results of
 * each condition, and each form of an entity. Each request selects something, and its entities exist and belong to the caller's tenant
 * or to none.
 */
export async function* possibleRequestsOf(
  space: RequestSpace,
  values: RequestValues,
): AsyncGenerator<PossibleRequest> {
  const { policy, variables, selections } = space
  const forms = entityFormsOf(space, values)
  const lists = await Promise.all(variables.map((variable) => triedFor(variable, policy, values)))
  for (const selection of selections.length === 0 ? [null] : selections) {
    const tried = variables.map((variable, at) => ({
      attribute: variable.attribute,
      list: isAbsent(variable.attribute, selections, selection)
        ? [null]
        : (lists[at] ?? []).filter((value) => value !== null || !isOf(variable, selection)),
    }))
    const count = tried.reduce((product, { list }) => product * list.length, 1)
    for (let at = 0; at < count; at += 1)
      for (const form of forms) {
        const request = requestOf(factsOf(tried, at), { space, selection, form, values })
        if (runsOver(space, selection, request)) yield request
      }
  }
}

/** Returns whether a check runs over the selected set. A condition may exclude all of them. */
function runsOver(
  { policy }: RequestSpace,
  selection: RequestSelection | null,
  { accessRequest }: PossibleRequest,
): boolean {
  if (selection?.kind !== 'set') return true
  const situation = { accessRequest, loaded: new LoadedEntities(), each: null }
  return policy.checks.before.some(
    ({ each, when }) => each === selection.set && applies(when, situation) !== false,
  )
}

function isOf({ attribute: { from, name } }: Variable, selection: RequestSelection | null): boolean {
  return selection?.kind === 'member' && from === selection.from && name === selection.name
}

/** Returns whether a variable is a member of another selection, or of the entity that such a member names. */
function isAbsent(
  attribute: VariableAttribute,
  selections: readonly RequestSelection[],
  selection: RequestSelection | null,
): boolean {
  const { from, name } = attribute.from === 'lookup' ? attribute.by : attribute
  return selections.some(
    (one) => one !== selection && one.kind === 'member' && one.from === from && one.name === name,
  )
}

function conditionsOf({ checks: { before, preconditions } }: OperationPolicy): readonly Condition[] {
  return [...before, ...preconditions.responses, ...preconditions.entities].flatMap(({ when }) => when ?? [])
}

/** Returns every entity that the operation looks up. */
function referencesOf({ checks: { before, preconditions } }: OperationPolicy): readonly Reference[] {
  const all = [
    ...preconditions.entities.map(({ reference }) => reference),
    ...before.flatMap(({ entity, permissions }) => [
      ...(entity === null ? [] : [entity]),
      ...permissions.flatMap(({ attribute }) => (attribute.from === 'lookup' ? [attribute] : [])),
    ]),
  ]
  return all.filter((one, at) => all.findIndex((other) => isSameReference(one, other)) === at)
}

/** Collects the variables of an operation. A variable that is named twice is tried with the values of both. */
class Variables {
  readonly #byKey = new Map<string, Variable>()

  of(attribute: VariableAttribute): Variable {
    const { from, name } = attribute
    const key = from === 'lookup' ? `${keyOf(attribute)} ${name}` : `${from} ${name}`
    const variable = this.#byKey.get(key) ?? { attribute, permissions: [], others: new Set() }
    this.#byKey.set(key, variable)
    return variable
  }

  addPermission({ resource, permission, attribute }: Permission): void {
    if (!isVariable(attribute)) return
    const { permissions, others } = this.of(attribute)
    permissions.push({ resource, permission })
    const { from } = attribute
    if (from !== 'path' && from !== 'each' && mayBeMissing(attribute)) others.add(null)
  }

  /** Adds the member of the request or of the set that names an entity. */
  addReference({ by }: Reference, index: number): void {
    if (by.from === 'each') this.of(by).others.add(OTHER_ID)
    else if (by.from !== 'path') this.of(by).others.add(null).add(`${SOME_ENTITY}${index}`)
  }

  list(): readonly Variable[] {
    return [...this.#byKey.values()]
  }
}

function variablesOf(policy: OperationPolicy, references: readonly Reference[]): readonly Variable[] {
  const variables = new Variables()
  for (const name of parametersOf(policy.operation.template))
    variables.of({ from: 'path', name }).others.add(OTHER_ID)
  for (const { permissions, list } of policy.checks.before) {
    if (list !== null) variables.of({ from: 'each', name: 'id' }).others.add(OTHER_ID)
    for (const permission of permissions) variables.addPermission(permission)
  }
  for (const [index, reference] of references.entries()) variables.addReference(reference, index)
  for (const { members } of conditionsOf(policy))
    for (const { from, name } of members) variables.of({ from, name }).others.add(null).add('true')
  return variables.list()
}

function isVariable(attribute: CompiledAttribute): attribute is VariableAttribute {
  const { from } = attribute
  return from !== 'none' && from !== 'any' && from !== 'caller' && from !== 'created' && from !== 'item'
}

/** Returns the values that are tried for a variable. */
async function triedFor(
  { attribute: { from, name }, permissions: checked, others }: Variable,
  { operation, checks }: OperationPolicy,
  { principal, idsOf }: RequestValues,
): Promise<readonly (string | null)[]> {
  const tried = new Set<string | null>([...others, ...(await idsOf(checked))])
  if (from !== 'path') return [...tried]
  if (operation.template.includes(`/tenant-id/:${name}`))
    for (const tenant of principal.tenants.slice(0, 1)) tried.add(tenant)
  // A precondition may compare the id of the path with an id that a permission is checked on.
  if (checks.preconditions.responses.length > 0)
    for (const { permissions } of checks.before)
      for (const permission of permissions) for (const id of await idsOf([permission])) tried.add(id)
  return [...tried]
}

/** Returns the parts of a request that may select its entities; one of them does. Empty if the path selects them, or there are no such entities. */
function selectionsOf({
  operation: { template, effect },
  checks: { before },
}: OperationPolicy): readonly RequestSelection[] {
  const sets = new Map(before.flatMap(({ each, list }) => (each === null ? [] : [[each, list] as const])))
  const found: RequestSelection[] = [...sets].map(([set, list]) => ({ kind: 'set', set, list }))
  const isConditional = before.every(({ when, each }) => when !== null || each !== null)
  if (effect === 'read' || template.includes(':') || !isConditional) return found
  const members = new Map(
    before
      .flatMap(({ when }) => when?.members ?? [])
      .filter(({ isRequired }) => isRequired)
      .map(({ from, name }) => [`${from} ${name}`, { kind: 'member', from, name } as const]),
  )
  return [...found, ...members.values()]
}

/** The values of one combination, by their place. */
interface RequestFacts {
  readonly params: Record<string, string>
  readonly query: Map<string, string>
  readonly body: Record<string, unknown>
  readonly each: Record<string, string | null>
  readonly attributesOf: Map<string, Record<string, string | null>>
}

function factsOf(
  tried: readonly { readonly attribute: VariableAttribute; readonly list: readonly (string | null)[] }[],
  combination: number,
): RequestFacts {
  const facts: RequestFacts = { params: {}, query: new Map(), body: {}, each: {}, attributesOf: new Map() }
  let rest = combination
  for (const { attribute, list } of tried) {
    addFact(facts, attribute, list[rest % list.length] ?? null)
    rest = Math.floor(rest / list.length)
  }
  return facts
}

function addFact(facts: RequestFacts, attribute: VariableAttribute, value: string | null): void {
  const { from, name } = attribute
  if (from === 'lookup') {
    const key = keyOf(attribute)
    facts.attributesOf.set(key, { ...facts.attributesOf.get(key), [name]: value })
  } else if (from === 'each') facts.each[name] = value
  else if (value === null) return
  else if (from === 'path') facts.params[name] = value
  else if (from === 'query') facts.query.set(name, value)
  else setMember(facts.body, name, value)
}

/** Returns the same key for lookups that find the same entity, for example a task and its history. */
function keyOf({ by }: Reference): string {
  return `entity ${by.from} ${by.name}`
}

/** Returns the attributes that make an entity one that every caller finds, and none for the usual entity. */
function entityFormsOf(
  { policy, references }: RequestSpace,
  { hasCases }: RequestValues,
): readonly Attributes[] {
  const { before } = policy.checks
  const isTask = references.some(({ lookup }) => lookup === 'task')
  const isOfCase = isTask || before.some(({ exempt }) => exempt === 'case')
  const isExempt = before.some(({ exempt }) => exempt !== null && exempt !== 'case')
  const none = { processDefinitionKey: null, executionId: null }
  return [
    {},
    ...(isExempt ? [none] : []),
    ...(isOfCase && hasCases ? [{ ...none, caseExecutionId: SOME_ENTITY }] : []),
  ]
}

interface RequestParts {
  readonly space: RequestSpace
  readonly selection: RequestSelection | null
  readonly form: Attributes
  readonly values: RequestValues
}

function requestOf(
  facts: RequestFacts,
  { space: { references, selections }, selection, form, values }: RequestParts,
): PossibleRequest {
  const { params, query, body, each, attributesOf } = facts
  for (const one of selections) setList(facts, one, one === selection)
  const accessRequest = { principal: values.principal, params, query, body }
  const tenantId = params['tenantId'] ?? null
  const entities = new Map<string, Attributes>()
  for (const reference of references) {
    const id = argumentOf(reference, { accessRequest, each })
    if (id === null) continue
    const { lookup } = reference
    const ofTenant = COMPOSITES[lookup]?.includes('tenantId') === true ? tenantId : null
    const attributes = { ...USUAL, ...attributesOf.get(keyOf(reference)), ...form, tenantId: ofTenant }
    const members = Object.entries(attributes).filter(([name]) => hasMember(lookup, name))
    entities.set(`${lookup} ${id}`, Object.fromEntries(members))
  }
  return {
    accessRequest,
    entityOf: (lookup, id) => entities.get(`${lookup} ${id}`) ?? USUAL,
    targetsOf: (set) => {
      if (UNKNOWN_SETS.has(set)) return null
      return selection?.kind === 'set' && selection.set === set ? [{ ...each, tenantId }] : []
    },
  }
}

const USUAL = {
  processDefinitionKey: OTHER_ID,
  executionId: SOME_ENTITY,
  caseExecutionId: null,
  tenantId: null,
}

/** Writes the list of a set into the request, or removes it. */
function setList(
  { query, body, each }: RequestFacts,
  selection: RequestSelection,
  isSelected: boolean,
): void {
  if (selection.kind !== 'set' || selection.list === null) return
  const { from, name } = selection.list
  const id = each['id'] ?? ''
  if (from === 'query' && isSelected) query.set(name, id)
  else if (from === 'query') query.delete(name)
  else body[name] = isSelected ? [id] : null
}
