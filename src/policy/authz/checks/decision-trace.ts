import type { AccessRequest } from '../../../request/access-request.ts'
import { ownText, type DenialReason, type MissingPermission } from '../../../errors.ts'
import { type MaybePromise, chain } from '../../../request/maybe-promise.ts'
import type { CompiledCheck } from './compiled-check.ts'
import { PERMITTED, type Decision } from './decision.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import type { ListItem } from '../entities/look-ups.ts'

/** One decision of a check. */
export interface DecisionTrace {
  readonly check: CompiledCheck
  /** Null if records on all ids decided the check before any id was known. */
  readonly context: EvaluationContext | null
  readonly decision: Decision
}

/** Receives each decision of a check and returns the decision to continue with. If it replaces a refusal, the checks after it run, too. */
export type TraceDecision = (seen: DecisionTrace) => Decision

/** The entities, and the caller's links to a task, that were read before the decision. */
export type KnownEntities = Pick<EvaluationContext, 'loaded' | 'implicitGrants'>

/** The checks of one operation, bound to one engine. */
export interface Authorize {
  /** Runs the checks before the request is sent. Returns no promise if no lookup is needed. @throws GatewayError if a lookup fails */
  readonly authorize: (
    accessRequest: AccessRequest,
    trace?: TraceDecision,
    known?: KnownEntities,
  ) => MaybePromise<Decision>
  /** Runs the checks after the engine's response. Null if the operation has no such check. */
  readonly verifyCreated:
    | ((accessRequest: AccessRequest, created: string, trace?: TraceDecision) => Decision)
    | null
}

/** Decides one operation for each item of a list. Returns the first refusal. */
export type CheckItems = (
  accessRequest: AccessRequest,
  template: string,
  items: readonly ListItem[],
) => Promise<Decision>

/** Returns the decision to continue with. A refusal that grants would change is replaced by a permit. */
export function continueBehind({ decision }: DecisionTrace): Decision {
  return decision.permitted || decision.denialReason === undefined ? decision : PERMITTED
}

/** Returns all missing permissions. Their `need` numbers are consecutive across the checks. */
export function missingPermissionsOf(seen: readonly DecisionTrace[]): readonly MissingPermission[] {
  const all: MissingPermission[] = []
  for (const { decision } of seen) {
    if (decision.permitted) continue
    const next = (all.at(-1)?.need ?? -1) + 1
    for (const one of decision.denialReason?.missing ?? []) all.push({ ...one, need: next + one.need })
  }
  return all
}

/** Adds the missing permissions of all checks to a refusal. The checks after the first refusal are evaluated as well. */
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

/** Returns the refusal that remains if all missing permissions are granted. No record changes it. */
function otherRefusalOf(end: Decision): Pick<DenialReason, 'otherRefusal'> {
  if (end.permitted) return {}
  return { otherRefusal: 'code' in end.refusal ? ownText(end.refusal.code) : end.refusal.reason }
}
