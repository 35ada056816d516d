import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isRecord } from '../../../src/request/value.ts'
import type { SourceDocument } from './facts-of.ts'

const ARTIFACT = 'org.camunda.bpm:camunda-engine-rest-openapi'
const ARGS = ['-q', '-B', 'dependency:unpack', '-DoutputDirectory=.']

/** An operation of the engine's published API. */
export interface Published {
  readonly method: string
  /** Path as published, for example `/task/{id}`. */
  readonly path: string
  readonly operationId: string
  /** Whether the operation has a body. */
  readonly hasBody: boolean
  /** Names of the query parameters. */
  readonly parameters: readonly string[]
  /** Names of the query parameters that are texts. */
  readonly texts: readonly string[]
  /** Members of the JSON body. */
  readonly members: readonly string[]
  /** Members of the JSON object in a response with 200. */
  readonly answered: readonly string[]
  /** Whether its JSON response with status 200 has links, at any depth. */
  readonly hasLinks: boolean
}

/** The versions whose documents are on Maven Central and have all operations, from the oldest to the newest. */
export const PUBLISHED_VERSIONS = ['7.22.0', '7.23.0', '7.24.0'] as const

/** Returns the operations of the engine's OpenAPI document, which Maven downloads. */
export async function publishedOperations(version = '7.22.0'): Promise<readonly Published[]> {
  return operationsIn((await downloadDocument(version)).document)
}

/** Returns the engine's OpenAPI document, which Maven downloads. */
export async function downloadDocument(version: string): Promise<SourceDocument> {
  const artifact = `${ARTIFACT}:${version}`
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'))
  try {
    // Run in that folder: Maven leaves a marker there when it has unpacked the document, and would not unpack it again.
    await promisify(execFile)('mvn', [...ARGS, `-Dartifact=${artifact}`], { cwd: folder })
    const document: unknown = JSON.parse(await readFile(join(folder, 'openapi.json'), 'utf8'))
    return { family: 'Camunda', version, artifact, document }
  } finally {
    await rm(folder, { recursive: true })
  }
}

function operationsIn(document: unknown): Published[] {
  const paths = isRecord(document) ? document['paths'] : undefined
  if (!isRecord(paths)) throw new Error('the document has no paths')
  const components = isRecord(document) && isRecord(document['components']) ? document['components'] : {}
  const schemas = isRecord(components['schemas']) ? components['schemas'] : {}
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(isRecord(methods) ? methods : {}).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operationId: String(isRecord(operation) ? operation['operationId'] : ''),
      hasBody: isRecord(operation) && operation['requestBody'] !== undefined,
      parameters: parametersOf(operation).map(({ name }) => String(name)),
      texts: textsOf(operation),
      members: membersOf(schemaAt(operation, ['requestBody']), schemas),
      answered: membersOf(schemaAt(operation, ['responses', '200']), schemas),
      hasLinks: holdsLink(schemaAt(operation, ['responses', '200']), schemas),
    })),
  )
}

function parametersOf(operation: unknown): readonly Readonly<Record<string, unknown>>[] {
  const parameters = isRecord(operation) ? operation['parameters'] : undefined
  return (Array.isArray(parameters) ? parameters : []).filter(
    (parameter: unknown) => isRecord(parameter) && parameter['in'] === 'query',
  )
}

function textsOf(operation: unknown): readonly string[] {
  const parameters = isRecord(operation) ? operation['parameters'] : undefined
  return (Array.isArray(parameters) ? parameters : []).flatMap((parameter: unknown) => {
    if (!isRecord(parameter) || parameter['in'] !== 'query') return []
    const schema = parameter['schema']
    return isRecord(schema) && schema['type'] === 'string' ? [String(parameter['name'])] : []
  })
}

function schemaAt(operation: unknown, path: readonly string[]): unknown {
  let schema: unknown = operation
  for (const name of [...path, 'content', 'application/json', 'schema'])
    schema = isRecord(schema) ? schema[name] : undefined
  return schema
}

function membersOf(schema: unknown, schemas: Readonly<Record<string, unknown>>): readonly string[] {
  if (!isRecord(schema)) return []
  const { $ref: reference, allOf, properties } = schema
  if (typeof reference === 'string') return membersOf(schemas[reference.split('/').at(-1) ?? ''], schemas)
  const parts: readonly unknown[] = Array.isArray(allOf) ? allOf : []
  const own = isRecord(properties) ? Object.keys(properties) : []
  return [...own, ...parts.flatMap((part) => membersOf(part, schemas))]
}

const LINK = '#/components/schemas/AtomLink'

/** @param parents the schemas that refer to this one */
function holdsLink(
  schema: unknown,
  schemas: Readonly<Record<string, unknown>>,
  parents: readonly string[] = [],
): boolean {
  if (Array.isArray(schema)) return schema.some((one) => holdsLink(one, schemas, parents))
  if (!isRecord(schema)) return false
  const { $ref: reference } = schema
  if (typeof reference !== 'string')
    return Object.values(schema).some((one) => holdsLink(one, schemas, parents))
  if (reference === LINK) return true
  const name = reference.split('/').at(-1) ?? ''
  return !parents.includes(name) && holdsLink(schemas[name], schemas, [...parents, name])
}
