import type { Decision } from '../policy/authz/checks/decision.ts'
import type { DecisionTrace, TraceDecision } from '../policy/authz/checks/decision-trace.ts'
import type { CheckedContext } from './context.ts'
import type { Dependencies } from './dependencies.ts'
import { hasPermittedLine } from './audit.ts'

/** Collects the decisions of a request's checks. */
export interface CollectedGrounds {
  /** Returns a trace that also calls `other`. */
  readonly with: (other: TraceDecision | undefined) => TraceDecision
  /** Keeps the reasons for the audit line if the request is permitted. */
  readonly keep: (decision: Decision) => void
}

/** Returns null if the audit line of the request does not say why it is permitted. */
export function collectGrounds(
  { config: { audit } }: Pick<Dependencies, 'config'>,
  context: CheckedContext,
): CollectedGrounds | null {
  if (!audit.reasons || !hasPermittedLine(context.operation, audit)) return null
  const seen: DecisionTrace[] = []
  return {
    with: (other) => (one) => {
      seen.push(one)
      return other?.(one) ?? one.decision
    },
    keep: (decision) => {
      context.grounds = decision.permitted ? context.engine.groundsOf(seen, context.accessRequest) : []
    },
  }
}

export function traceOf(
  grounds: CollectedGrounds | null,
  other: TraceDecision | undefined,
): TraceDecision | undefined {
  return grounds === null ? other : grounds.with(other)
}
