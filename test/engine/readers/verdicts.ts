import { EngineRefusal, GatewayError } from '../../../src/errors.ts'
import { checkRules, checkShape, type Received } from '../../../src/policy/validation/validate.ts'
import { operationOf } from '../../policy/validation/cases/case.ts'

/** What the gateway answers to a request for its shape; `unmapped`: 400 in words of its own. Null: it lets it pass. */
export type Decision = { readonly status: number; readonly body: unknown } | 'unmapped' | null

export function refusalOf(operation: string, received: Received, rules: 'first' | 'all' = 'first'): Decision {
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
