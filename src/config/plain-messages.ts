import type { z } from 'zod'
import { closestOf } from './closest.ts'

/**
 * Messages for values that a schema rejects without a message of its own, in the terms of the file. They never contain the value,
 * which may be a secret.
 */
export const PLAIN_MESSAGES = { error: messageOf }

function messageOf(issue: z.core.$ZodRawIssue): string {
  const { input } = issue
  if (input === undefined) return 'is missing'
  if (issue.code === 'invalid_type')
    return `${input === null ? 'is empty: ' : ''}${NEEDED[issue.expected] ?? 'another value'} is needed`
  if (issue.code === 'invalid_value') return valuesMessage(issue.values.map(String), input)
  if (issue.code === 'too_small')
    return issue.minimum === 1 ? 'must not be empty' : `must be at least ${String(issue.minimum)}`
  if (issue.code === 'too_big') return `must be at most ${String(issue.maximum)}`
  return 'is not permitted here'
}

const NEEDED: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a section with keys and values',
  record: 'a section with keys and values',
}

function valuesMessage(values: readonly string[], input: unknown): string {
  const meant = typeof input === 'string' ? closestOf(input, values) : null
  const [only] = values
  if (values.length === 1) return `must be ${only}`
  return `must be one of ${values.join(', ')}${meantText(meant)}`
}

/** Returns the end of a message, with a suggestion if there is one. */
export function meantText(meant: string | null): string {
  return meant === null ? '' : `: did you mean ${meant}?`
}
