import { GatewayError } from '../errors.ts'
import type { Principal } from '../request/principal.ts'
import {
  type DecidedContext,
  type DecisionMaker,
  forgetDecision,
  forgetReports,
  type LocatedContext,
  setPrincipal,
  type ReceivedRequest,
} from './context.ts'
import type { EngineDependencies } from './dependencies.ts'
import { createPrincipalOf } from './authenticate-caller.ts'
import { readRequest } from './read-request.ts'

/** Returns whether the records and the caller are still those of the decision. It only compares, without any lookup. */
export function isStillDecided({ engine, principal, recordsVersion }: LocatedContext): boolean {
  try {
    return engine.recordsVersion() === recordsVersion && engine.authenticator.isCurrent(principal)
  } catch {
    // Users or keys are too old for a decision. The next decision reports that.
    return false
  }
}

/** Returns whether a request was not sent because its decision no longer held. */
export function isOutdated(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'GW_DECISION_OUTDATED'
}

/**
 * Decides a waiting request again. It authenticates the caller again if the caller may have changed, and then decides the
 * permission.
 * @throws the refusal that a new request would get
 */
export async function decideAgain(
  { dependencies, decide }: DecisionMaker,
  context: LocatedContext,
  request: ReceivedRequest,
): Promise<DecidedContext> {
  const { stage } = context
  forgetDecision(context)
  context.stage = 'authenticate'
  const { engine, principal } = context
  const identify = createPrincipalOf(dependencies)
  setPrincipal(
    context,
    await identifyAgain({ authenticator: engine.authenticator, identify }, principal, request),
  )
  forgetReports(context)
  const checked = readRequest(dependencies, context, request)
  checked.stage = 'permit'
  const decided = await decide(dependencies, checked, request)
  decided.stage = stage
  return decided
}

/**
 * Returns the current caller. Credentials are not verified if no change can have been missed.
 * @throws the refusal that a new request would get
 */
export async function identifyAgain(
  {
    authenticator,
    identify,
  }: {
    readonly authenticator: EngineDependencies['authenticator']
    readonly identify: ReturnType<typeof createPrincipalOf>
  },
  principal: Principal,
  request: ReceivedRequest,
): Promise<Principal> {
  if (authenticator.isCurrent(principal) && authenticator.isRecent(principal)) return principal
  return identify(authenticator, request)
}
