import { EngineRefusal, GatewayError } from '../../../src/errors.ts'
import type { RequestData } from '../../../src/policy/validation/schemas/engine-error.ts'
import { checkRules, checkShape } from '../../../src/policy/validation/validate.ts'
import { operationOf } from '../../policy/validation/cases/case.ts'

/** The gateway's response to the shape of a request. `unmapped` is a 400 with a message of the gateway. Null if the gateway accepts the shape. */
export type Decision = { readonly status: number; readonly body: unknown } | 'unmapped' | null

export function refusalOf(
  operation: string,
  received: RequestData,
  rules: 'first' | 'all' = 'first',
): Decision {
  try {
    checkShape(operationOf({ operation }), received)
    if (rules === 'all') checkRules(operationOf({ operation }), received)
    return null
  } catch (error) {
    if (error instanceof EngineRefusal) return { status: error.statusCode, body: error.body }
    if (!(error instanceof GatewayError)) throw error
    return error.message.startsWith('The request body does not match the operation')
      ? 'unmapped'
      : { status: error.statusCode, body: error.body }
  }
}
