import { z } from 'zod'

/** Issues as lines; never with the offending value, which may be a secret. */
export function problemsOf(issue: z.core.$ZodIssue, schema: z.ZodType): string[] {
  const path = issue.path.reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`,
    '',
  )
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(
      (key) =>
        `${path === '' ? key : `${path}.${key}`}: unknown key (allowed: ${allowedAt(issue.path, schema, key)})`,
    )
  return [`${path === '' ? '(the file)' : path}: ${issue.message}`]
}

/** The keys the schema knows at a path, for the message about one it does not know. */
function allowedAt(path: readonly PropertyKey[], schema: z.ZodType, unknown: string): string {
  let at: z.core.$ZodType | undefined = schema
  for (const key of path) at = childOf(at, key)
  const keys = new Set(objectsOf(at).flatMap(({ shape }) => Object.keys(shape)))
  // Of a union, another member may know it.
  keys.delete(unknown)
  return keys.size === 0 ? 'none' : [...keys].join(', ')
}

function childOf(type: z.core.$ZodType | undefined, key: PropertyKey): z.core.$ZodType | undefined {
  const at = unwrap(type)
  if (at instanceof z.ZodRecord) return at.valueType
  if (at instanceof z.ZodArray) return at.element
  return objectsOf(at).find(({ shape }) => Object.hasOwn(shape, key))?.shape[String(key)]
}

/** The objects that may stand here: one, or each of a union. */
function objectsOf(type: z.core.$ZodType | undefined): readonly z.ZodObject[] {
  const at = unwrap(type)
  if (at instanceof z.ZodObject) return [at]
  return at instanceof z.ZodUnion ? at.options.flatMap(objectsOf) : []
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
