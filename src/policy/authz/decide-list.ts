import { GatewayError } from '../../errors.ts'
import type { Operation } from '../../operations/table.ts'
import { hasHal, type OtherForm } from '../../request/accept.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import type {
  ListSubject,
  CompiledRestriction,
  Visibility,
} from '../../lists/visibility/compiled-restriction.ts'
import { usesRevokes } from './records/records.ts'
import { idsGranted, isVisible, onlyOf, seesWhole, visibilityOf } from '../../lists/visibility/visibility.ts'
import { fetchScopeOf } from '../../lists/rewrite/fetch-scope.ts'
import { pagingOf } from '../../request/paging.ts'
import { missingForItems } from '../../lists/visibility/missing-permissions.ts'
import { grantedTasks, isNothing } from '../../lists/rewrite/granted-tasks.ts'
import { canNarrow, narrowTasks } from '../../lists/rewrite/narrow-tasks.ts'
import { isFullyJudged } from '../validation/validate.ts'
import { createPlanner, type Planner } from '../../lists/prefilter/plan-list.ts'
import type { PlanOptions } from '../../lists/prefilter/plan-context.ts'
import { narrowTopics } from '../../lists/rewrite/narrow-topics.ts'
import { restrictionFor } from '../../lists/visibility/compile-restriction.ts'
import { seesEmbedded, subjectOf } from '../../lists/visibility/list-subject.ts'
import type { AuthorizeOptions } from './checks/authorize-options.ts'
import type { CaseKeys } from '../../lists/facts/case-probe.ts'
import type { ReadItemAttributes } from './entities/look-ups.ts'
import type { Permit } from './permit.ts'
import type { Postfilter } from '../../lists/item-decision.ts'
import type { ListDecision } from '../../lists/answer/list-decision.ts'

/** The options of the decisions about the lists of one engine. */
export interface ListDecisionOptions extends AuthorizeOptions, PlanOptions {
  readonly readItemAttributes: ReadItemAttributes
  /** Reads the keys of the cases in the engine. Every caller sees their tasks and variables. */
  readonly caseKeys: CaseKeys
}

/** Creates the function that decides which items of a response the caller sees. Null if every response is visible completely. */
export function createDecideList(
  operation: Operation,
  restriction: CompiledRestriction | null,
  options: ListDecisionOptions,
): Permit['decideList'] {
  return restriction === null
    ? createWhole(operation, options)
    : createListDecision(operation, restriction, options)
}

/** The checks permit the whole response, unless it is a HAL response: the engine would embed entities that the checks do not cover. */
function createWhole(operation: Operation, options: ListDecisionOptions): Permit['decideList'] {
  if (!hasHal(operation)) return null
  return (accessRequest, other) =>
    other === 'hal' && !seesEmbedded(subjectOf(accessRequest, options), operation) ? UNDECIDABLE : ALL
}

function createListDecision(
  operation: Operation,
  compiled: CompiledRestriction,
  options: ListDecisionOptions,
): Permit['decideList'] {
  const planners = new Map<CompiledRestriction, Planner | null>()
  for (const restriction of [compiled, ...(compiled.where === null ? [] : [compiled.where.restriction])])
    planners.set(restriction, plannerOf(operation, restriction, options))
  return (accessRequest, other) => {
    const restriction = restrictionFor(compiled, accessRequest)
    const planner = planners.get(restriction) ?? null
    // Only the engine knows whether it supports this response form and this paging, and which dates it accepts in a custom
    // format.
    const isAnswerable =
      other !== 'neither' && pagingOf(accessRequest.query) !== null && options.dateFormat.isDefault
    const isValid = () => isAnswerable && isFullyJudged(operation, accessRequest)
    return decideList(
      { operation, restriction, planner, options, isValid, isAnswerable },
      accessRequest,
      other,
    )
  }
}

/** Returns the planner of an operation. Null if the table defines no query for the visible items. */
function plannerOf(
  { method }: Operation,
  restriction: CompiledRestriction,
  options: ListDecisionOptions,
): Planner | null {
  const { prefilter } = restriction
  return prefilter === null ? null : createPlanner({ ...prefilter, method, restriction, options })
}

interface ListDecisionInput {
  readonly operation: Operation
  readonly restriction: CompiledRestriction
  readonly planner: Planner | null
  readonly options: ListDecisionOptions
  /** Returns whether the query has been validated completely: the engine would not refuse it. */
  readonly isValid: () => boolean
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
  refusal: new GatewayError('GW_ROWS_NOT_EXACT'),
}

function decideList(
  input: ListDecisionInput,
  accessRequest: AccessRequest,
  other: OtherForm | false,
): ListDecision | Promise<ListDecision> {
  const { restriction, options } = input
  const subject = subjectOf(accessRequest, options)
  if (restriction.form === 'group counts' || restriction.form === 'report') return countsDecision(subject)
  const visibility = visibilityOf(restriction, subject.principal, subject.records)
  const seesAll = seesWhole(restriction, visibility, subject)
  // A HAL response has another shape and embeds entities of other kinds.
  if (other === 'hal') return seesAll && seesEmbedded(subject, input.operation) ? ALL : UNDECIDABLE
  if (seesAll) return ALL
  const special = decisionOfForm(input, accessRequest, visibility, subject)
  if (special !== null) return special
  if (visibility === 'all' || (restriction.exempt !== 'case' && !restriction.concernsTasks))
    return restrictedTo(input, accessRequest, { visibility, subject })
  return withLinksAndCases(input, accessRequest, { visibility, subject })
}

/** Returns the decision for a special form of response. Null for a list, or for a form that is computed from a list. */
function decisionOfForm(
  input: ListDecisionInput,
  accessRequest: AccessRequest,
  visibility: Visibility,
  subject: ListSubject,
): ListDecision | Promise<ListDecision> | null {
  const { form } = input.restriction
  // The response contains two lists. Each has its own permission.
  if (form === 'groups')
    return { visibility: 'conditional', strategy: 'scan', postfilter: postfilterOf(input, subject) }
  if (visibility === 'none') return null
  if (form === 'locks') return locksDecision(input, accessRequest, subject)
  return form === 'instance counts' ? instancesDecision(input, accessRequest, visibility, subject) : null
}

async function locksDecision(
  { restriction, options: { findTargets } }: ListDecisionInput,
  accessRequest: AccessRequest,
  subject: ListSubject,
): Promise<ListDecision> {
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
async function instancesDecision(
  input: ListDecisionInput,
  { params }: AccessRequest,
  visibility: Visibility,
  subject: ListSubject,
): Promise<ListDecision> {
  const { id, key } = params
  const keyOf = async () => key ?? (await input.options.lookUp('processDefinition', id ?? ''))?.['key'] ?? ''
  const isFinal = !usesRevokes(subject.records, subject.principal)
  const isWhole =
    visibility === 'all' ||
    (isFinal && idsGranted(input.restriction, 'PROCESS_DEFINITION', subject).includes(await keyOf()))
  return isWhole
    ? countsDecision(subject)
    : { visibility: 'conditional', strategy: 'scan', postfilter: postfilterOf(input, subject) }
}

/** Decides a count or report that is permitted completely. Only the tenants restrict it. */
function countsDecision({ tenants }: ListSubject): ListDecision {
  return tenants === null ? ALL : { visibility: 'conditional', strategy: 'recount', tenants }
}

/** Reads what only the engine knows: the tasks that the caller's links open, and whether there are cases, which every caller sees. */
async function withLinksAndCases(
  input: ListDecisionInput,
  accessRequest: AccessRequest,
  { visibility, subject }: CallerVisibility,
): Promise<ListDecision> {
  const { restriction, options } = input
  const implied = await linkedTasksOf(restriction, subject, options)
  const isLinked = implied !== null && implied.user.size + implied.groups.size > 0
  const opened = visibility === 'none' && isLinked ? 'conditional' : visibility
  const seeing = { visibility: opened, subject: { ...subject, implicitGrants: implied } }
  const cases = restriction.exempt === 'case' ? await options.caseKeys() : []
  if (cases?.length === 0) return restrictedTo(input, accessRequest, seeing)
  // A query can select the tasks of one case key, but not of several.
  const [key = null] = cases?.length === 1 ? cases : []
  const narrowed = key === null ? null : narrowedTasks(input, accessRequest, seeing, key)
  return narrowed ?? plannedFor(input, accessRequest, seeing.subject, true)
}

/** Returns the tasks that the caller's links open. Null if links open nothing here. */
async function linkedTasksOf(
  { concernsTasks }: CompiledRestriction,
  { principal }: Pick<ListSubject, 'principal'>,
  { implicitGrants }: ListDecisionOptions,
): Promise<ListSubject['implicitGrants']> {
  return concernsTasks && implicitGrants !== null ? implicitGrants.tasks(principal) : null
}

/** Returns the decision without cases: no items, or the items that records and links name. */
function restrictedTo(
  input: ListDecisionInput,
  accessRequest: AccessRequest,
  { visibility, subject }: CallerVisibility,
): ListDecision {
  const { restriction, isValid } = input
  const mayBeSelf = subject.impliesIdentity && restriction.concernsIdentity
  if (visibility === 'none' && !mayBeSelf && (restriction.exempt === null || restriction.exempt === 'case'))
    return { visibility: 'none', valid: isValid() }
  const narrowed = narrowedTasks(input, accessRequest, { visibility, subject }, null)
  return narrowed ?? plannedFor(input, accessRequest, subject, false)
}

/** Returns a filter, with a plan if there is one. `hasCases` is true if there are items of cases, which every caller sees. */
function plannedFor(
  input: ListDecisionInput,
  accessRequest: AccessRequest,
  subject: ListSubject,
  hasCases: boolean,
): ListDecision {
  const { planner, isAnswerable } = input
  return {
    visibility: 'conditional',
    strategy: 'scan',
    postfilter: postfilterOf(input, subject),
    ...(planner !== null && { planner: planner({ subject, accessRequest, isAnswerable, hasCases }) }),
  }
}

/** Returns a rewritten task query, or null if no task query selects the visible tasks. `caseKey` is the key of all cases. */
function narrowedTasks(
  { operation, restriction, isValid }: ListDecisionInput,
  { query }: AccessRequest,
  { visibility, subject }: CallerVisibility,
  caseKey: string | null,
): ListDecision | null {
  if (operation.items?.prefilter !== 'task query' || !canNarrow(operation.method, query)) return null
  const granted = visibility === 'all' ? null : grantedTasks(restriction, subject, caseKey)
  if (granted === 'all but some') return null
  if (granted !== null && isNothing(granted)) return { visibility: 'none', valid: isValid() }
  const tenantIds = subject.tenants === null ? null : [...subject.tenants]
  return { visibility: 'conditional', strategy: 'rewrite', narrow: narrowTasks({ granted, tenantIds }) }
}

/** Creates the function that returns the permissions that a caller lacks for each item of a list. */
export function createMissingItemPermissions(
  compiled: CompiledRestriction,
  options: ListDecisionOptions,
): Permit['missingItemPermissions'] {
  return (accessRequest) => async (template, list) => {
    const restriction = restrictionFor(compiled, accessRequest)
    const implicitGrants = await linkedTasksOf(restriction, accessRequest, options)
    const subject = { ...subjectOf(accessRequest, options), implicitGrants }
    const attributes = await options.readItemAttributes(template, list)
    return missingForItems({ restriction, list, attributes, subject })
  }
}

function postfilterOf({ restriction, options }: ListDecisionInput, subject: ListSubject): Postfilter {
  return async (template, list) => {
    const attributes = await options.readItemAttributes(template, list)
    const ofKind = restriction.form === 'groups' ? onlyOf(restriction, template) : restriction
    return list.map((item, index) => {
      const attribute = attributes[index]
      return attribute !== undefined && isVisible(ofKind, item, attribute, subject)
    })
  }
}
