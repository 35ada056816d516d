import file from './facts.json' with { type: 'json' }
import type { FactsFile, OperationFacts } from './facts-file.ts'

/** The type of a parameter, of a body, or of a member of a body. */
export type PublishedType =
  /** `values`: the texts that the API lists. Null: any text. */
  | { readonly kind: 'string'; readonly format: StringFormat | null; readonly values: readonly string[] | null }
  | { readonly kind: 'integer'; readonly format: 'int32' | 'int64' | null }
  | { readonly kind: 'number' }
  | { readonly kind: 'boolean' }
  /** An object with any members, for example the query of a filter. */
  | { readonly kind: 'object' }
  /** Any JSON value, for example the value of a variable. */
  | { readonly kind: 'any' }
  | { readonly kind: 'list'; readonly items: PublishedType }
  /** An object whose members, with any names, all have one type. */
  | { readonly kind: 'map'; readonly values: PublishedType }
  /** An object with the members of this schema: `publishedSchema(name)`. */
  | { readonly kind: 'schema'; readonly name: string }

export type StringFormat = 'date-time' | 'binary' | 'date'

/** The versions of Camunda 7 that have a fact, as `major.minor`. Both are included, and null is no bound. */
export interface VersionRange {
  readonly since: string | null
  readonly until: string | null
}

/** A parameter, or a member of a body. */
export interface PublishedField {
  readonly type: PublishedType
  /** Whether the API requires it. */
  readonly isRequired: boolean
  readonly versions: VersionRange
}

/** Parameters, or the members of a body, by name. */
export type PublishedFields = ReadonlyMap<string, PublishedField>

/** An operation of the engine's published API. */
export interface PublishedOperation {
  /** As in the table: the operationId. */
  readonly id: string
  /** The method and the path as published: `GET /task/{id}`. */
  readonly route: string
  readonly versions: VersionRange
  /** Parameters in the path that are not plain texts. */
  readonly path: PublishedFields
  readonly query: PublishedFields
  /** Null if the operation has no body. */
  readonly body: PublishedType | null
  /** The media type of the body, if there is one. */
  readonly consumes: string
  /** The media types of a successful response. */
  readonly produces: readonly string[]
}

const FACTS: FactsFile = file
const JSON_ONLY: readonly string[] = ['application/json']

/** The documents that the facts are from, from the oldest version to the newest. */
export const PUBLISHED_SOURCES = FACTS.sources

/** The ids of all published operations. */
export const PUBLISHED_IDS: readonly string[] = Object.keys(FACTS.operations)

/** The names of all schemas of bodies. */
export const PUBLISHED_SCHEMAS: readonly string[] = Object.keys(FACTS.schemas)

/**
 * Returns the facts about an operation, or null if no document has it: forks have operations of their own. The types are parsed on
 * each call, so that the start parses only those that it needs.
 */
export function publishedOperation(id: string): PublishedOperation | null {
  const facts: OperationFacts | undefined = FACTS.operations[id]
  if (facts === undefined) return null
  const { route, versions = '', path = {}, query = {}, body, consumes, produces } = facts
  return {
    id,
    route,
    versions: parseRange(versions),
    path: parseFields(path),
    query: parseFields(query),
    body: body === undefined ? null : parseType(body),
    consumes: consumes ?? 'application/json',
    produces: produces ?? JSON_ONLY,
  }
}

/** Returns the names of the query parameters of an operation, without their types. It is faster than reading the whole operation. */
export function publishedParameters(id: string): readonly string[] {
  return Object.keys(FACTS.operations[id]?.query ?? {})
}

/** Returns the method and the path of an operation, as published. */
export function publishedRoute(id: string): string {
  return FACTS.operations[id]?.route ?? ''
}

/** Returns the names of the members of a schema, without their types. */
export function publishedMembers(schema: string): readonly string[] {
  return Object.keys(FACTS.schemas[schema] ?? {})
}

/** Returns the versions that have an operation. It is faster than reading the whole operation. */
export function publishedVersions(id: string): VersionRange {
  return parseRange(FACTS.operations[id]?.versions ?? '')
}

/**
 * Returns the members of a schema, those of its parents included. A schema may contain itself: the alternatives of a task query are
 * task queries.
 * @throws Error if there is no such schema
 */
export function publishedSchema(name: string): PublishedFields {
  const members = FACTS.schemas[name]
  if (members === undefined) throw new Error(`There is no published schema ${name}`)
  return parseFields(members)
}

/** Returns members of a schema with their types. `schemas` are known in addition to those of bodies. */
export function parseFields(
  fields: Readonly<Record<string, string>>,
  schemas: SchemaNames = FACTS.schemas,
): PublishedFields {
  return new Map(Object.entries(fields).map(([name, text]) => [name, parseField(text, schemas)]))
}

type SchemaNames = Readonly<Record<string, unknown>>

function parseField(text: string, schemas: SchemaNames): PublishedField {
  const [type = '', versions = ''] = text.split('@')
  const isRequired = type.endsWith('!')
  return {
    type: parseType(isRequired ? type.slice(0, -1) : type, schemas),
    isRequired,
    versions: parseRange(versions),
  }
}

const SIMPLE: Readonly<Record<string, PublishedType>> = {
  string: { kind: 'string', format: null, values: null },
  'string:date-time': { kind: 'string', format: 'date-time', values: null },
  'string:date': { kind: 'string', format: 'date', values: null },
  'string:binary': { kind: 'string', format: 'binary', values: null },
  integer: { kind: 'integer', format: null },
  'integer:int32': { kind: 'integer', format: 'int32' },
  'integer:int64': { kind: 'integer', format: 'int64' },
  number: { kind: 'number' },
  'number:double': { kind: 'number' },
  boolean: { kind: 'boolean' },
  object: { kind: 'object' },
  any: { kind: 'any' },
}

/** Returns a type of the file. @throws Error if it is not known */
export function parseType(text: string, schemas: SchemaNames = FACTS.schemas): PublishedType {
  const simple = SIMPLE[text]
  if (simple !== undefined) return simple
  if (text.endsWith('[]')) return { kind: 'list', items: parseType(text.slice(0, -2), schemas) }
  if (text.endsWith('{}')) return { kind: 'map', values: parseType(text.slice(0, -2), schemas) }
  const values = /^string\((.*)\)$/.exec(text)?.[1]
  if (values !== undefined) return { kind: 'string', format: null, values: values.split('|') }
  if (Object.hasOwn(schemas, text)) return { kind: 'schema', name: text }
  throw new Error(`The published facts contain an unknown type: ${text}`)
}

const ALL: VersionRange = { since: null, until: null }

function parseRange(text: string): VersionRange {
  if (text === '') return ALL
  const [since = '', until = ''] = text.split('-')
  return { since: since === '' ? null : since, until: until === '' ? null : until }
}
