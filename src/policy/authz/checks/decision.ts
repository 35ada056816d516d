import type { EngineVerdict, GatewayError, Grounds, Lack } from '../../../errors.ts'
import { RESOURCES } from '../../../operations/permissions.ts'
import type { CompiledCheck, Ground } from './check.ts'
import type { AtomicCheck } from '../decision/decide.ts'
import { andThen, type Soon } from '../../../request/maybe-promise.ts'

/** An expected "no" is a value. `refusal` is what the caller gets; without `grounds` no record would change it. */
export type Verdict =
  | { readonly permitted: true; readonly because?: Because }
  | {
      readonly permitted: false
      readonly refusal: EngineVerdict | GatewayError
      readonly grounds?: Grounds
      /** It looks as if there were no such entity: whether there is one makes no difference. */
      readonly isHidden?: boolean
      /** There is no such entity, or there is none any more. */
      readonly isGone?: boolean
      /** It comes before the engine looks at what the body selects. */
      readonly isUnselected?: boolean
    }

/** Why a check passes although no record was asked. */
export type Because =
  | 'it does not apply'
  | 'of an admin group or user'
  | 'a case task is open to all'
  | 'everybody finds it'
  | 'there is no id to ask for'

export const PERMITTED: Verdict = { permitted: true }
export const NOT_APPLIED: Verdict = { permitted: true, because: 'it does not apply' }
export const BY_ADMIN: Verdict = { permitted: true, because: 'of an admin group or user' }
export const OF_CASE: Verdict = { permitted: true, because: 'a case task is open to all' }
export const FOUND_BY_ALL: Verdict = { permitted: true, because: 'everybody finds it' }
export const NOTHING_ASKED: Verdict = { permitted: true, because: 'there is no id to ask for' }

/** One decision of a check. */
export interface Seen {
  readonly check: CompiledCheck
  /** Null: settled by records on all, before any id was known. */
  readonly ground: Ground | null
  readonly verdict: Verdict
}

/** Looks on while checks are decided, and says with which verdict it goes on: to see what stands behind a refusal. */
export type Watch = (seen: Seen) => Verdict

/** What a refused check wanted. An answer of no ends the engine's "one of", so alternatives behind it would not help. */
export function groundsOf(
  { index, mode, admin }: Pick<CompiledCheck, 'index' | 'mode' | 'admin'>,
  atoms: readonly AtomicCheck[],
  answerTo: (atom: AtomicCheck) => boolean | null,
): Grounds {
  const rule = admin ? `check ${index}: admin` : `check ${index}`
  const heard =
    mode === 'any'
      ? untilFirst(atoms, (atom) => answerTo(atom) !== null)
      : atoms.filter((atom) => answerTo(atom) !== true)
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
export function goOn({ verdict }: Seen): Verdict {
  return verdict.permitted || verdict.grounds === undefined ? verdict : PERMITTED
}

/** All that was missing, numbered through. */
export function lacksOf(seen: readonly Seen[]): readonly Lack[] {
  const lacks: Lack[] = []
  for (const { verdict } of seen) {
    if (verdict.permitted) continue
    const next = (lacks.at(-1)?.need ?? -1) + 1
    for (const lack of verdict.grounds?.missing ?? []) lacks.push({ ...lack, need: next + lack.need })
  }
  return lacks
}

/** A refusal with what is missing for every check, not only for the first that refuses: those behind it are looked at too. */
export function withAllLacks(before: (watch?: Watch) => Soon<Verdict>): Soon<Verdict> {
  return andThen(before(), (verdict) => completed(verdict, before))
}

function completed(verdict: Verdict, before: (watch: Watch) => Soon<Verdict>): Soon<Verdict> {
  if (verdict.permitted || verdict.grounds === undefined) return verdict
  const { rule } = verdict.grounds
  const seen: Seen[] = []
  const looked = before((one) => {
    seen.push(one)
    return goOn(one)
  })
  return andThen(looked, () => ({ ...verdict, grounds: { rule, missing: lacksOf(seen) } }))
}
