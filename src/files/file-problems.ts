import type { z } from 'zod'
import { type CheckedFile, issueMessageOf, pathTextOf, unknownKeysOf } from '../config/config-problems.ts'
import { PLAIN_MESSAGES } from '../config/plain-messages.ts'
import { readYaml } from '../config/yaml.ts'
import { ConfigError } from '../config/config.ts'

/** Parses YAML or JSON. @throws ConfigError with lines and columns, but without the content, which may be a password hash */
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
  const checked = { schema, value }
  throw new ConfigError(
    file,
    result.error.issues.flatMap((issue) => {
      const path = pathTextOf(issue.path, checked) || '(top level)'
      return linesOf(issue, checked).map((line) => `${path}: ${line}`)
    }),
  )
}

function linesOf(issue: z.core.$ZodIssue, file: CheckedFile): readonly string[] {
  if (issue.code !== 'unrecognized_keys') return [issueMessageOf(issue)]
  return unknownKeysOf(issue, file).map(({ shown, problem }) => `unknown key ${shown}${problem}`)
}

// The engine's own list is JSON and can be long: 100,000 records take 0.5 s as JSON, and 9 s in the YAML library.
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
