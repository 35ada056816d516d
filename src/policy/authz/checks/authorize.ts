import { ownText, type OperatorText } from '../../../errors.ts'
import type { AccessRequest } from '../../../request/access-request.ts'
import { listOf } from '../../../request/body.ts'
import type { CompiledCheck, CompiledChecks, Condition, Preconditions } from './compiled-check.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import { permissionChecksOf } from './permission-checks.ts'
import { checkPostconditions, checkPreconditions, isOfOtherTenant, loadEntity } from './preconditions.ts'
import { decideKeyTenants } from './key-tenants.ts'
import type { Targets } from '../entities/look-ups.ts'
import { LoadedEntities } from '../entities/loaded-entities.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { responseOf, NO_SUCH_ENTITY, OF_OTHER_TENANT } from './refusals.ts'
import { applies, isDecidedGlobally, UNDECIDABLE, evaluate } from './evaluate.ts'
import type { AuthorizeOptions } from './authorize-options.ts'
import { ownerBits } from '../entities/implicit-grants.ts'
import { tenantsFor } from '../decision/admin.ts'
import { chain, type MaybePromise } from '../../../request/maybe-promise.ts'
import { NOT_APPLIED, PERMITTED, type Decision } from './decision.ts'
import type { Authorize, TraceDecision } from './decision-trace.ts'

/** The options, with the trace of one request's decisions. */
interface TracedOptions extends AuthorizeOptions {
  readonly trace?: TraceDecision
}

interface BoundChecks {
  readonly checks: readonly CompiledCheck[]
  readonly preconditions: Preconditions
  readonly bodyReach: CompiledChecks['bodyReach']
  readonly options: TracedOptions
}

/** Binds the compiled checks of an operation to one engine. */
export function createAuthorize(
  { before, after, preconditions, bodyReach }: CompiledChecks,
  options: AuthorizeOptions,
): Authorize {
  const passOf = (trace: TraceDecision | undefined): TracedOptions =>
    trace === undefined ? options : { ...options, trace }
  return {
    authorize: (accessRequest, trace, known) =>
      authorizeRequest(
        { checks: before, preconditions, bodyReach, options: passOf(trace) },
        { ...contextOf(accessRequest, options), ...known },
      ),
    verifyCreated:
      after.length === 0
        ? null
        : (accessRequest, created, trace) =>
            verifyCreatedEntity(after, { accessRequest, created }, passOf(trace)),
  }
}

function authorizeRequest(bound: BoundChecks, context: EvaluationContext): MaybePromise<Decision> {
  const { bodyReach, options } = bound
  const decided = runChecks(bound, context)
  if (bodyReach === null) return decided
  const { accessRequest } = context
  const tenants = tenantsFor(accessRequest, options)
  const { tenantsOfKey } = options
  return chain(decided, (decision) =>
    decision.permitted ? decideKeyTenants(bodyReach, accessRequest, { tenantsOfKey, tenants }) : decision,
  )
}

function runChecks(bound: BoundChecks, context: EvaluationContext): MaybePromise<Decision> {
  const { preconditions, options } = bound
  const { accessRequest } = context
  // Another tenant's entity is refused before any permission is checked, because an engine without authorization would not
  // refuse it.
  if (preconditions.isTenanted && tenantsFor(accessRequest, options) !== null)
    return chain(
      refusedBefore(bound, context),
      (refused) =>
        refused ?? chain(runAll(bound, context), (decision) => refusedAfter(bound, context, decision)),
    )
  return chain(runAll(bound, context), (decision) => inOrder(bound, context, decision))
}

/** Returns the decision, or the refusal of a postcondition if the request is permitted. */
function refusedAfter(
  { preconditions, options }: BoundChecks,
  context: EvaluationContext,
  decision: Decision,
): Decision {
  if (!decision.permitted || !preconditions.hasPostconditions) return decision
  const refusal = checkPostconditions(preconditions, context, tenantsFor(context.accessRequest, options))
  return refusal === null ? decision : { permitted: false, refusal }
}

/**
 * Replaces a refusal by that of a precondition. The engine loads the entities of a request before it checks permissions, so
 * it reports a missing entity as missing, not as forbidden.
 */
function inOrder(bound: BoundChecks, context: EvaluationContext, decision: Decision): MaybePromise<Decision> {
  const { entities, responses } = bound.preconditions
  if (decision.permitted || decision.isHidden === true || entities.length + responses.length === 0)
    return decision
  return chain(refusedBefore(bound, context), (refused) => refused ?? decision)
}

/** Returns the refusal of the first precondition that refuses, or null if none does. */
function refusedBefore(
  { preconditions, options }: BoundChecks,
  context: EvaluationContext,
): MaybePromise<Decision | null> {
  const refused = checkPreconditions(preconditions, context, {
    lookUp: options.lookUp,
    tenants: tenantsFor(context.accessRequest, options),
  })
  return chain(refused, (refusal) =>
    refusal === null ? null : { permitted: false, refusal, ...notFoundIn(context) },
  )
}

/** Marks a decision if a lookup found no entity. */
function notFoundIn({ loaded }: EvaluationContext): { readonly isNotFound?: true } {
  return loaded.isNotFound() ? { isNotFound: true } : {}
}

/** Creates the context in which a request is decided, before any lookup. */
export function contextOf(
  accessRequest: AccessRequest,
  { impliesIdentity, impliesFilters = false }: Pick<AuthorizeOptions, 'impliesIdentity' | 'impliesFilters'>,
): EvaluationContext {
  return {
    accessRequest,
    loaded: new LoadedEntities(),
    each: null,
    created: null,
    impliesIdentity,
    impliesFilters,
  }
}

/** Runs the checks in order. The checks are asynchronous from the first one that needs the engine. */
function runAll({ checks, options }: BoundChecks, context: EvaluationContext): MaybePromise<Decision> {
  for (const check of checks) {
    if (isOver(check, context.accessRequest, options)) continue
    if (needsEngine(check)) return runRest(checks.slice(checks.indexOf(check)), context, options)
    const decision = run(check, context, options)
    if (!decision.permitted) return decision
  }
  return PERMITTED
}

async function runRest(
  checks: readonly CompiledCheck[],
  context: EvaluationContext,
  options: TracedOptions,
): Promise<Decision> {
  for (const check of checks) {
    if (isOver(check, context.accessRequest, options)) continue
    const decision = await runOne(check, context, options)
    if (!decision.permitted) return decision
  }
  return PERMITTED
}

function verifyCreatedEntity(
  checks: readonly CompiledCheck[],
  { accessRequest, created }: Pick<EvaluationContext, 'accessRequest' | 'created'>,
  options: TracedOptions,
): Decision {
  for (const check of checks) {
    const decision = run(check, { ...contextOf(accessRequest, options), created }, options)
    if (!decision.permitted) return decision
  }
  return PERMITTED
}

function needsEngine({ permissions, each, when, entity }: CompiledCheck): boolean {
  return (
    each !== null ||
    entity !== null ||
    (when !== null && when.ofEngine !== null) ||
    permissions.some((permission) => permission.attribute.from === 'lookup' || isOnFilter(permission))
  )
}

/** Returns whether the permission is checked on one filter, so that its owner matters. */
function isOnFilter({ resource, attribute }: CompiledCheck['permissions'][number]): boolean {
  return resource === 'FILTER' && attribute.from === 'path'
}

async function runOne(
  check: CompiledCheck,
  context: EvaluationContext,
  options: TracedOptions,
): Promise<Decision> {
  const missing = check.each === null ? isMissing : isUnloaded
  if (await missing(check, context, options))
    return {
      permitted: false,
      refusal: responseOf(check.notFound, context, ownText(context.loaded.missingReason)),
      isNotFound: true,
    }
  const applied = applies(check.when, context)
  if (applied === false) return options.trace?.({ check, context, decision: NOT_APPLIED }) ?? NOT_APPLIED
  const decision = await (check.each === null ? runLinked : runEach)(check, context, options)
  if (decision.permitted || applied === true || check.when === null) return decision
  return decisionByEngine(check.when, decision, context, options)
}

/** Decides a refusal if the gateway does not know whether the check applies. The engine evaluates the condition of the check. */
async function decisionByEngine(
  { ofEngine }: Condition,
  refused: Decision,
  { accessRequest }: EvaluationContext,
  { findCondition }: AuthorizeOptions,
): Promise<Decision> {
  const holds = ofEngine === null ? null : await findCondition(ofEngine, accessRequest)
  return holds === null ? UNDECIDABLE : holds ? refused : NOT_APPLIED
}

/** Loads the entity of the check. Returns true if it does not exist. */
async function isUnloaded(
  { entity }: CompiledCheck,
  context: EvaluationContext,
  { lookUp }: AuthorizeOptions,
): Promise<boolean> {
  return entity !== null && (await loadEntity(entity, context, lookUp)) === null
}

/** Loads the entities that the check needs. Returns true if an entity that the request names does not exist. */
async function isMissing(
  check: CompiledCheck,
  context: EvaluationContext,
  options: AuthorizeOptions,
): Promise<boolean> {
  const { permissions } = check
  const { lookUp } = options
  if (await isUnloaded(check, context, options)) return true
  for (const { attribute } of permissions)
    if (attribute.from === 'lookup' && (await loadEntity(attribute, context, lookUp)) === null) return true
  return false
}

async function runEach(
  check: CompiledCheck,
  context: EvaluationContext,
  options: TracedOptions,
): Promise<Decision> {
  const found = await targetsOf(check, context.accessRequest, options)
  if (found === null) return (await isOwnOnAll(check, context, options)) ? PERMITTED : UNDECIDABLE
  if (!('candidates' in found)) return runFound(check, found, context, options)
  const decision = await runFound(check, found.candidates, context, options)
  return decision.permitted ? decision : undecided(decision)
}

/**
 * Returns the decision for a refused candidate. It is not exact, because the engine may act on another candidate. The audit
 * log still names the missing permission.
 */
function undecided({ denialReason }: Extract<Decision, { permitted: false }>): Decision {
  return denialReason === undefined ? UNDECIDABLE : { ...UNDECIDABLE, denialReason }
}

async function runFound(
  check: CompiledCheck,
  targets: readonly Attributes[],
  context: EvaluationContext,
  options: TracedOptions,
): Promise<Decision> {
  const tenants = tenantsFor(context.accessRequest, options)
  if (check.needsTarget && targets.length === 0)
    return { ...emptyDecision(check, context, NO_SUCH_ENTITY), isNotFound: true }
  // The engine does not select entities of other tenants. The gateway removes nothing from the request that it forwards, so
  // only a selection that consists entirely of such entities equals an empty one.
  const unseen = targets.filter((each) => each['isSelected'] === 'true' && isOfOtherTenant(each, tenants))
  if (unseen.length > 0)
    return unseen.length === targets.length ? emptyDecision(check, context, OF_OTHER_TENANT) : UNDECIDABLE
  await listEach(check, targets, context, options)
  return runTargets(check, targets, context, options)
}

async function runTargets(
  check: CompiledCheck,
  targets: readonly Attributes[],
  context: EvaluationContext,
  options: TracedOptions,
): Promise<Decision> {
  let refused: Decision | null = null
  let passed = 0
  for (const each of targets) {
    context.accessRequest.checkDeadline?.()
    const decision = await runTarget(check, { ...context, each }, options)
    if (decision.permitted) passed += 1
    // This check is a selection, too: the engine leaves out entities that the caller may not see, and refuses only an empty
    // selection.
    else if (check.denied === 400) refused ??= decision
    else return decision
  }
  return refused === null ? PERMITTED : passed === 0 ? refused : UNDECIDABLE
}

/**
 * Returns whether a set that cannot be determined is permitted: a grant on all ids decides it, if nothing in the set belongs
 * to another tenant. If tenants do not restrict the caller, `isOver` has already checked that grant.
 */
async function isOwnOnAll(
  check: CompiledCheck,
  { accessRequest }: EvaluationContext,
  options: TracedOptions,
): Promise<boolean> {
  return (
    tenantsFor(accessRequest, options) !== null &&
    isDecidedGlobally(check, accessRequest, options) &&
    (await options.isOwn(check.each ?? '', accessRequest))
  )
}

/** Reads the process definitions that the targets name as a list, not one by one. */
async function listEach(
  { permissions }: CompiledCheck,
  targets: readonly Attributes[],
  { accessRequest, loaded }: EvaluationContext,
  { lookUpAll }: AuthorizeOptions,
): Promise<void> {
  for (const { attribute } of permissions) {
    if (
      attribute.from !== 'lookup' ||
      attribute.by.from !== 'each' ||
      attribute.lookup !== 'processDefinition'
    )
      continue
    const { name } = attribute.by
    const ids = targets.flatMap((each) => each[name] ?? [])
    loaded.list(attribute.lookup, ids, await lookUpAll(attribute.lookup, ids, accessRequest.checkDeadline))
  }
}

async function runTarget(
  check: CompiledCheck,
  context: EvaluationContext,
  options: TracedOptions,
): Promise<Decision> {
  // The engine checks no permission on an entity that does not exist.
  if (await isMissing(check, context, options)) return PERMITTED
  const isAnothers = isOfOtherTenant(context.each ?? {}, tenantsFor(context.accessRequest, options))
  return isAnothers ? crossTenantDecision(check, context) : run(check, context, options)
}

function emptyDecision(
  { notFound }: CompiledCheck,
  context: EvaluationContext,
  reason: OperatorText,
): Extract<Decision, { permitted: false }> {
  return { permitted: false, refusal: responseOf(notFound, context, reason) }
}

function crossTenantDecision({ crossTenant }: CompiledCheck, context: EvaluationContext): Decision {
  if (crossTenant === null || crossTenant === 'ignored') return UNDECIDABLE
  return { permitted: false, refusal: responseOf(crossTenant, context, OF_OTHER_TENANT) }
}

/** Reads the caller's links to a task, or the owner of a filter, only if the records deny the request, because both can only grant. */
async function runLinked(
  check: CompiledCheck,
  context: EvaluationContext,
  options: TracedOptions,
): Promise<Decision> {
  const decision = evaluate(check, context, options)
  const isKnown = decision.permitted || context.implicitGrants !== undefined
  const implicitGrants = isKnown
    ? null
    : ((await linksOf(check, context, options)) ?? (await ownershipOf(check, context, options)))
  return implicitGrants === null
    ? (options.trace?.({ check, context, decision }) ?? decision)
    : run(check, { ...context, implicitGrants }, options)
}

async function linksOf(
  check: CompiledCheck,
  context: EvaluationContext,
  { implicitGrants }: AuthorizeOptions,
) {
  const taskId = permissionChecksOf(check, context).find(({ resource }) => resource === 'TASK')?.id ?? null
  if (implicitGrants === null || taskId === null || taskId === '*') return null
  const linked = await implicitGrants.on(taskId, context.accessRequest.principal)
  return linked.user + linked.groups === 0 ? null : linked
}

async function ownershipOf(check: CompiledCheck, context: EvaluationContext, { lookUp }: AuthorizeOptions) {
  const { impliesFilters, loaded, accessRequest } = context
  if (impliesFilters !== true) return null
  const filterId =
    permissionChecksOf(check, context).find(({ resource }) => resource === 'FILTER')?.id ?? null
  if (filterId === null || filterId === '*') return null
  const filter = loaded.find('filter', filterId) ?? (await lookUp('filter', filterId))
  const owned = ownerBits(filter?.['owner'], accessRequest.principal)
  return owned.user === 0 ? null : owned
}

function isOver(check: CompiledCheck, accessRequest: AccessRequest, options: TracedOptions): boolean {
  // The set may contain another tenant's entities, so a grant on all ids is not sufficient.
  if (check.each !== null && tenantsFor(accessRequest, options) !== null) return false
  const isOnAll = isDecidedGlobally(check, accessRequest, options)
  if (isOnAll) options.trace?.({ check, context: null, decision: PERMITTED })
  return isOnAll
}

function run(check: CompiledCheck, context: EvaluationContext, options: TracedOptions): Decision {
  const decision = evaluate(check, context, options)
  return options.trace?.({ check, context, decision }) ?? decision
}

/** Returns the entities that a check runs over, or null if they cannot be determined. */
async function targetsOf(
  { each, list }: CompiledCheck,
  accessRequest: AccessRequest,
  { findTargets }: AuthorizeOptions,
): Promise<Targets | null> {
  return list === null ? findTargets(each ?? '', accessRequest) : listOf(accessRequest, list.from, list.name)
}
