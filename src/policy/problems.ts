import { LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { ConfigError } from '../config.ts'

/** YAML or JSON as a value. Problems carry line and column, never a line of the file: it may hold a hash. @throws ConfigError */
export function parseText(file: string, text: string): unknown {
  const json = text.trimStart().startsWith('[') ? parseJson(text) : undefined
  if (json !== undefined) return json
  const lines = new LineCounter()
  const document = parseDocument(text, { prettyErrors: false, lineCounter: lines })
  if (document.errors.length === 0) return document.toJS()
  throw new ConfigError(
    file,
    document.errors.map(({ message, pos }) => {
      const { line, col } = lines.linePos(pos[0])
      return `line ${line}, column ${col}: ${message}`
    }),
  )
}

/** The value in the schema's shape. @throws ConfigError that names every member out of shape */
export function shaped<T>(file: string, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new ConfigError(
    file,
    result.error.issues.map(({ path, message }) => `${pathOf(path)}: ${message}`),
  )
}

/** `authorizations[3].permissions[0]`. */
export function pathOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '(top level)'
  return path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${String(step)}`))
    .join('')
}

// The engine's own listing is JSON, and long: 100,000 records take 0.5 s as JSON, 9 s as YAML.
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
