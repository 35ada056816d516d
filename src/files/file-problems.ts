import type { z } from 'zod'
import { allowedKeysText, issueMessageOf } from '../config/config-problems.ts'
import { PLAIN_MESSAGES } from '../config/plain-messages.ts'
import { readYaml } from '../config/yaml.ts'
import { ConfigError } from '../config/config.ts'

/** Parses YAML or JSON. @throws ConfigError with lines and columns, never with the content: it may be a hash */
export function parseText(file: string, text: string): unknown {
  const json = text.trimStart().startsWith('[') ? parseJson(text) : undefined
  if (json !== undefined) return json
  const read = readYaml(text)
  if (read.problems !== null) throw new ConfigError(file, read.problems)
  return read.value
}

/** Validates a value against the schema. @throws ConfigError that names every invalid member */
export function shaped<T>(file: string, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, PLAIN_MESSAGES)
  if (result.success) return result.data
  throw new ConfigError(
    file,
    result.error.issues.flatMap((issue) =>
      linesOf(issue, schema).map((line) => `${pathOf(issue.path)}: ${line}`),
    ),
  )
}

function linesOf(issue: z.core.$ZodIssue, schema: z.ZodType): readonly string[] {
  if (issue.code !== 'unrecognized_keys') return [issueMessageOf(issue)]
  return issue.keys.map((key) => `unknown key ${key} ${allowedKeysText(issue.path, schema, key)}`)
}

/** `authorizations[3].permissions[0]`. */
export function pathOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '(top level)'
  return path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${String(step)}`))
    .join('')
}

// The engine's own list is JSON and long: 100,000 records take 0.5 s as JSON, 9 s as YAML.
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
