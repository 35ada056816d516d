import type {
  FactsFile,
  OperationFacts,
  PublishedSource,
} from '../../../src/operations/published/facts-file.ts'
import type { ResponsesFile } from '../../../src/operations/published/responses.ts'
import { isRecord } from '../../../src/request/value.ts'

type Json = Readonly<Record<string, unknown>>

/** Types of members or parameters by name, as in the file of facts. */
type Types = Readonly<Record<string, string>>

/** A published OpenAPI document and where it is from. */
export interface SourceDocument extends PublishedSource {
  readonly document: unknown
}

const JSON_MEDIA = 'application/json'

/**
 * Returns the facts of the documents: names, types, permitted values and media types, and no text.
 * @param documents from the oldest version to the newest
 */
export function factsOf(documents: readonly SourceDocument[]): FactsFile {
  const versions = documents.map(({ version }) => version)
  const parts = documents.map(({ document }) => factsOfOne(document))
  const ids = namesOf(parts.map(({ operations }) => operations))
  return {
    sources: documents.map(({ family, version, artifact }) => ({ family, version, artifact })),
    operations: Object.fromEntries(
      ids.map((id) => [
        id,
        mergedOperation(
          parts.map(({ operations }) => operations[id]),
          versions,
        ),
      ]),
    ),
    schemas: mergedSchemas(documents, parts),
  }
}

function mergedSchemas(
  documents: readonly SourceDocument[],
  parts: readonly Pick<DocumentFacts, 'schemas'>[],
): DocumentFacts['schemas'] {
  return Object.fromEntries(
    namesOf(parts.map(({ schemas }) => schemas)).map((name) => [
      name,
      // A schema that a version lacks is unknown there, and its members need no version.
      mergedTypes(
        parts.flatMap(({ schemas }, index) => {
          const types = schemas[name]
          return types === undefined ? [] : [{ version: documents[index]?.version ?? '', types }]
        }),
      ),
    ]),
  )
}

/**
 * Returns the JSON types of the successful responses in the documents: names and types, and no text.
 * @param documents from the oldest version to the newest
 */
export function responsesOf(documents: readonly SourceDocument[]): ResponsesFile {
  const parts = documents.map(({ document }) => responsesOfOne(document))
  const newestOf = (id: string) =>
    parts.findLast(({ operations }) => operations[id] !== undefined)?.operations[id] ?? {}
  return {
    operations: Object.fromEntries(
      namesOf(parts.map(({ operations }) => operations)).map((id) => [id, newestOf(id)]),
    ),
    schemas: mergedSchemas(documents, parts),
  }
}

interface DocumentResponses {
  readonly operations: Readonly<Record<string, Types>>
  readonly schemas: Readonly<Record<string, Types>>
}

function responsesOfOne(document: unknown): DocumentResponses {
  const reader = new SchemaReader(at(document, 'components', 'schemas'))
  const operations: Record<string, Types> = {}
  for (const [id, , operation] of operationsIn(document)) {
    operations[id] = Object.fromEntries(
      Object.entries(at(operation, 'responses'))
        .filter(([status]) => status.startsWith('2'))
        .map(([status, response]) => {
          const json = at(response, 'content', JSON_MEDIA)
          return [status, Object.keys(json).length === 0 ? '' : reader.typeOf(at(json, 'schema'), id)]
        }),
    )
  }
  return { operations, schemas: reader.schemas }
}

interface DocumentFacts {
  readonly operations: Readonly<Record<string, OperationFacts>>
  readonly schemas: Readonly<Record<string, Types>>
}

function factsOfOne(document: unknown): DocumentFacts {
  const reader = new SchemaReader(at(document, 'components', 'schemas'))
  const operations: Record<string, OperationFacts> = {}
  for (const [id, route, operation] of operationsIn(document))
    operations[id] = { route, ...operationFactsOf(id, operation, reader) }
  return { operations, schemas: reader.schemas }
}

/** Returns the operationId, the route and the description of each operation. */
function operationsIn(document: unknown): readonly (readonly [id: string, route: string, operation: Json])[] {
  return Object.entries(at(document, 'paths')).flatMap(([path, methods]) =>
    Object.entries(isRecord(methods) ? methods : {}).map(([method, operation]) => {
      if (!isRecord(operation)) throw new Error(`${method} ${path} is no operation`)
      return [String(operation['operationId']), `${method.toUpperCase()} ${path}`, operation] as const
    }),
  )
}

function operationFactsOf(id: string, operation: Json, reader: SchemaReader): Omit<OperationFacts, 'route'> {
  const path = parametersIn('path', operation, reader)
  const query = parametersIn('query', operation, reader)
  const bodies = Object.entries(at(operation, 'requestBody', 'content'))
  const [[consumes, body] = [undefined, undefined], ...others] = bodies
  if (others.length > 0) console.log(`${id} has bodies of several media types`)
  const produces = [
    ...new Set(
      Object.entries(at(operation, 'responses'))
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([, response]) => Object.keys(at(response, 'content'))),
    ),
  ]
  return {
    ...(Object.values(path).every((type) => type === 'string!') ? {} : { path }),
    ...(Object.keys(query).length === 0 ? {} : { query }),
    ...(body === undefined ? {} : { body: reader.typeOf(at(body, 'schema'), id) }),
    ...(consumes === undefined || consumes === JSON_MEDIA ? {} : { consumes }),
    ...(produces.every((type) => type === JSON_MEDIA) ? {} : { produces }),
  }
}

function parametersIn(place: 'path' | 'query', operation: Json, reader: SchemaReader): Types {
  const { parameters } = operation
  return Object.fromEntries(
    (Array.isArray(parameters) ? parameters : [])
      .filter(isRecord)
      .filter((parameter) => parameter['in'] === place)
      .map((parameter) => {
        const name = String(parameter['name'])
        const type = reader.typeOf(at(parameter, 'schema'), name)
        return [name, parameter['required'] === true ? `${type}!` : type]
      }),
  )
}

/** Reads the schemas of a document, each when it is first named. */
class SchemaReader {
  readonly #published: Json
  readonly schemas: Record<string, Types> = {}

  constructor(published: Json) {
    this.#published = published
  }

  /** @param name of a schema that has none: `TaskQueryDto.sorting` */
  typeOf(schema: Json, name: string): string {
    const { $ref: reference, type, format, enum: values, items, additionalProperties, properties } = schema
    if (typeof reference === 'string') return this.#named(reference)
    if (isRecord(items)) return `${this.typeOf(items, name)}[]`
    if (isRecord(properties)) return this.#read(name, schema)
    if (isRecord(additionalProperties)) return `${this.typeOf(additionalProperties, name)}{}`
    if (type === undefined && values === undefined) return 'any'
    const texts = Array.isArray(values) ? `(${values.map(String).join('|')})` : ''
    return `${typeof type === 'string' ? type : 'string'}${typeof format === 'string' ? `:${format}` : ''}${texts}`
  }

  #named(reference: string): string {
    const name = reference.split('/').at(-1) ?? ''
    const schema = this.#published[name]
    if (!isRecord(schema)) throw new Error(`the schema ${name} is missing`)
    return schema['properties'] === undefined && schema['allOf'] === undefined
      ? 'any'
      : this.#read(name, schema)
  }

  #read(name: string, schema: Json): string {
    if (this.schemas[name] !== undefined) return name
    // A schema may contain itself: `TaskQueryDto.orQueries`.
    this.schemas[name] = {}
    this.schemas[name] = this.#membersOf(name, schema)
    return name
  }

  #membersOf(name: string, schema: Json): Types {
    const { $ref: reference, allOf, required } = schema
    if (typeof reference === 'string') return this.schemas[this.#named(reference)] ?? {}
    const inherited = (Array.isArray(allOf) ? allOf : []).filter(isRecord)
    const due: readonly unknown[] = Array.isArray(required) ? required : []
    const own = Object.entries(at(schema, 'properties')).map(([member, of]) => {
      const type = this.typeOf(isRecord(of) ? of : {}, `${name}.${member}`)
      return [member, due.includes(member) ? `${type}!` : type]
    })
    return Object.assign({}, ...inherited.map((part) => this.#membersOf(name, part)), Object.fromEntries(own))
  }
}

function mergedOperation(
  versioned: readonly (OperationFacts | undefined)[],
  versions: readonly string[],
): OperationFacts {
  const present = versioned.flatMap((facts, index) =>
    facts === undefined ? [] : [{ version: versions[index] ?? '', facts }],
  )
  const newest = present.at(-1)?.facts
  if (newest === undefined) throw new Error('no version has the operation')
  const { path, query, route, ...rest } = newest
  for (const { facts } of present) {
    const { path: _path, query: _query, ...other } = facts
    if (JSON.stringify(other) !== JSON.stringify({ route, ...rest }))
      throw new Error(`${route} differs between versions`)
  }
  const typesOf = (place: 'path' | 'query') =>
    mergedTypes(present.map(({ version, facts }) => ({ version, types: facts[place] ?? {} })))
  const range = rangeOf(
    present.map(({ version }) => version),
    versions,
  )
  return {
    route,
    ...(range === null ? {} : { versions: range }),
    ...(path === undefined ? {} : { path: typesOf('path') }),
    ...(query === undefined ? {} : { query: typesOf('query') }),
    ...rest,
  }
}

/** Types that an older document states wrongly. `interval` was a text there, with a number as its default value. */
const CORRECTED: Types = { interval: 'integer:int64' }

/**
 * Returns the types of all versions.
 * @throws Error if a type changed: the file has one type for each name
 */
function mergedTypes(versioned: readonly { readonly version: string; readonly types: Types }[]): Types {
  const versions = versioned.map(({ version }) => version)
  return Object.fromEntries(
    namesOf(versioned.map(({ types }) => types)).map((name) => {
      const present = versioned.filter(({ types }) => types[name] !== undefined)
      const [type = '', ...others] = new Set(present.map(({ types }) => CORRECTED[name] ?? types[name]))
      if (others.length > 0) throw new Error(`the type of ${name} changed: ${[type, ...others].join(', ')}`)
      const range = rangeOf(
        present.map(({ version }) => version),
        versions,
      )
      return [name, range === null ? type : `${type}@${range}`]
    }),
  )
}

/** Returns the range of the versions that have a fact, or null if all have it. */
function rangeOf(having: readonly string[], all: readonly string[]): string | null {
  if (having.length === all.length) return null
  const [first = ''] = having
  const last = having.at(-1) ?? ''
  const from = all[0] === first ? '' : minorOf(first)
  return all.at(-1) === last ? from : `${from}-${minorOf(last)}`
}

function minorOf(version: string): string {
  return version.split('.').slice(0, 2).join('.')
}

function namesOf(parts: readonly Json[]): readonly string[] {
  return [...new Set(parts.flatMap((part) => Object.keys(part)))].sort()
}

/** Returns the object at a path of members, or an empty object. */
function at(value: unknown, ...names: readonly string[]): Json {
  let found = value
  for (const name of names) found = isRecord(found) ? found[name] : undefined
  return isRecord(found) ? found : {}
}

/** Returns the text of the file of responses. */
export function writtenResponses({ operations, schemas }: ResponsesFile): string {
  return `{\n"operations":{\n${linesOf(operations)}\n},\n"schemas":{\n${linesOf(schemas)}\n}\n}\n`
}

/** Returns the text of the file: a line for each source, operation and schema, so that a change shows what it concerns. */
export function writtenFacts({ sources, operations, schemas }: FactsFile): string {
  const lines = [
    `"sources":[\n${sources.map((source) => JSON.stringify(source)).join(',\n')}\n]`,
    `"operations":{\n${linesOf(operations)}\n}`,
    `"schemas":{\n${linesOf(schemas)}\n}`,
  ]
  return `{\n${lines.join(',\n')}\n}\n`
}

function linesOf(entries: Json): string {
  return Object.entries(entries)
    .map(([name, entry]) => `${JSON.stringify(name)}:${JSON.stringify(entry)}`)
    .join(',\n')
}
