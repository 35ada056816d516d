import { pathText } from '../../../operations/published/declared-names.ts'
import { type OperatorText, ownText, operatorText, GatewayError } from '../../../errors.ts'
import { invalidResponse } from '../../../request/engine-request.ts'
import { isSameName } from '../../../request/same-name.ts'
import { isObject, stringOf } from '../../../request/value.ts'
import type { ReadEngine } from './look-ups.ts'

/** A JSON object of an engine's response. */
export type Item = Readonly<Record<string, unknown>>

/**
 * The members that an object of a response must have before a decision uses it. An error page, or the response of another
 * service, may be JSON as well: a missing member would look like "belongs to no definition and no tenant".
 */
export interface ItemShape {
  /** Members whose values the request determines, in the spelling of the request. */
  readonly named?: Readonly<Record<string, string>>
  /** Members that contain text and are never null. */
  readonly texts?: readonly string[]
  /** Members that contain text, or null if the engine has no value. */
  readonly nullable?: readonly string[]
}

interface ResponseExpectation {
  /** Path and query of the request, for the log. */
  readonly path: string
  readonly shape: ItemShape
}

/** Returns an entity, or null if the engine has none. @throws GatewayError GW_UPSTREAM_INVALID for any other response */
export function entityIn(response: unknown, expected: ResponseExpectation): Item | null {
  return response === null ? null : itemOf(response, expected)
}

/** Returns the items of a list. @throws GatewayError GW_UPSTREAM_INVALID unless every item has the shape */
export function itemsIn(response: unknown, expected: ResponseExpectation): readonly Item[] {
  if (!Array.isArray(response)) throw invalidLookUp(operatorText`is not a list`, expected.path)
  return response.map((item: unknown) => itemOf(item, expected))
}

function itemOf(
  item: unknown,
  { path, shape: { named = {}, texts = [], nullable = [] } }: ResponseExpectation,
): Item {
  if (!isObject(item)) throw invalidLookUp(operatorText`is not an entity`, path)
  for (const [name, value] of Object.entries(named)) {
    const given = stringOf(item[name])
    // A database may find an entity under another spelling of its id.
    if (given === null || !isSameName(given, value))
      throw invalidLookUp(operatorText`has another ${ownText(name)}`, path)
  }
  const missing =
    texts.find((name) => typeof item[name] !== 'string') ??
    nullable.find((name) => item[name] !== null && typeof item[name] !== 'string')
  if (missing !== undefined) throw invalidLookUp(operatorText`has no ${ownText(missing)}`, path)
  return item
}

/** Creates the error for an invalid response. The path, without ids, is only for the log. */
export function invalidLookUp(what: OperatorText, path: string): GatewayError {
  return invalidResponse({
    caller: `The engine's response to a lookup ${what}`,
    operator: operatorText`The engine's response to a lookup ${what}: ${pathText(path)}`,
  })
}

interface LookupListRequest {
  /** Path and query of the list. */
  readonly path: string
  /** The body of a list that is read by POST. */
  readonly query?: unknown
  readonly shape: ItemShape
}

/**
 * Reads a list that a decision depends on.
 * @throws GatewayError GW_CHECK_NOT_EXACT if the engine refuses the list, GW_UPSTREAM_INVALID if the response is not one
 */
export async function readList(
  read: ReadEngine,
  { path, query, shape }: LookupListRequest,
): Promise<readonly Item[]> {
  const response = await read(path, query)
  // The engine refused the list: that does not mean that the list is empty.
  if (response === null) throw new GatewayError('GW_CHECK_NOT_EXACT')
  return itemsIn(response, { path, shape })
}
