import { type OperatorText, operatorText, ownText, GatewayError } from '../../errors.ts'
import type { Operation } from '../../operations/table.ts'
import { bodyValue } from '../../request/body.ts'
import { isGiven } from './schemas/engine-error.ts'
import { isObject } from '../../request/value.ts'

/**
 * Checks the members by which a body selects entities: a query is an object, ids are a list of scalars, and each may be
 * null. The engine responds with 400 to any other value, before it checks a permission (Camunda 7.22, every operation that
 * selects). The gateway must never treat such a value as a query without conditions, because that would select everything.
 * @throws GatewayError GW_INVALID_BODY
 */
export function checkSelection({ selectors }: Pick<Operation, 'selectors'>, body: unknown): void {
  if (selectors === undefined) return
  const { queries, ids: lookedUp } = selectors
  for (const name of Object.keys(queries)) {
    const query = bodyValue(body, name)
    if (isGiven(query) && !isObject(query)) throw misfit(name, operatorText`an object`)
  }
  for (const name of [...Object.values(queries), ...Object.keys(lookedUp)]) {
    const ids = bodyValue(body, name)
    const isList = Array.isArray(ids) && ids.every((id) => typeof id !== 'object' || id === null)
    if (isGiven(ids) && !isList) throw misfit(name, operatorText`a list of ids`)
  }
}

/** Returns whether a list contains a null id. Depending on the operation, the engine accepts null as an id or fails. Such ids cannot be looked up. */
export function hasNullIds(body: unknown, member: string): boolean {
  const ids = bodyValue(body, member)
  return Array.isArray(ids) && ids.includes(null)
}

function misfit(name: string, what: OperatorText): GatewayError {
  return new GatewayError('GW_INVALID_BODY', {
    message: operatorText`The request body does not match the operation: $.${ownText(name)}: is not ${what}`,
  })
}
