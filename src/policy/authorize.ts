import { GatewayError } from '../errors.ts'
import type { Operation } from '../operations/table.ts'
import { absentAnswer, disguise } from './absent.ts'
import type { Asked } from './asked.ts'
import { listOf } from './asked.ts'
import type { AtomOptions } from './atoms.ts'
import type { CompiledCheck, Ground } from './check.ts'
import { applies, argumentOf, atomsOf, compileCheck, lookupKeyOf, missingOf } from './check.ts'
import { decideAll, decideAny, enabledChecks, isAuthorized } from './decide.ts'
import type { Implied } from './implied.ts'
import type { Facts, LookUp } from './lookup.ts'
import type { Records } from './records.ts'
import { usesRevokes } from './records.ts'
import { adminExceptionOf, adminOrPermissionExceptionOf, authorizationExceptionOf } from './refusal.ts'
import type { Verdict, Watch } from './verdict.ts'
import { BY_ADMIN, groundsOf, NOT_APPLIED, NOTHING_ASKED, OF_CASE, PERMITTED } from './verdict.ts'

/** The members of a set that only the engine knows; null: it cannot be determined here. */
export type FindEach = (each: string, asked: Asked) => Promise<readonly Facts[] | null>

export interface AuthorizeOptions extends AtomOptions {
  readonly records: () => Records
  readonly adminGroups: readonly string[]
  readonly adminUsers: readonly string[]
  readonly lookUp: LookUp
  readonly findEach: FindEach
  /** Null: links to tasks grant nothing. */
  readonly implied: Implied | null
  /** Whether users, groups and tenants are open to themselves and their members. */
  readonly impliesIdentity: boolean
}

/** The checks of one operation, ready to be asked. */
export interface Authorize {
  /** Before the engine is asked. Without look-ups the answer comes at once. @throws GatewayError when a look-up fails */
  readonly before: (asked: Asked, watch?: Watch) => Verdict | Promise<Verdict>
  /** After the engine has answered; null: this operation has no such check. */
  readonly after: ((asked: Asked, created: string, watch?: Watch) => Verdict) | null
}

/** The options, and who looks on while one request is decided. */
interface Pass extends AuthorizeOptions {
  readonly watch?: Watch
}

/** Prepares one operation's checks. @throws Error on a row the notation does not know */
export function createAuthorize(operation: Operation, options: AuthorizeOptions): Authorize {
  const checks = operation.checks.map((check, index) => compileCheck(check, operation.absent, options, index))
  const before = checks.filter((check) => !check.after)
  const after = checks.filter((check) => check.after)
  const passOf = (watch: Watch | undefined): Pass => (watch === undefined ? options : { ...options, watch })
  return {
    before: (asked, watch) => runAll(before, asked, passOf(watch)),
    after:
      after.length === 0
        ? null
        : (asked, created, watch) => runAfter(after, { asked, created }, passOf(watch)),
  }
}

/** Runs the checks in order; goes on asynchronously from the first that needs the engine. */
function runAll(checks: readonly CompiledCheck[], asked: Asked, options: Pass): Verdict | Promise<Verdict> {
  for (const [index, check] of checks.entries()) {
    if (isOver(check, asked, options)) continue
    if (needsEngine(check)) return runRest(checks.slice(index), asked, options)
    const verdict = run(
      check,
      { asked, known: new Map(), each: null, created: null, impliesIdentity: options.impliesIdentity },
      options,
    )
    if (!verdict.permitted) return verdict
  }
  return PERMITTED
}

async function runRest(checks: readonly CompiledCheck[], asked: Asked, options: Pass): Promise<Verdict> {
  const known = new Map<string, Facts | null>()
  for (const check of checks) {
    if (isOver(check, asked, options)) continue
    const missing = await learn(check, { asked, known }, options)
    if (missing) return { permitted: false, refusal: absentAnswer(check.absent, asked, null) }
    const verdict = await runEach(
      check,
      { asked, known, each: null, created: null, impliesIdentity: options.impliesIdentity },
      options,
    )
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
    const verdict = run(
      check,
      { asked, known: new Map(), each: null, created, impliesIdentity: options.impliesIdentity },
      options,
    )
    if (!verdict.permitted) return verdict
  }
  return PERMITTED
}

function isOver(check: CompiledCheck, asked: Asked, options: Pass): boolean {
  const isOnAll = isSettled(check, asked, options)
  if (isOnAll) options.watch?.({ check, ground: null, verdict: PERMITTED })
  return isOnAll
}

/** What can be settled without knowing ids: an admin's pass, or a grant on all when no revocation counts for the caller. */
function isSettled(check: CompiledCheck, { principal }: Asked, options: AuthorizeOptions): boolean {
  if (check.admin && isAdmin(principal, options)) return true
  const records = options.records()
  if (usesRevokes(records, principal)) return false
  const sure = check.permissions.filter(
    ({ fact }) => !(fact.from === 'lookup' && MAY_BE_MISSING.has(fact.lookup)),
  )
  const onAll = sure.map(({ resource, permission }) => ({ resource, permission, id: null }))
  if (check.mode === 'all')
    return onAll.length === check.permissions.length && decideAll(records, principal, onAll)
  return onAll.length > 0 && decideAny(records, principal, onAll)
}

/** Entities whose definition or instance may be none, so that a grant on all definitions does not reach them. */
const MAY_BE_MISSING: ReadonlySet<string> = new Set(['task', 'variableInstance'])

export function isAdmin(
  { userId, groups }: Asked['principal'],
  { adminGroups, adminUsers }: Pick<AuthorizeOptions, 'adminGroups' | 'adminUsers'>,
): boolean {
  return adminUsers.includes(userId) || groups.some((group) => adminGroups.includes(group))
}

function needsEngine({ permissions, each, when }: CompiledCheck): boolean {
  return (
    each !== null ||
    when === 'nothing is left active' ||
    permissions.some(({ fact }) => fact.from === 'lookup')
  )
}

/** Reads what the check needs. True: an entity that the request names does not exist. */
async function learn(
  check: CompiledCheck,
  { asked, known }: { readonly asked: Asked; readonly known: Map<string, Facts | null> },
  { lookUp }: AuthorizeOptions,
): Promise<boolean> {
  for (const { fact } of check.permissions) {
    if (fact.from !== 'lookup') continue
    const key = lookupKeyOf(fact)
    const id = argumentOf(fact, asked)
    if (id === null) continue
    if (!known.has(key)) known.set(key, await lookUp(fact.lookup, id))
    if (known.get(key) === null) return true
  }
  return false
}

async function runEach(check: CompiledCheck, ground: Ground, options: Pass): Promise<Verdict> {
  const applied = applies(check.when, ground)
  if (applied === false) return options.watch?.({ check, ground, verdict: NOT_APPLIED }) ?? NOT_APPLIED
  if (check.each === null) {
    const verdict = await runLinked(check, ground, options)
    return verdict.permitted || applied ? verdict : NOT_EXACT
  }
  const members = await membersOf(check.each, ground.asked, options)
  if (members === null) return NOT_EXACT
  for (const each of members) {
    const verdict = run(check, { ...ground, each }, options)
    if (!verdict.permitted) return verdict
  }
  return PERMITTED
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

const NOT_EXACT: Verdict = {
  permitted: false,
  refusal: new GatewayError('GW_CHECK_NOT_EXACT'),
}

async function membersOf(
  each: string,
  asked: Asked,
  { findEach }: AuthorizeOptions,
): Promise<readonly Facts[] | null> {
  const [, from, name] = /^(body|query):(\w+)\[\]$/.exec(each) ?? []
  return from === undefined || name === undefined ? findEach(each, asked) : listOf(asked, from, name)
}

function run(check: CompiledCheck, ground: Ground, options: Pass): Verdict {
  const verdict = rule(check, ground, options)
  return options.watch?.({ check, ground, verdict }) ?? verdict
}

/** One check against the records: the pure decision, and what its refusal looks like. */
function rule(check: CompiledCheck, ground: Ground, options: AuthorizeOptions): Verdict {
  if (applies(check.when, ground) === false) return NOT_APPLIED
  const { principal } = ground.asked
  if (check.admin && isAdmin(principal, options)) return BY_ADMIN
  if (check.admin && check.permissions.length === 0)
    return { permitted: false, refusal: adminExceptionOf(), grounds: groundsOf(check, [], () => null) }
  if (isCaseTask(ground)) return OF_CASE
  const records = options.records()
  const atoms = atomsOf(check, ground)
  // Nothing to ask about: the entity belongs to no definition and no instance, and the engine lets everybody in.
  if (atoms.length === 0) return NOTHING_ASKED
  const permitted =
    check.mode === 'all' ? decideAll(records, principal, atoms) : decideAny(records, principal, atoms)
  if (permitted) return PERMITTED
  const enabled = enabledChecks(records, atoms)
  const missing = missingOf(enabled)
  const forbidden = check.admin
    ? adminOrPermissionExceptionOf(missing)
    : authorizationExceptionOf(principal.userId, missing)
  const grounds = groundsOf(check, enabled, (atom) => isAuthorized(records, principal, atom))
  return { permitted: false, refusal: disguise(check, forbidden, ground), grounds }
}

/** The engine asks for no permission on a task of a case. */
function isCaseTask({ known }: Ground): boolean {
  return known.get('task path:id')?.['caseExecutionId'] != null
}
