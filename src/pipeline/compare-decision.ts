import type { Operation } from '../operations/table.ts'
import type { Principal } from '../request/principal.ts'
import type { RequestContext } from './context.ts'
import type { EngineDependencies } from './dependencies.ts'

/**
 * How the decision of the gateway differs from the response of an engine that decides itself. `stricter`: the gateway would refuse
 * the request or hide items of the response. `wider`: the engine refuses a request that the gateway would permit. `unknown`: the
 * response does not show the decision of the engine.
 */
export type DecisionAgreement = 'equal' | 'stricter' | 'wider' | 'unknown'

interface ComparedRequest extends Pick<RequestContext, 'origin' | 'refusal' | 'reports'> {
  readonly engine: Pick<EngineDependencies, 'authorization' | 'decidesItself'> | null
  readonly operation: Pick<Operation, 'id'> | null
  readonly principal: Principal | null
}

/**
 * Compares the decision about a request with the status of its response. Returns null unless the gateway only reports, and the
 * engine knows the caller and has responded.
 */
export function comparisonOf(context: ComparedRequest, status: number): DecisionAgreement | null {
  if (!isCompared(context)) return null
  const denied = context.reports.find((report) => report.stage === 'permit' && report.refusal !== null)
  if (denied?.refusal != null) return comparisonOfDenial(denied.refusal.statusCode, status)
  if (status === 401 || status === 403) return 'wider'
  return status < 400 ? comparisonOfItems(context) : 'unknown'
}

function isCompared({ engine, operation, principal, origin, refusal }: ComparedRequest): boolean {
  if (engine?.authorization !== 'report' || !engine.decidesItself || refusal !== null) return false
  return operation !== null && principal !== null && origin.kind === 'node'
}

function comparisonOfDenial(ofGateway: number, ofEngine: number): DecisionAgreement {
  if (ofEngine === ofGateway) return 'equal'
  return ofEngine < 400 ? 'stricter' : 'unknown'
}

/** The engine has removed the items that the caller may not see. The gateway should find nothing else to remove. */
function comparisonOfItems({ reports }: Pick<ComparedRequest, 'reports'>): DecisionAgreement {
  const [ofItems] = reports.filter(({ stage, refusal }) => stage === 'permit' && refusal === null)
  if (ofItems === undefined) return 'equal'
  if ((ofItems.denialReason?.missing.length ?? 0) > 0) return 'stricter'
  return ofItems.areItemsRead === true ? 'equal' : 'unknown'
}
