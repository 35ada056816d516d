import { z } from 'zod'
import { closestOf } from './closest.ts'
import { meantText } from './plain-messages.ts'
import { isShownName } from './shown-name.ts'
import type { MissingVariable, UsedVariable } from './substitute.ts'

/** The content of a file, and the schema that it is checked against. */
export interface CheckedFile {
  readonly schema: z.ZodType
  readonly value: unknown
  /** The variables that were replaced in the value. Default: none. */
  readonly used?: readonly UsedVariable[]
}

/** Formats an issue as lines, without the invalid value, because it may be a secret. */
export function issueProblemsOf(issue: z.core.$ZodIssue, file: CheckedFile): string[] {
  const path = pathTextOf(issue.path, file)
  if (issue.code === 'unrecognized_keys')
    return unknownKeysOf(issue, file).map(
      ({ shown, problem }) => `${path === '' ? shown : `${path}.${shown}`}: unknown key${problem}`,
    )
  return [`${path === '' ? '(the file)' : path}: ${issueMessageOf(issue)}${variableText(issue, file)}`]
}

/** Returns the end of a message about a value that a variable has set. The value of a variable is a text, and may be a secret. */
function variableText({ code, path, ...issue }: z.core.$ZodIssue, { used = [] }: CheckedFile): string {
  const names = used
    .filter((one) => one.path.length === path.length && path.every((step, at) => one.path[at] === step))
    .map(({ name }) => (isShownName(name) ? `\${${name}}` : 'a variable'))
  if (names.length === 0) return ''
  const isOfAnotherType = code === 'invalid_type' && 'expected' in issue && issue.expected !== 'string'
  return isOfAnotherType
    ? `. The value of ${names.join('')} is a text, so write the value itself here`
    : ` (the value is set by ${names.join('')})`
}

/** A key that the schema does not know, as a message may show it. */
export interface UnknownKey {
  /** The key, or `(key 3)` if it may be content. */
  readonly shown: string
  /** The rest of the message. */
  readonly problem: string
}

/** Returns the unknown keys of an issue. A key that may be part of a value (`{ password: abc,def }` has the key `def`) is not shown. */
export function unknownKeysOf(
  { path, keys }: z.core.$ZodIssueUnrecognizedKeys,
  file: CheckedFile,
): readonly UnknownKey[] {
  const section = path.reduce(memberOf, file.value)
  return keys.map((key) => {
    if (key === '<<') return { shown: key, problem: ': merge keys are not supported' }
    const allowed = allowedAt(path, file.schema, key)
    const meant = allowed.find((one) => one === FORMER_KEYS[key]) ?? closestOf(key, allowed)
    const list = `(allowed: ${allowed.length === 0 ? 'none' : allowed.join(', ')})`
    if (isShownKey(section, key) || (meant !== null && isShownName(key)))
      return { shown: key, problem: ` ${list}${meantText(meant)}` }
    return {
      shown: placeOf(section, key),
      problem: ` that is not shown because it may be part of a value: quote the value ${list}`,
    }
  })
}

/** The keys of earlier versions that have other names now, with these names. */
const FORMER_KEYS: Readonly<Record<string, string>> = {
  filteredRows: 'scannedItems',
  rowParts: 'subqueries',
  answer: 'response',
  rows: 'items',
}

/** Returns whether a message may show a key. A key without a value may be the end of a value that contains a comma. */
function isShownKey(section: unknown, key: string): boolean {
  return isShownName(key) && (memberOf(section, key) ?? null) !== null
}

function placeOf(section: unknown, key: PropertyKey): string {
  const keys = typeof section === 'object' && section !== null ? Object.keys(section) : []
  return `(key ${keys.indexOf(String(key)) + 1})`
}

/** Returns a path like `authorizations[3].permissions[0]`. A key that the user chose is shown only if it cannot be content. */
export function pathTextOf(path: readonly PropertyKey[], { schema, value }: CheckedFile): string {
  let type: z.core.$ZodType | undefined = schema
  let at = value
  let text = ''
  for (const step of path) {
    const isShown = hasKey(type, step) || isShownKey(at, String(step))
    text += stepText(
      text === '',
      typeof step === 'number' ? step : isShown ? String(step) : placeOf(at, step),
    )
    type = childOf(type, step)
    at = memberOf(at, step)
  }
  return text
}

function hasKey(type: z.core.$ZodType | undefined, key: PropertyKey): boolean {
  return objectsOf(type).some(({ shape }) => Object.hasOwn(shape, key))
}

function stepText(isFirst: boolean, step: string | number): string {
  if (typeof step === 'number') return `[${step}]`
  return isFirst ? step : `.${step}`
}

/**
 * Returns the issues within a union if exactly one of its objects fits the value: by its form, or by its keys if several have
 * that form. Otherwise returns the issue itself.
 */
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

/** Returns the message of an issue. A key chosen by the user has a rule and a message of its own. */
export function issueMessageOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message
}

/** Removes the issues that missing variables cause. A missing variable leaves an empty value, and is already reported. */
export function withoutMissing(
  issues: readonly z.core.$ZodIssue[],
  missing: readonly MissingVariable[],
): readonly z.core.$ZodIssue[] {
  return issues.filter(
    ({ code, path }) =>
      !missing.some(
        (one) =>
          path.every((step, at) => one.path[at] === step) &&
          (one.path.length === path.length || code === 'invalid_union'),
      ),
  )
}

/** Returns a copy without the keys that the schema does not know. */
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

/** Returns the object types that are allowed here: one, or those of a union. */
function objectsOf(type: z.core.$ZodType | undefined): readonly z.ZodObject[] {
  const at = unwrap(type)
  if (at instanceof z.ZodObject) return [at]
  return at instanceof z.ZodUnion ? at.options.flatMap(objectsOf) : []
}

/** Messages about a file as a whole. */
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
