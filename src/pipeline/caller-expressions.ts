import { operatorText, ownText } from '../errors.ts'
import { nameCaller, namesCaller } from '../lists/rewrite/name-caller.ts'
import { hazard } from '../policy/validation/hazards.ts'
import { bodyValue } from '../request/body.ts'
import { readJson } from '../request/json.ts'
import { type CheckedContext, setRequest } from './context.ts'

/**
 * Replaces the expressions that name the caller in the body of a task query. An engine that decides itself knows the caller. An engine
 * refuses an expression outside of or-blocks unless it is configured to accept it, and the gateway does not change that: the
 * configuration says whether the engine accepts it.
 */
export function replaceCallerExpressions(context: CheckedContext): void {
  const { engine, operation, principal, accessRequest, bytes, search } = context
  if (operation.expressions === undefined || operation.items === undefined || bytes === null) return
  if (engine.decidesItself || principal.userId === '') return
  const part = engine.accepted.allowedHazards.has('expressions') ? 'whole' : 'blocks'
  const named = nameCaller({ bytes, query: accessRequest.body }, principal, part)
  if (named === null) return
  setRequest(context, { accessRequest: { ...accessRequest, body: readJson(named) }, bytes: named, search })
}

/**
 * Conditions of a task query that an engine stores with a filter, but does not show in it. Compared with Camunda 7.24.0 and Operaton
 * 1.0.3 for every member of a task query.
 */
const HIDDEN_CONDITIONS: readonly string[] = [
  'assigneeNotIn',
  'processInstanceBusinessKeyIn',
  'taskId',
  'taskIdIn',
  'tenantIdIn',
  'withCandidateGroups',
  'withCandidateUsers',
  'withoutCandidateGroups',
  'withoutCandidateUsers',
]

/**
 * Checks that the gateway can execute a filter for its callers. It reads the stored query from the engine to put the caller in it, and
 * would lose the conditions that the engine does not show.
 * @throws GatewayError GW_HAZARD for a query to store that names the caller and has such a condition
 */
export function checkHiddenConditions({ engine, operation, accessRequest }: CheckedContext): void {
  if (operation.expressions !== 'checked' || operation.items !== undefined) return
  if (engine.decidesItself || engine.accepted.allowedHazards.has('expressions')) return
  const query = bodyValue(accessRequest.body, 'query')
  const { userId } = accessRequest.principal
  if (!namesCaller(query, { userId, groups: [userId] }, 'whole')) return
  const hidden = HIDDEN_CONDITIONS.find((name) => isCondition(bodyValue(query, name)))
  if (hidden !== undefined)
    throw hazard(
      'expressions',
      operatorText`$.query.${ownText(hidden)}, with an expression that names the caller`,
    )
}

/** Returns whether an engine stores a condition for the value of a member. */
function isCondition(value: unknown): boolean {
  const isNothing = value === undefined || value === null || value === false
  return !isNothing && !(Array.isArray(value) && value.length === 0)
}
