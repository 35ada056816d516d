import type { AccessRequest } from '../../../request/access-request.ts'
import type { LookupName } from '../../../operations/lookup-name.ts'
import { bodyText } from '../../../request/body.ts'
import { COMPOSITES } from '../entities/lookup-rules.ts'
import type { Reference } from './compiled-permission.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import type { Attributes } from '../../../request/attributes.ts'

/** Returns the id of the referenced entity, or null if the request does not contain it. */
export function argumentOf(
  { lookup, by }: Reference,
  { accessRequest, each }: Pick<EvaluationContext, 'accessRequest' | 'each'>,
): string | null {
  const composite = compositeOf(lookup, accessRequest)
  if (composite !== null) return composite
  if (by.from === 'each') return each?.[by.name] ?? null
  if (by.from === 'path') return accessRequest.params[by.name] ?? null
  return by.from === 'query'
    ? (accessRequest.query.get(by.name) ?? null)
    : bodyText(accessRequest.body, by.name)
}

/** Returns the argument of a lookup by several path parameters, or null if the lookup needs only one. */
export function compositeOf(lookup: LookupName, { params }: Pick<AccessRequest, 'params'>): string | null {
  const names = COMPOSITES[lookup]
  if (names === undefined) return null
  let id = ''
  for (const name of names) {
    const value = params[name]
    if (value !== undefined) id += `${id === '' ? '' : '/'}${encodeURIComponent(value)}`
  }
  return id
}

/** Returns the loaded attributes of an entity, or null if it does not exist or was not looked up. */
export function attributesOf(
  reference: Reference,
  context: Pick<EvaluationContext, 'accessRequest' | 'each' | 'loaded'>,
): Attributes | null {
  return context.loaded.find(reference.lookup, argumentOf(reference, context)) ?? null
}

/** Returns whether two references name the same entity in the same way. */
export function isSameReference(one: Reference, other: Reference): boolean {
  return one.lookup === other.lookup && one.by.from === other.by.from && one.by.name === other.by.name
}
