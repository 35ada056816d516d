import { readFileSync } from 'node:fs'
import { parseAllDocuments, stringify } from 'yaml'
import { isMapping } from '../../src/config/mapping.ts'

interface ExampleDocument {
  readonly text: string
  readonly value: unknown
}

/** The documents of the file with the examples. Each is a complete configuration. */
export const EXAMPLES: readonly ExampleDocument[] = parseAllDocuments(
  readFileSync(new URL('examples.yaml', import.meta.url), 'utf8'),
).map((document) => ({ text: String(document), value: document.toJS() }))

/** Returns the shortest value of a key in the documents, with its name, in one line of YAML. Null if no document has the key. */
export function exampleOf(path: string): string | null {
  const name = path.split('.').at(-1)?.replace('[]', '') ?? ''
  const texts = EXAMPLES.flatMap(({ value }) => valuesAt(value, path.split('.'))).map((value) =>
    lineOf(name, value),
  )
  return texts.toSorted((one, other) => one.length - other.length)[0] ?? null
}

function valuesAt(value: unknown, [first, ...rest]: readonly string[]): readonly unknown[] {
  if (first === undefined) return value === undefined ? [] : [value]
  if (!isMapping(value)) return []
  if (first === 'NAME') return Object.values(value).flatMap((member) => valuesAt(member, rest))
  const isList = first.endsWith('[]')
  const member = value[first.replace('[]', '')]
  if (!isList) return valuesAt(member, rest)
  return Array.isArray(member) ? member.flatMap((item: unknown) => valuesAt(item, rest)) : []
}

function lineOf(name: string, value: unknown): string {
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: true })
  return `${name}: ${text.trim()}`
}
