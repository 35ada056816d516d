import type { Attributes } from './attributes.ts'
import type { AccessRequest } from './access-request.ts'
import { isTrue, splitAt } from './java-text.ts'
import { numeralOf } from './json.ts'
import { isRecord } from './value.ts'

/** Returns a member of a body at a dotted path, as the engine reads a text: a number by its digits. Null if it is absent, null or not a scalar. */
export function bodyText(body: unknown, path: string): string | null {
  const dot = path.lastIndexOf('.')
  const holder = dot < 0 ? body : bodyValue(body, path.slice(0, dot))
  return isRecord(holder) ? textIn(holder, dot < 0 ? path : path.slice(dot + 1)) : null
}

/** Returns a list in a body, with its items as the engine reads texts. An item that is not a scalar is left out: the engine refuses it. */
export function bodyTexts(body: unknown, path: string): readonly string[] {
  const list = bodyValue(body, path)
  if (!Array.isArray(list)) return []
  return list.flatMap((_, index) => textIn(list, `${index}`) ?? [])
}

function textIn(holder: Readonly<Record<string, unknown>> | readonly unknown[], name: string): string | null {
  const value = bodyValue(holder, name)
  if (typeof value === 'string') return value
  if (typeof value === 'number') return numeralOf(holder, name)
  return typeof value === 'boolean' ? String(value) : null
}

/** Returns whether the engine reads a member of a body as true: `"TRUE"` and `1` are also true. */
export function bodyFlag(body: unknown, path: string): boolean {
  return isTrue(bodyValue(body, path))
}

/** Returns a member of a body at a dotted path. */
export function bodyValue(body: unknown, path: string): unknown {
  let value: unknown = body
  for (const name of path.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** Returns the ids in a list of the request: a JSON array, or a query parameter with commas. */
export function listOf({ body, query }: AccessRequest, from: string, name: string): readonly Attributes[] {
  if (from !== 'query') return bodyTexts(body, name).map((id) => ({ id }))
  const list = query.get(name)
  return list === undefined ? [] : splitAt(list, ',').map((id) => ({ id }))
}
