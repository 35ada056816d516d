import type { Check } from '../operations/notation.ts'
import { RESOURCES } from '../operations/permissions.ts'
import type { AccessRequest } from '../request/access-request.ts'
import { createAuthorize } from '../policy/authz/checks/authorize.ts'
import { permissionChecksOf } from '../policy/authz/checks/permission-checks.ts'
import type { PermissionCheck } from '../policy/authz/decision/permission-check.ts'
import type { CheckExplanation, DecidedPermission, Explanation, OtherRefusal } from './explanation.ts'
import { decidingRecord } from './deciding-record.ts'
import { explainItems } from './explain-items.ts'
import {
  requirementsOf,
  recordsOfGrants,
  smallestGrants,
  withGrants,
} from '../policy/authz/records/grants.ts'
import type { AuthorizeOptions } from '../policy/authz/checks/authorize-options.ts'
import type { ListPermit } from '../lists/answer/decide-list.ts'
import type { Decision } from '../policy/authz/checks/decision.ts'
import {
  missingPermissionsOf,
  continueBehind,
  type TraceDecision,
  type DecisionTrace,
} from '../policy/authz/checks/decision-trace.ts'

const SHOWN_DECISIONS = 50

/** Explains the decisions of a permit. @throws GatewayError if a lookup fails */
export type ExplainRequest = (permit: ListPermit, accessRequest: AccessRequest) => Promise<Explanation>

/**
 * Creates the explanation of requests to one engine.
 * @param options the options with which the permits were created
 */
export function createExplainRequest(options: AuthorizeOptions): ExplainRequest {
  return async function explainRequest(permit, accessRequest) {
    const { operation, policy } = permit
    const listDecision = (await permit.decideList?.(accessRequest, false)) ?? { visibility: 'all' }
    const { seen, end } = await lookAtAll(permit, accessRequest)
    const missing = missingPermissionsOf(seen.filter(({ check }) => !check.after))
    const grants = smallestGrants(requirementsOf(missing))
    const { userId } = accessRequest.principal
    const decideWithGrants = async (): Promise<Decision> => {
      const records = () => withGrants(options.records(), userId, grants)
      return createAuthorize(policy.checks, { ...options, records }).authorize(accessRequest)
    }
    const decision = grants.length === 0 ? null : await decideWithGrants()
    return {
      checks: operation.checks.map((check, index) =>
        checkOf(check, index, { seen, end, accessRequest, options }),
      ),
      items: await explainItems(policy.restriction, listDecision, { accessRequest, options }),
      missing,
      grants: recordsOfGrants(grants, { userId }),
      sufficient: decision === null ? null : decision.permitted,
      otherRefusal: decision === null ? null : otherRefusalOf(decision),
    }
  }
}

function otherRefusalOf(decision: Decision): OtherRefusal | null {
  if (decision.permitted) return null
  const { refusal } = decision
  const { statusCode: status } = refusal
  return 'code' in refusal
    ? { status, error: refusal.code, reason: refusal.message }
    : { status, error: null, reason: refusal.reason }
}

/** Runs every check, including those after a refusal. Checks that follow the engine's response are evaluated for all ids. */
async function lookAtAll(
  permit: ListPermit,
  accessRequest: AccessRequest,
): Promise<{ seen: readonly DecisionTrace[]; end: Decision }> {
  const seen: DecisionTrace[] = []
  const trace: TraceDecision = (one) => {
    seen.push(one)
    return continueBehind(one)
  }
  const end = await permit.authorize(accessRequest, trace)
  permit.verifyCreated?.(accessRequest, '*', trace)
  return { seen, end }
}

interface TracedDecision {
  readonly seen: readonly DecisionTrace[]
  readonly end: Decision
  readonly accessRequest: AccessRequest
  readonly options: AuthorizeOptions
}

function checkOf(requirement: Check, index: number, look: TracedDecision): CheckExplanation {
  const seen = look.seen.filter(({ check }) => check.index === index)
  const shown = seen.slice(0, SHOWN_DECISIONS)
  const telling = seen.find(({ decision }) => !decision.permitted) ?? seen.at(-1)
  return {
    check: index,
    requirement,
    outcome: telling === undefined ? unseenWord(index, look) : wordOf(telling.decision),
    decisions: shown.map((one) => ({
      outcome: wordOf(one.decision),
      permissions: decidedPermissions(one, look),
    })),
    more: seen.length - shown.length,
  }
}

function wordOf(decision: Decision): string {
  return decision.permitted ? (decision.reason ?? 'granted') : 'refused'
}

/** Returns the reason why a check has no decisions: it had no entities to run over, or the evaluation ended at this check or earlier. */
function unseenWord(index: number, { seen, end }: TracedDecision): string {
  const last = seen.findLast(({ check }) => !check.after)?.check.index ?? -1
  if (end.permitted || index <= last) return 'there is nothing to ask for'
  if (index > last + 1) return 'not reached'
  return 'code' in end.refusal ? 'cannot be told exactly' : 'there is no such entity'
}

function decidedPermissions(
  { check, context }: DecisionTrace,
  { accessRequest, options }: TracedDecision,
): readonly DecidedPermission[] {
  const records = options.records()
  const asked: readonly PermissionCheck[] =
    context === null
      ? check.permissions.map(({ resource, permission }) => ({ resource, permission, id: null }))
      : permissionChecksOf(check, context)
  return asked.map((permissionCheck) => ({
    permission: permissionCheck.permission,
    resource: RESOURCES[permissionCheck.resource].name,
    resourceId: permissionCheck.id ?? '*',
    record: decidingRecord(records, accessRequest.principal, permissionCheck),
  }))
}
