import type { EngineVerdict, GatewayError, Grounds, Lack } from '../errors.ts'
import { RESOURCES } from '../operations/permissions.ts'
import type { CompiledCheck, Ground } from './check.ts'
import type { AtomicCheck } from './decide.ts'

/** An expected "no" is a value. `refusal` is what the caller gets; without `grounds` no record would change it. */
export type Verdict =
  | { readonly permitted: true; readonly because?: Because }
  | {
      readonly permitted: false
      readonly refusal: EngineVerdict | GatewayError
      readonly grounds?: Grounds
    }

/** Why a check passes although no record was asked. */
export type Because =
  | 'it does not apply'
  | 'of an admin group or user'
  | 'a case task is open to all'
  | 'there is no id to ask for'

export const PERMITTED: Verdict = { permitted: true }
export const NOT_APPLIED: Verdict = { permitted: true, because: 'it does not apply' }
export const BY_ADMIN: Verdict = { permitted: true, because: 'of an admin group or user' }
export const OF_CASE: Verdict = { permitted: true, because: 'a case task is open to all' }
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

/**
 * Looks at every check instead of stopping at the first that refuses, so that one report names all that is missing.
 * @param before runs the checks under a watch
 */
export function refusalOfAll(
  before: (watch: Watch) => Verdict | Promise<Verdict>,
): Verdict | Promise<Verdict> {
  const refused: Refused[] = []
  const verdict = before((seen) => {
    if (seen.verdict.permitted || seen.verdict.grounds === undefined) return seen.verdict
    refused.push(seen.verdict)
    return PERMITTED
  })
  return verdict instanceof Promise ? verdict.then((last) => joined(refused, last)) : joined(refused, verdict)
}

type Refused = Extract<Verdict, { readonly permitted: false }>

/** The first refusal is the one that the caller would get. */
function joined(refused: readonly Refused[], last: Verdict): Verdict {
  const [first] = refused
  if (first === undefined) return last
  const missing: Lack[] = []
  for (const { grounds } of refused) {
    const next = (missing.at(-1)?.need ?? -1) + 1
    for (const lack of grounds?.missing ?? []) missing.push({ ...lack, need: next + lack.need })
  }
  return { ...first, grounds: { rule: first.grounds?.rule ?? '', missing } }
}
