import { parametersOf } from '../../src/policy/authz/checks/compile-check.ts'
import type { OperationPolicy } from '../../src/policy/authz/operation-policy.ts'
import type { AccessRequest } from '../../src/request/access-request.ts'
import { isRecord } from '../../src/request/value.ts'
import { pickFrom } from './generated-policies.ts'

/** Ids of entities. No record names the last one. */
export const ENTITY_IDS = ['x', 'y', 'z', 'anna', 'clerks', 'unnamed']

function setAt(body: Record<string, unknown>, path: string, value: unknown): void {
  const [name = '', ...rest] = path.split('.')
  if (rest.length === 0) body[name] = value
  else {
    const holder: Record<string, unknown> = { ...(isRecord(body[name]) ? body[name] : {}) }
    body[name] = holder
    setAt(holder, rest.join('.'), value)
  }
}

export interface RandomRequest extends Omit<AccessRequest, 'principal'> {
  readonly params: Record<string, string>
  readonly query: Map<string, string>
  readonly body: Record<string, unknown>
}

/** Returns a request with some of the members that the checks of the operation read. */
export function randomRequest(
  random: () => number,
  { operation }: OperationPolicy,
  ids: readonly string[] = ENTITY_IDS,
): RandomRequest {
  const pick = <T>(list: readonly T[]): T => pickFrom(random, list)
  const text = JSON.stringify([operation.checks, operation.preconditions ?? []])
  const body: Record<string, unknown> = {}
  const query = new Map<string, string>()
  for (const [, from, name = '', list] of text.matchAll(/(body|query):([\w.]+?)(\[\])?(?=["\s)]|$)/g)) {
    const path = name.replace(/\.(?:key|processDefinitionKey|tenantId)$/, '')
    if (pick([true, false])) continue
    if (from === 'query') query.set(path, pick([...ids, 'true']))
    else setAt(body, path, list === undefined ? pick([...ids, true, false]) : [pick(ids)])
  }
  const params: Record<string, string> = Object.fromEntries(
    [...parametersOf(operation.template)].map((name) => [name, pick(ids)]),
  )
  return { params, query, body }
}
