import type { Operation } from '../../../operations/table.ts'
import { applies, isForEngine } from './conditions.ts'
import type { Asked } from '../../../request/access-request.ts'
import { listOf } from '../../../request/access-request.ts'
import type { CompiledCheck, Ground } from './check.ts'
import { atomsOf, compileCheck } from './check.ts'
import {
  type Entities,
  entitiesOf,
  isForeign,
  lateAnswer,
  learn,
  settle,
  tenantsOf,
} from './preconditions.ts'
import type { FindOut } from '../entities/engine-condition.ts'
import type { Implied } from '../entities/implicit-grants.ts'
import { Known } from '../entities/loaded-entities.ts'
import type { Facts, LookUps } from '../entities/lookup.ts'
import { absentAnswer } from './not-found.ts'
import { isAdmin, isSettled, NOT_EXACT, rule, type RulingOptions } from './evaluate.ts'
import { andThen, type Soon } from '../../../request/maybe-promise.ts'
import type { Verdict, Watch } from './decision.ts'
import { NOT_APPLIED, PERMITTED } from './decision.ts'

/** The members of a set that only the engine knows; null: it cannot be determined here. */
export type FindEach = (each: string, asked: Asked) => Promise<readonly Facts[] | null>

/** Whether nothing of a set that cannot be determined belongs to a tenant that the caller is no member of. */
export type IsOwn = (each: string, asked: Asked) => Promise<boolean>

export interface AuthorizeOptions extends RulingOptions, LookUps {
  readonly findEach: FindEach
  readonly isOwn: IsOwn
  readonly findOut: FindOut
  /** Null: links to tasks grant nothing. */
  readonly implied: Implied | null
  /** Whether users, groups and tenants are open to themselves and their members. */
  readonly impliesIdentity: boolean
  /** As the engine's `tenantCheckEnabled`. */
  readonly checksTenants: boolean
}

/** The checks of one operation, ready to be asked. */
export interface Authorize {
  /** Before the engine is asked. Without look-ups the answer comes at once. @throws GatewayError when a look-up fails */
  readonly before: (asked: Asked, watch?: Watch) => Soon<Verdict>
  /** After the engine has answered; null: this operation has no such check. */
  readonly after: ((asked: Asked, created: string, watch?: Watch) => Verdict) | null
}

/** The options, and who looks on while one request is decided. */
interface Pass extends AuthorizeOptions {
  readonly watch?: Watch
}

interface Parts {
  readonly checks: readonly CompiledCheck[]
  readonly entities: Entities
  readonly options: Pass
}

/** Prepares one operation's checks. @throws Error on a row the notation does not know */
export function createAuthorize(operation: Operation, options: AuthorizeOptions): Authorize {
  const checks = operation.checks.map((check, index) => compileCheck(check, operation, { ...options, index }))
  const before = checks.filter((check) => !check.after)
  const after = checks.filter((check) => check.after)
  const entities = entitiesOf(operation, before)
  const passOf = (watch: Watch | undefined): Pass => (watch === undefined ? options : { ...options, watch })
  return {
    before: (asked, watch) => runBefore({ checks: before, entities, options: passOf(watch) }, asked),
    after:
      after.length === 0
        ? null
        : (asked, created, watch) => runAfter(after, { asked, created }, passOf(watch)),
  }
}

function runBefore(parts: Parts, asked: Asked): Soon<Verdict> {
  const { entities, options } = parts
  const ground = groundOf(asked, options)
  // Another tenant's entity is refused before any permission is asked for, and a bare engine would not refuse it.
  if (entities.isTenanted && tenantsFor(asked, options) !== null)
    return andThen(
      settled(parts, ground),
      (verdict) => verdict ?? andThen(runAll(parts, ground), (said) => late(parts, ground, said)),
    )
  return andThen(runAll(parts, ground), (verdict) => inOrder(parts, ground, verdict))
}

function late({ entities, options }: Parts, ground: Ground, verdict: Verdict): Verdict {
  if (!verdict.permitted || !entities.isLate) return verdict
  const refusal = lateAnswer(entities, ground, tenantsFor(ground.asked, options))
  return refusal === null ? verdict : { permitted: false, refusal }
}

/** The engine looks for what is asked about before it refuses it: nobody is forbidden what does not exist. */
function inOrder(parts: Parts, ground: Ground, verdict: Verdict): Soon<Verdict> {
  const { list, first } = parts.entities
  if (verdict.permitted || verdict.isHidden === true || list.length + first.length === 0) return verdict
  return andThen(settled(parts, ground), (earlier) => earlier ?? verdict)
}

function settled({ entities, options }: Parts, ground: Ground): Soon<Verdict | null> {
  const { lookUp } = options
  const said = settle(entities, ground, { lookUp, tenants: tenantsFor(ground.asked, options) })
  return andThen(said, (refusal) =>
    refusal === null ? null : { permitted: false, refusal, ...goneIn(ground) },
  )
}

/** Whether something that was looked for is not there. */
function goneIn({ known }: Ground): { readonly isGone?: true } {
  return known.lacksOne() ? { isGone: true } : {}
}

/** Admins see every tenant's, and so does everybody where tenants are not checked. */
function tenantsFor({ principal }: Asked, options: AuthorizeOptions): readonly string[] | null {
  return tenantsOf(principal, !options.checksTenants || isAdmin(principal, options))
}

function groundOf(asked: Asked, { impliesIdentity }: Pick<AuthorizeOptions, 'impliesIdentity'>): Ground {
  return { asked, known: new Known(), each: null, created: null, impliesIdentity }
}

/** Runs the checks in order; goes on asynchronously from the first that needs the engine. */
function runAll({ checks, options }: Parts, ground: Ground): Soon<Verdict> {
  for (const check of checks) {
    if (isOver(check, ground.asked, options)) continue
    if (needsEngine(check)) return runRest(checks.slice(checks.indexOf(check)), ground, options)
    const verdict = run(check, ground, options)
    if (!verdict.permitted) return verdict
  }
  return PERMITTED
}

async function runRest(checks: readonly CompiledCheck[], ground: Ground, options: Pass): Promise<Verdict> {
  for (const check of checks) {
    if (isOver(check, ground.asked, options)) continue
    const verdict = await runOne(check, ground, options)
    if (!verdict.permitted) return verdict
  }
  return PERMITTED
}

function runAfter(
  checks: readonly CompiledCheck[],
  { asked, created }: Pick<Ground, 'asked' | 'created'>,
  options: Pass,
): Verdict {
  for (const check of checks) {
    const verdict = run(check, { ...groundOf(asked, options), created }, options)
    if (!verdict.permitted) return verdict
  }
  return PERMITTED
}

function needsEngine({ permissions, each, when, entity }: CompiledCheck): boolean {
  return (
    each !== null ||
    entity !== null ||
    (when !== null && isForEngine(when)) ||
    permissions.some(({ fact }) => fact.from === 'lookup')
  )
}

async function runOne(check: CompiledCheck, ground: Ground, options: Pass): Promise<Verdict> {
  const missing = check.each === null ? isMissing : isUnloaded
  if (await missing(check, ground, options))
    return { permitted: false, refusal: absentAnswer(check.absent, ground), isGone: true }
  const applied = applies(check.when, ground)
  if (applied === false) return options.watch?.({ check, ground, verdict: NOT_APPLIED }) ?? NOT_APPLIED
  const verdict = await (check.each === null ? runLinked : runEach)(check, ground, options)
  if (verdict.permitted || applied === true || check.when === null) return verdict
  const found = await options.findOut(check.when, ground.asked)
  return found === null ? NOT_EXACT : found ? verdict : NOT_APPLIED
}

/** Reads what the engine has loaded before the check. True: it does not exist. */
async function isUnloaded(
  { entity }: CompiledCheck,
  ground: Ground,
  { lookUp }: AuthorizeOptions,
): Promise<boolean> {
  return entity !== null && (await learn(entity, ground, lookUp)) === null
}

/** Reads what the check needs. True: an entity that the request names does not exist. */
async function isMissing(check: CompiledCheck, ground: Ground, options: AuthorizeOptions): Promise<boolean> {
  const { permissions } = check
  const { lookUp } = options
  if (await isUnloaded(check, ground, options)) return true
  for (const { fact } of permissions)
    if (fact.from === 'lookup' && (await learn(fact, ground, lookUp)) === null) return true
  return false
}

async function runEach(check: CompiledCheck, ground: Ground, options: Pass): Promise<Verdict> {
  const members = await membersOf(check.each ?? '', ground.asked, options)
  if (members === null) return (await isOwnOnAll(check, ground, options)) ? PERMITTED : NOT_EXACT
  const tenants = tenantsFor(ground.asked, options)
  // Another tenant's are not selected; here nothing is left out of what is sent, so only all of them are as good as none.
  const unseen = members.filter((each) => each['isSelected'] === 'true' && isForeign(each, tenants))
  if (unseen.length > 0) return unseen.length === members.length ? emptyVerdict(check, ground) : NOT_EXACT
  await listEach(check, members, ground, options)
  return runMembers(check, members, ground, options)
}

async function runMembers(
  check: CompiledCheck,
  members: readonly Facts[],
  ground: Ground,
  options: Pass,
): Promise<Verdict> {
  let refused: Verdict | null = null
  let passed = 0
  for (const each of members) {
    ground.asked.stillAwaited?.()
    const verdict = await runMember(check, { ...ground, each }, options)
    if (verdict.permitted) passed += 1
    // A selection, too: what the caller may not see is left out, and only an empty one is refused.
    else if (check.denied === 400) refused ??= verdict
    else return verdict
  }
  return refused === null ? PERMITTED : passed === 0 ? refused : NOT_EXACT
}

/**
 * What cannot be found is decided by a grant on all, where nothing of it is another tenant's. A caller whom tenants do not
 * restrict has been asked for that grant before.
 */
async function isOwnOnAll(check: CompiledCheck, { asked }: Ground, options: Pass): Promise<boolean> {
  return (
    tenantsFor(asked, options) !== null &&
    isSettled(check, asked, options) &&
    (await options.isOwn(check.each ?? '', asked))
  )
}

/** What each member names and the engine lists is read at once, and not one by one. */
async function listEach(
  { permissions }: CompiledCheck,
  members: readonly Facts[],
  { asked, known }: Ground,
  { lookUpAll }: AuthorizeOptions,
): Promise<void> {
  for (const { fact } of permissions) {
    if (fact.from !== 'lookup' || fact.by.from !== 'each' || fact.lookup !== 'processDefinition') continue
    const { name } = fact.by
    const ids = members.flatMap((each) => each[name] ?? [])
    known.list(fact.lookup, ids, await lookUpAll(fact.lookup, ids, asked.stillAwaited))
  }
}

async function runMember(check: CompiledCheck, ground: Ground, options: Pass): Promise<Verdict> {
  // The engine asks for nothing on what is not there.
  if (await isMissing(check, ground, options)) return PERMITTED
  const isAnothers = isForeign(ground.each ?? {}, tenantsFor(ground.asked, options))
  return isAnothers ? foreignVerdict(check, ground) : run(check, ground, options)
}

function emptyVerdict({ absent }: CompiledCheck, ground: Ground): Verdict {
  return { permitted: false, refusal: absentAnswer(absent, ground) }
}

function foreignVerdict({ foreign }: CompiledCheck, ground: Ground): Verdict {
  const said = foreign === 'ignored' ? null : foreign
  return said === null ? NOT_EXACT : { permitted: false, refusal: absentAnswer(said, ground) }
}

/** Links to a task are asked for only where the records say no: they can only open. */
async function runLinked(check: CompiledCheck, ground: Ground, options: Pass): Promise<Verdict> {
  const verdict = rule(check, ground, options)
  const linked = verdict.permitted ? null : await linksOf(check, ground, options)
  return linked === null
    ? (options.watch?.({ check, ground, verdict }) ?? verdict)
    : run(check, { ...ground, linked }, options)
}

async function linksOf(check: CompiledCheck, ground: Ground, { implied }: AuthorizeOptions) {
  const taskId = atomsOf(check, ground).find(({ resource }) => resource === 'TASK')?.id ?? null
  if (implied === null || taskId === null || taskId === '*') return null
  const linked = await implied.on(taskId, ground.asked.principal)
  return linked.user + linked.groups === 0 ? null : linked
}

function isOver(check: CompiledCheck, asked: Asked, options: Pass): boolean {
  // Among what only the engine finds may be another tenant's.
  if (check.each !== null && tenantsFor(asked, options) !== null) return false
  const isOnAll = isSettled(check, asked, options)
  if (isOnAll) options.watch?.({ check, ground: null, verdict: PERMITTED })
  return isOnAll
}

function run(check: CompiledCheck, ground: Ground, options: Pass): Verdict {
  const verdict = rule(check, ground, options)
  return options.watch?.({ check, ground, verdict }) ?? verdict
}

async function membersOf(
  each: string,
  asked: Asked,
  { findEach }: AuthorizeOptions,
): Promise<readonly Facts[] | null> {
  const [, from, name] = /^(body|query):(\w+)\[\]$/.exec(each) ?? []
  return from === undefined || name === undefined ? findEach(each, asked) : listOf(asked, from, name)
}
