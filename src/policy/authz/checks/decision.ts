import type { EngineRefusal, GatewayError, DenialReason, MissingPermission } from '../../../errors.ts'
import { RESOURCES } from '../../../operations/permissions.ts'
import type { CompiledCheck, EvaluationContext } from './check.ts'
import type { PermissionCheck } from '../decision/decide.ts'
import { chain, type MaybePromise } from '../../../request/maybe-promise.ts'

/** An expected "no" is a value. `refusal` is what the caller gets; without `grounds` no record would change it. */
export type Decision =
  | { readonly permitted: true; readonly because?: PermitReason }
  | {
      readonly permitted: false
      readonly refusal: EngineRefusal | GatewayError
      readonly denialReason?: DenialReason
      /** It looks as if there were no such entity: whether there is one makes no difference. */
      readonly isHidden?: boolean
      /** There is no such entity, or there is none any more. */
      readonly isGone?: boolean
      /** It comes before the engine looks at what the body selects. */
      readonly isUnselected?: boolean
    }

/** Why a check passes although no record was asked. */
export type PermitReason =
  | 'it does not apply'
  | 'of an admin group or user'
  | 'a case task is open to all'
  | 'everybody finds it'
  | 'there is no id to ask for'

export const PERMITTED: Decision = { permitted: true }
export const NOT_APPLIED: Decision = { permitted: true, because: 'it does not apply' }
export const BY_ADMIN: Decision = { permitted: true, because: 'of an admin group or user' }
export const OF_CASE: Decision = { permitted: true, because: 'a case task is open to all' }
export const FOUND_BY_ALL: Decision = { permitted: true, because: 'everybody finds it' }
export const NOTHING_ASKED: Decision = { permitted: true, because: 'there is no id to ask for' }

/** One decision of a check. */
export interface DecisionTrace {
  readonly check: CompiledCheck
  /** Null: settled by records on all, before any id was known. */
  readonly context: EvaluationContext | null
  readonly decision: Decision
}

/** Looks on while checks are decided, and says with which verdict it goes on: to see what stands behind a refusal. */
export type TraceDecision = (seen: DecisionTrace) => Decision

/** What a refused check wanted. An answer of no ends the engine's "one of", so alternatives behind it would not help. */
export function denialReasonOf(
  { index, mode, admin }: Pick<CompiledCheck, 'index' | 'mode' | 'admin'>,
  permissionChecks: readonly PermissionCheck[],
  answerTo: (permissionCheck: PermissionCheck) => boolean | null,
): DenialReason {
  const rule = admin ? `check ${index}: admin` : `check ${index}`
  const heard =
    mode === 'any'
      ? untilFirst(permissionChecks, (permissionCheck) => answerTo(permissionCheck) !== null)
      : permissionChecks.filter((permissionCheck) => answerTo(permissionCheck) !== true)
  const missing = heard.map(({ resource, permission, id }, at) => ({
    permission,
    resource: RESOURCES[resource].name,
    resourceId: id ?? '*',
    need: mode === 'any' ? 0 : at,
  }))
  return { rule, missing }
}

function untilFirst<T>(list: readonly T[], isLast: (item: T) => boolean): readonly T[] {
  const at = list.findIndex(isLast)
  return at < 0 ? list : list.slice(0, at + 1)
}

/** Goes on behind a refusal that grants would change. */
export function continueBehind({ decision }: DecisionTrace): Decision {
  return decision.permitted || decision.denialReason === undefined ? decision : PERMITTED
}

/** All that was missing, numbered through. */
export function missingPermissionsOf(seen: readonly DecisionTrace[]): readonly MissingPermission[] {
  const all: MissingPermission[] = []
  for (const { decision } of seen) {
    if (decision.permitted) continue
    const next = (all.at(-1)?.need ?? -1) + 1
    for (const one of decision.denialReason?.missing ?? []) all.push({ ...one, need: next + one.need })
  }
  return all
}

/** A refusal with what is missing for every check, not only for the first that refuses: those behind it are looked at too. */
export function withAllMissing(
  before: (trace?: TraceDecision) => MaybePromise<Decision>,
): MaybePromise<Decision> {
  return chain(before(), (decision) => completed(decision, before))
}

function completed(
  decision: Decision,
  before: (trace: TraceDecision) => MaybePromise<Decision>,
): MaybePromise<Decision> {
  if (decision.permitted || decision.denialReason === undefined) return decision
  const { rule } = decision.denialReason
  const seen: DecisionTrace[] = []
  const looked = before((one) => {
    seen.push(one)
    return continueBehind(one)
  })
  return chain(looked, () => ({ ...decision, denialReason: { rule, missing: missingPermissionsOf(seen) } }))
}
