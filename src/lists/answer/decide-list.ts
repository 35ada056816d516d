import { GatewayError } from '../../errors.ts'
import type { Operation } from '../../operations/table.ts'
import { hasHal, type OtherForm } from '../../request/accept.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type {
  ListSubject,
  CompiledRestriction,
  Visibility,
} from '../../policy/authz/visibility/compiled-restriction.ts'
import { usesRevokes } from '../../policy/authz/records/records.ts'
import { idsGranted, isVisible, onlyOf, visibilityOf } from '../../policy/authz/visibility/visibility.ts'
import { fetchScopeOf } from '../rewrite/fetch-scope.ts'
import { pagingOf } from '../../request/paging.ts'
import { missingForItems } from '../../policy/authz/visibility/missing-permissions.ts'
import { grantedTasks, type HiddenTasks, hiddenTasks, isNothing } from '../rewrite/granted-tasks.ts'
import { canNarrow, countsWithout, narrowTasks } from '../rewrite/narrow-tasks.ts'
import { isFullyJudged } from '../../policy/validation/validate.ts'
import { createPlanner } from '../prefilter/plan-list.ts'
import { type Planner, type PlanOptions, planContextOf } from '../prefilter/plan-context.ts'
import { narrowTopics } from '../rewrite/narrow-topics.ts'
import { restrictionFor } from '../../policy/authz/visibility/compile-restriction.ts'
import { seesEmbedded, subjectOf } from '../../policy/authz/visibility/list-subject.ts'
import type { CaseKeys } from '../facts/case-probe.ts'
import { createPermit, type PermitOptions } from '../../policy/authz/create-permit.ts'
import type { OperationPolicy } from '../../policy/authz/operation-policy.ts'
import type { Permit } from '../../policy/authz/permit.ts'
import type { FindMissingItemPermissions, Postfilter } from '../item-decision.ts'
import type { ListDecision } from './list-decision.ts'

/** The options of all decisions of one engine. */
export interface ListPermitOptions extends PermitOptions, PlanOptions {
  /** Reads the keys of the cases in the engine. Every caller sees their tasks and variables. */
  readonly caseKeys: CaseKeys
}

/** All decisions about one operation: about a request, and about the items of its response. */
export interface ListPermit extends Permit {
  /**
   * Decides which items of a query, or of a response that embeds other entities, the caller sees. `other` is the form that
   * the engine would use instead of JSON. Null if the operation returns no items of its own.
   */
  readonly decideList:
    | ((accessRequest: AccessRequest, other: OtherForm | false) => ListDecision | Promise<ListDecision>)
    | null
  /** Finds the permissions for a report. Null if the operation returns no items of its own. */
  readonly missingItemPermissions: ((accessRequest: AccessRequest) => FindMissingItemPermissions) | null
}

/** Binds the policy of one operation to one engine. */
export function createListPermit(policy: OperationPolicy, options: ListPermitOptions): ListPermit {
  const { operation, restriction } = policy
  return {
    ...createPermit(policy, options),
    decideList: createDecideList(operation, restriction, options),
    missingItemPermissions: restriction === null ? null : createMissingItemPermissions(restriction, options),
  }
}

/** Creates the function that decides which items of a response the caller sees. Null if every response is visible completely. */
function createDecideList(
  operation: Operation,
  restriction: CompiledRestriction | null,
  options: ListPermitOptions,
): ListPermit['decideList'] {
  return restriction === null
    ? createWhole(operation, options)
    : createListDecision(operation, restriction, options)
}

/** The checks permit the whole response, unless it is a HAL response: the engine would embed entities that the checks do not cover. */
function createWhole(operation: Operation, options: ListPermitOptions): ListPermit['decideList'] {
  if (!hasHal(operation)) return null
  return (accessRequest, other) =>
    other === 'hal' && !seesEmbedded(subjectOf(accessRequest, options), operation) ? UNDECIDABLE : ALL
}

function createListDecision(
  operation: Operation,
  compiled: CompiledRestriction,
  options: ListPermitOptions,
): ListPermit['decideList'] {
  const { method } = operation
  const planners = new Map<CompiledRestriction, Planner>()
  for (const restriction of compiled.where === null ? [compiled] : [compiled, compiled.where.restriction]) {
    const { prefilter } = restriction
    if (prefilter !== null)
      planners.set(restriction, createPlanner({ ...prefilter, method, restriction, options }))
  }
  return (accessRequest, other) => {
    const restriction = restrictionFor(compiled, accessRequest)
    const subject = subjectOf(accessRequest, options)
    const visibility = visibilityOf(restriction, subject.principal, subject.records)
    const planner = planners.get(restriction) ?? null
    // Only the engine knows whether it supports another response form and this paging, and which dates it accepts in a custom
    // format.
    const isAnswerable =
      other !== 'neither' && pagingOf(accessRequest.query) !== null && options.dateFormat.isDefault
    const input = { operation, restriction, planner, options, accessRequest, other, isAnswerable }
    return decideList(input, { visibility, subject })
  }
}

interface ListDecisionInput {
  readonly operation: Operation
  readonly restriction: CompiledRestriction
  /** Null if the table defines no query for the visible items. */
  readonly planner: Planner | null
  readonly options: ListPermitOptions
  readonly accessRequest: AccessRequest
  /** As for `ListPermit.decideList`. */
  readonly other: OtherForm | false
  /** Whether the engine supports the response form and the paging of the request. */
  readonly isAnswerable: boolean
}

/** The visible part of a query's result, with the facts about the caller. */
interface CallerVisibility {
  readonly visibility: Visibility
  readonly subject: ListSubject
}

const ALL: ListDecision = { visibility: 'all' }
const UNDECIDABLE: ListDecision = {
  visibility: 'undecidable',
  refusal: new GatewayError('GW_ITEMS_NOT_EXACT'),
}

function decideList(
  input: ListDecisionInput,
  seeing: CallerVisibility,
): ListDecision | Promise<ListDecision> {
  const { operation, other } = input
  const { form, tenanted } = input.restriction
  const { visibility, subject } = seeing
  if (form === 'group counts' || form === 'report') return countsDecision(subject)
  const seesAll = visibility === 'all' && (subject.tenants === null || !tenanted)
  // A HAL response has another shape and embeds entities of other kinds.
  if (other === 'hal') return seesAll && seesEmbedded(subject, operation) ? ALL : UNDECIDABLE
  if (seesAll) return ALL
  // The response contains two lists. Each has its own permission.
  if (form === 'groups') return filterDecision(input, subject, false)
  if (form === 'locks') return locksDecision(input, seeing)
  return form === 'instance counts' ? instancesDecision(input, seeing) : itemsDecision(input, seeing)
}

async function locksDecision(input: ListDecisionInput, seeing: CallerVisibility): Promise<ListDecision> {
  if (seeing.visibility === 'none') return itemsDecision(input, seeing)
  const { restriction, accessRequest, options } = input
  const { findTargets } = options
  const { subject } = seeing
  const fetchScope = await fetchScopeOf({ restriction, subject, accessRequest, findTargets })
  if (fetchScope === null) return UNDECIDABLE
  const { definitionIds, tenants } = fetchScope
  const isOpen = definitionIds !== null && tenants !== null
  return {
    visibility: 'conditional',
    strategy: 'rewrite',
    narrow: narrowTopics(fetchScope),
    ...(isOpen && { tenants }),
  }
}

/** Decides the instance counts of one definition. A caller that sees all of its instances gets the engine's counts. */
async function instancesDecision(input: ListDecisionInput, seeing: CallerVisibility): Promise<ListDecision> {
  const { visibility, subject } = seeing
  if (visibility === 'none') return itemsDecision(input, seeing)
  const { id, key } = input.accessRequest.params
  const keyOf = async () => key ?? (await input.options.lookUp('processDefinition', id ?? ''))?.['key'] ?? ''
  const isFinal = !usesRevokes(subject.records, subject.principal)
  const isWhole =
    visibility === 'all' ||
    (isFinal && idsGranted(input.restriction, 'PROCESS_DEFINITION', subject).includes(await keyOf()))
  return isWhole ? countsDecision(subject) : filterDecision(input, subject, false)
}

/** Decides a count or report that is permitted completely. Only the tenants restrict it. */
function countsDecision({ tenants }: ListSubject): ListDecision {
  return tenants === null ? ALL : { visibility: 'conditional', strategy: 'recount', tenants }
}

/** Decides a list, or a response that is computed from a list. */
function itemsDecision(
  input: ListDecisionInput,
  seeing: CallerVisibility,
): ListDecision | Promise<ListDecision> {
  const { exempt, concernsTasks } = input.restriction
  return seeing.visibility === 'all' || (exempt !== 'case' && !concernsTasks)
    ? visibleDecision(input, seeing, [])
    : withLinksAndCases(input, seeing)
}

/** Reads what only the engine knows: the tasks that the caller's links open, and whether there are cases, which every caller sees. */
async function withLinksAndCases(
  input: ListDecisionInput,
  { visibility, subject }: CallerVisibility,
): Promise<ListDecision> {
  const { restriction, options } = input
  const implied = await linkedTasksOf(restriction, subject, options)
  const isLinked = implied !== null && implied.user.size + implied.groups.size > 0
  const opened = visibility === 'none' && isLinked ? 'conditional' : visibility
  const caseKeys = restriction.exempt === 'case' ? await options.caseKeys() : []
  const seeing = { visibility: opened, subject: { ...subject, implicitGrants: implied } }
  return visibleDecision(input, seeing, caseKeys)
}

/** Returns the tasks that the caller's links open. Null if links open nothing here. */
async function linkedTasksOf(
  { concernsTasks }: CompiledRestriction,
  { principal }: Pick<ListSubject, 'principal'>,
  { implicitGrants }: ListPermitOptions,
): Promise<ListSubject['implicitGrants']> {
  return concernsTasks && implicitGrants !== null ? implicitGrants.tasks(principal) : null
}

/**
 * Returns the decision for the items that records, links and cases open: none, a rewritten task query, or a filter. `caseKeys`
 * contains the keys of all cases, whose items every caller sees; null if there are too many.
 */
function visibleDecision(
  input: ListDecisionInput,
  { visibility, subject }: CallerVisibility,
  caseKeys: readonly string[] | null,
): ListDecision {
  const { operation, restriction } = input
  const hasCases = caseKeys?.length !== 0
  const mayBeSelf = mayBeImplied(restriction, subject)
  const isExempt = hasCases || (restriction.exempt !== null && restriction.exempt !== 'case')
  if (visibility === 'none' && !mayBeSelf && !isExempt) return noneDecision(input)
  return operation.items?.prefilter === 'task query'
    ? tasksDecision(input, { visibility, subject }, caseKeys)
    : filterDecision(input, subject, hasCases)
}

/** Decides a query of tasks: a rewritten query, or a filter, with counts if these give the number of visible tasks. */
function tasksDecision(
  input: ListDecisionInput,
  { visibility, subject }: CallerVisibility,
  caseKeys: readonly string[] | null,
): ListDecision {
  const narrowed = narrowedTasks(input, { visibility, subject }, caseKeys)
  if (narrowed !== null) return narrowed
  const hasCases = caseKeys?.length !== 0
  const filter = filterDecision(input, subject, hasCases)
  const hidden = countedTasks(input, subject, hasCases)
  if (hidden === null || filter.strategy !== 'scan') return filter
  return { ...filter, signedCounts: countsWithout(hidden, tenantIdsOf(subject)) }
}

/** Returns the tasks to subtract from a count if the records permit all tasks but some. Null otherwise. */
function countedTasks(
  { operation, restriction, accessRequest }: ListDecisionInput,
  subject: ListSubject,
  hasCases: boolean,
): HiddenTasks | null {
  if (restriction.form !== 'count' || !canNarrow(operation.method, accessRequest.query)) return null
  const isAllBut = grantedTasks(restriction, subject, null) === 'all but some'
  return isAllBut ? hiddenTasks(restriction, subject, hasCases) : null
}

function tenantIdsOf({ tenants }: ListSubject): readonly string[] | null {
  return tenants === null ? null : [...tenants]
}

/** Returns whether items may be visible without a record, because they are the caller, or the caller is their owner. */
function mayBeImplied(restriction: CompiledRestriction, subject: ListSubject): boolean {
  return (
    (subject.impliesIdentity && restriction.concernsIdentity) ||
    (subject.impliesFilters === true && restriction.concernsFilters)
  )
}

function noneDecision({ operation, accessRequest, isAnswerable }: ListDecisionInput): ListDecision {
  return { visibility: 'none', valid: isAnswerable && isFullyJudged(operation, accessRequest) }
}

/** Returns a rewritten task query, or null if no task query selects the visible tasks. */
function narrowedTasks(
  input: ListDecisionInput,
  { visibility, subject }: CallerVisibility,
  caseKeys: readonly string[] | null,
): ListDecision | null {
  const { operation, restriction, accessRequest } = input
  // A query can select the tasks of one case key, but not of several.
  if (caseKeys === null || caseKeys.length > 1) return null
  if (!canNarrow(operation.method, accessRequest.query)) return null
  const [caseKey = null] = caseKeys
  const granted = visibility === 'all' ? null : grantedTasks(restriction, subject, caseKey)
  if (typeof granted === 'string') return null
  if (granted !== null && isNothing(granted)) return noneDecision(input)
  const narrow = narrowTasks({ granted, tenantIds: tenantIdsOf(subject) })
  return { visibility: 'conditional', strategy: 'rewrite', narrow }
}

/**
 * Returns a filter, with the facts for a plan if there may be one. `hasCases` is true if there are items of cases, which every caller
 * sees.
 */
function filterDecision(
  { planner, restriction, options, accessRequest, isAnswerable }: ListDecisionInput,
  subject: ListSubject,
  hasCases: boolean,
): ListDecision {
  const postfilter: Postfilter = async (template, list) => {
    const attributes = await options.readItemAttributes(template, list)
    const ofKind = restriction.form === 'groups' ? onlyOf(restriction, template) : restriction
    return list.map((item, index) => {
      const attribute = attributes[index]
      return attribute !== undefined && isVisible(ofKind, item, attribute, subject)
    })
  }
  const planContext =
    planner === null ? null : planContextOf({ ...planner, subject, accessRequest, isAnswerable, hasCases })
  return {
    visibility: 'conditional',
    strategy: 'scan',
    postfilter,
    ...(planContext !== null && { planContext }),
  }
}

/** Creates the function that returns the permissions that a caller lacks for each item of a list. */
function createMissingItemPermissions(
  compiled: CompiledRestriction,
  options: ListPermitOptions,
): ListPermit['missingItemPermissions'] {
  return (accessRequest) => async (template, list) => {
    const restriction = restrictionFor(compiled, accessRequest)
    const implicitGrants = await linkedTasksOf(restriction, accessRequest, options)
    const subject = { ...subjectOf(accessRequest, options), implicitGrants }
    const attributes = await options.readItemAttributes(template, list)
    return missingForItems({ restriction, list, attributes, subject })
  }
}
