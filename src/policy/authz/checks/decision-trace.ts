import type { AccessRequest } from '../../../request/access-request.ts'
import type { DenialReason, MissingPermission } from '../../../errors.ts'
import { type MaybePromise, chain } from '../../../request/maybe-promise.ts'
import type { CompiledCheck } from './compiled-check.ts'
import { PERMITTED, type Decision } from './decision.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import type { ListRow } from '../entities/look-ups.ts'

/** One decision of a check. */
export interface DecisionTrace {
  readonly check: CompiledCheck
  /** Null: settled by records on all, before any id was known. */
  readonly context: EvaluationContext | null
  readonly decision: Decision
}

/** Follows the checks as they are decided. It returns the decision to go on with, which shows what follows a refusal. */
export type TraceDecision = (seen: DecisionTrace) => Decision

/** Entities, and links of the caller to a task, that were read before the decision. */
export type KnownEntities = Pick<EvaluationContext, 'loaded' | 'linked'>

/** The checks of one operation, ready to be asked. */
export interface Authorize {
  /** Before the engine is asked. Without look-ups the answer comes at once. @throws GatewayError when a look-up fails */
  readonly before: (
    accessRequest: AccessRequest,
    trace?: TraceDecision,
    known?: KnownEntities,
  ) => MaybePromise<Decision>
  /** After the engine has answered; null: this operation has no such check. */
  readonly after: ((accessRequest: AccessRequest, created: string, trace?: TraceDecision) => Decision) | null
}

/** Decides one operation for each item of a list. The first refusal is the decision. */
export type CheckItems = (
  accessRequest: AccessRequest,
  template: string,
  items: readonly ListRow[],
) => Promise<Decision>

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
  return chain(looked, (end) => ({
    ...decision,
    denialReason: { rule, missing: missingPermissionsOf(seen), ...otherRefusalOf(end) },
  }))
}

/** The refusal behind all missing permissions, which no record changes. */
function otherRefusalOf(end: Decision): Pick<DenialReason, 'otherRefusal'> {
  if (end.permitted) return {}
  return { otherRefusal: 'code' in end.refusal ? end.refusal.code : end.refusal.reason }
}
