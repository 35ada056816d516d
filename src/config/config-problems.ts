import { z } from 'zod'
import { closestOf } from './closest.ts'
import { meantText } from './plain-messages.ts'
import type { MissingVariable } from './substitute.ts'

/** Formats issues as lines, never with the invalid value: it may be a secret. */
export function issueProblemsOf(issue: z.core.$ZodIssue, schema: z.ZodType): string[] {
  const path = pathOf(issue.path)
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(
      (key) =>
        `${path === '' ? key : `${path}.${key}`}: unknown key ${allowedKeysText(issue.path, schema, key)}`,
    )
  return [`${path === '' ? '(the file)' : path}: ${issueMessageOf(issue)}`]
}

/** Of a union, the issues of the only section among its forms that the value is written as, or whose keys it has; else the issue itself. */
export function innerIssuesOf(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const sections = issue.errors.filter((inner) => inner.every(isWithinSection))
  const known = sections.filter((inner) => !inner.some(({ code }) => code === 'unrecognized_keys'))
  const [only, ...others] = sections.length > 1 ? known : sections
  if (only === undefined || others.length > 0) return [issue]
  return only.flatMap((inner) => innerIssuesOf({ ...inner, path: [...issue.path, ...inner.path] }))
}

function isWithinSection({ code, path }: z.core.$ZodIssue): boolean {
  return path.length > 0 || code === 'unrecognized_keys' || code === 'custom'
}

/** A key chosen by the user has a rule of its own. */
export function issueMessageOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message
}

/** A missing variable leaves an empty value, and is already reported. */
export function withoutMissing(
  issues: readonly z.core.$ZodIssue[],
  missing: readonly MissingVariable[],
): readonly z.core.$ZodIssue[] {
  return issues.filter(({ code, path }) => {
    const at = pathOf(path)
    const within = code === 'invalid_union' ? [`${at}.`, `${at}[`] : []
    return !missing.some((one) => one.path === at || within.some((start) => one.path.startsWith(start)))
  })
}

/** A copy without the keys that the schema does not know. */
export function withoutUnknownKeys(value: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  const copy: unknown = structuredClone(value)
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue
    const at = issue.path.reduce(memberOf, copy)
    if (typeof at === 'object' && at !== null) for (const key of issue.keys) Reflect.deleteProperty(at, key)
  }
  return copy
}

function memberOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`,
    '',
  )
}

/** The keys that the schema knows at the path of an unknown one, and the one that was probably meant. */
export function allowedKeysText(path: readonly PropertyKey[], schema: z.ZodType, unknown: string): string {
  const keys = allowedAt(path, schema, unknown)
  return `(allowed: ${keys.length === 0 ? 'none' : keys.join(', ')})${meantText(closestOf(unknown, keys))}`
}

function allowedAt(path: readonly PropertyKey[], schema: z.ZodType, unknown: string): readonly string[] {
  let at: z.core.$ZodType | undefined = schema
  for (const key of path) at = childOf(at, key)
  const keys = new Set(objectsOf(at).flatMap(({ shape }) => Object.keys(shape)))
  // Another member of a union may know the key.
  keys.delete(unknown)
  return [...keys]
}

function childOf(type: z.core.$ZodType | undefined, key: PropertyKey): z.core.$ZodType | undefined {
  const at = unwrap(type)
  if (at instanceof z.ZodRecord) return at.valueType
  if (at instanceof z.ZodArray) return at.element
  return objectsOf(at).find(({ shape }) => Object.hasOwn(shape, key))?.shape[String(key)]
}

/** The objects that are allowed here: one, or each of a union. */
function objectsOf(type: z.core.$ZodType | undefined): readonly z.ZodObject[] {
  const at = unwrap(type)
  if (at instanceof z.ZodObject) return [at]
  return at instanceof z.ZodUnion ? at.options.flatMap(objectsOf) : []
}

/** For a complete file. */
export const OF_A_FILE = {
  error: ({ code, input }: z.core.$ZodRawIssue) =>
    code !== 'invalid_type' ? undefined : (input ?? null) === null ? 'is empty' : 'must have keys and values',
}

function unwrap(type: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let at = type
  while (
    at instanceof z.ZodOptional ||
    at instanceof z.ZodDefault ||
    at instanceof z.ZodPrefault ||
    at instanceof z.ZodNullable ||
    at instanceof z.ZodPipe
  )
    at = at instanceof z.ZodPipe ? at.in : at.unwrap()
  return at
}
