import {
  type PublishedOperation,
  type PublishedType,
  publishedOperation,
} from '../operations/published/facts.ts'
import { hasField, type Release } from '../operations/published/releases.ts'
import { publishedResponses } from '../operations/published/responses.ts'
import { SUMMARIES } from '../operations/published/summaries.ts'
import type { Operation } from '../operations/table.ts'
import { permissionTextsOf } from './permission-texts.ts'
import { type ComponentPath, type OperationPart, referenceTo, type SharedParts } from './shared-parts.ts'
import { type Schema, openApiSchemaOf } from './type-schema.ts'

/** The part of the document about one operation. */
export interface OperationObject {
  readonly id: string
  readonly path: string
  /** The parameters of the path as JSON. They are the same for each method. */
  readonly pathParameters: string
  readonly method: string
  readonly tag: string
  /** The operation as JSON. */
  readonly json: string
  /** The schemas that it refers to. */
  readonly named: ReadonlySet<string>
  /** The other components that it refers to. */
  readonly shared: ReadonlySet<ComponentPath>
}

export interface OperationObjectOptions {
  /** Null: parameters and members of all releases are described. */
  readonly release: Release | null
  /** Whether the gateway executes a request with an Idempotency-Key once. */
  readonly hasIdempotencyKeys: boolean
}

/** The parts of an operation that other operations may have too. */
export interface OperationParts {
  readonly operation: Operation
  readonly path: readonly OperationPart[]
  readonly parameters: readonly OperationPart[]
  readonly body: OperationPart | null
  readonly responses: readonly (OperationPart & { readonly status: string })[]
  /** The schemas that they refer to. */
  readonly named: ReadonlySet<string>
}

type Named = (component: string) => void

/** Returns the parts of an operation, with the names and types of the published API. */
export function operationPartsOf(
  operation: Operation,
  { release, hasIdempotencyKeys }: OperationObjectOptions,
): OperationParts {
  const published = publishedOperation(operation.id)
  const named = new Set<string>()
  const name: Named = (component) => named.add(component)
  const parameters = queryParametersOf(published, release, name)
  return {
    operation,
    path: pathParametersOf(operation.template, published),
    parameters:
      operation.idempotencyKey === true && hasIdempotencyKeys ? [...parameters, IDEMPOTENCY_KEY] : parameters,
    body: requestBodyOf(operation, published, name),
    responses: responsesOf(operation, published, name),
    named,
  }
}

/** Returns all parts of an operation. */
export function partsIn({ path, parameters, body, responses }: OperationParts): readonly OperationPart[] {
  return [...path, ...parameters, ...(body === null ? [] : [body]), ...responses]
}

/** Describes one operation. The texts are those of the gateway. Parts that operations share are references. */
export function operationObjectOf(parts: OperationParts, sharedParts: SharedParts): OperationObject {
  const { operation, path, parameters, body, responses, named } = parts
  const { id, method, template } = operation
  const tag = tagOf(template)
  const shared = new Set<ComponentPath>()
  const written = (part: OperationPart): string => {
    const place = sharedParts.pathOf(part)
    if (place === null) return part.json
    shared.add(place)
    return referenceTo(place)
  }
  const head = {
    operationId: id,
    summary: SUMMARIES[id] ?? id,
    description: permissionText(operation),
    tags: [tag],
  }
  const members = [
    JSON.stringify(head).slice(1, -1),
    ...(parameters.length === 0 ? [] : [`"parameters":[${parameters.map(written).join()}]`]),
    ...(body === null ? [] : [`"requestBody":${written(body)}`]),
    `"responses":{${responses.map((part) => `"${part.status}":${written(part)},`).join('')}"default":${ERROR}}`,
  ]
  return {
    id,
    path: pathOf(template),
    pathParameters: `[${path.map(written).join()}]`,
    method: method.toLowerCase(),
    tag,
    json: `{${members.join()}}`,
    named,
    shared,
  }
}

const ERROR = referenceTo('responses/Error')

const IDEMPOTENCY_KEY: OperationPart = {
  kind: 'parameters',
  name: 'IdempotencyKey',
  json: JSON.stringify({
    name: 'Idempotency-Key',
    in: 'header',
    description: 'The gateway executes a request with this key once. A repetition gets the first response.',
    schema: { type: 'string' },
  }),
}

function pathOf(template: string): string {
  return template.replaceAll(/:(\w+)/g, '{$1}')
}

/** Returns the beginning of the path: `task`, `history/task`. */
function tagOf(template: string): string {
  const [, first = '', second = ''] = template.split('/')
  return first === 'history' ? `history/${second}` : first
}

function permissionText(operation: Operation): string {
  const texts = permissionTextsOf(operation)
  return texts.length === 0
    ? 'Needs no permission.'
    : `Needs: ${texts.map((text) => (texts.length === 1 ? text : `\n- ${text}`)).join('')}`
}

function pathParametersOf(template: string, published: PublishedOperation | null): readonly OperationPart[] {
  const types = new Map([...(published?.path ?? [])].map(([name, { type }]) => [camelCased(name), type]))
  return [...template.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    kind: 'parameters',
    name: `path${capitalized(name)}`,
    json: JSON.stringify({ name, in: 'path', required: true, schema: parameterSchemaOf(types.get(name)) }),
  }))
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** The published name of a parameter may be `tenant-id`. The table has `tenantId`. */
function camelCased(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function parameterSchemaOf(type: PublishedType | undefined): Schema {
  return type === undefined ? { type: 'string' } : openApiSchemaOf(type, () => undefined)
}

function queryParametersOf(
  published: PublishedOperation | null,
  release: Release | null,
  name: Named,
): readonly OperationPart[] {
  return [...(published?.query ?? [])]
    .filter(([, field]) => hasField(release, field))
    .map(([parameter, { type, isRequired }]) => ({
      kind: 'parameters',
      name: parameter,
      json: JSON.stringify({
        name: parameter,
        in: 'query',
        ...(isRequired ? { required: true } : {}),
        // The engine reads every parameter from a text.
        schema:
          type.kind === 'object' || type.kind === 'any' ? { type: 'string' } : openApiSchemaOf(type, name),
      }),
    }))
}

const JSON_TYPE = 'application/json'
const ANY_OBJECT: Schema = { type: 'object', additionalProperties: true }

function requestBodyOf(
  { method, media }: Operation,
  published: PublishedOperation | null,
  name: Named,
): OperationPart | null {
  if (media === 'none') return null
  if (published !== null)
    return published.body === null
      ? null
      : bodyPartOf({ [published.consumes]: { schema: openApiSchemaOf(published.body, name) } })
  if (method !== 'POST' && method !== 'PUT') return null
  return bodyPartOf({ [media === 'multipart' ? 'multipart/form-data' : JSON_TYPE]: { schema: ANY_OBJECT } })
}

function bodyPartOf(content: Content): OperationPart {
  return { kind: 'requestBodies', name: contentName(content), json: JSON.stringify({ content }) }
}

function responsesOf(
  { id }: Operation,
  published: PublishedOperation | null,
  name: Named,
): OperationParts['responses'] {
  const described = publishedResponses(id)
  const responses = described.length === 0 ? [{ status: '200', type: null }] : described
  return responses.map(({ status, type }) => {
    const content = status === '204' ? null : contentOf(published, type, name)
    const json = JSON.stringify({
      description: STATUSES[status] ?? 'OK',
      ...(content === null ? {} : { content }),
    })
    return { status, kind: 'responses', name: content === null ? 'Empty' : contentName(content), json }
  })
}

const STATUSES: Readonly<Record<string, string>> = { 201: 'Created', 204: 'No content' }

/** The schema of each media type. */
type Content = Readonly<Record<string, { readonly schema: Schema }>>

function contentOf(
  published: PublishedOperation | null,
  type: PublishedType | null,
  name: Named,
): Content | null {
  const media = (published?.produces ?? [JSON_TYPE]).map((one): [string, { readonly schema: Schema }] => [
    one,
    { schema: one === JSON_TYPE ? jsonSchemaOf(type, name) : { type: 'string', format: 'binary' } },
  ])
  return media.length === 0 ? null : Object.fromEntries(media)
}

function jsonSchemaOf(type: PublishedType | null, name: Named): Schema {
  return type === null ? {} : openApiSchemaOf(type, name)
}

/** `TaskDtoList` for JSON, and `TextPlain` for other types. */
function contentName(content: Content): string {
  return Object.entries(content)
    .map(([media, { schema }]) =>
      media === JSON_TYPE
        ? schemaName(schema)
        : [...media.matchAll(/\w+/g)].map(([word]) => capitalized(word)).join(''),
    )
    .join('Or')
}

function schemaName({ $ref, type, items, additionalProperties }: Schema): string {
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? ''
  if (items !== undefined) return `${schemaName(items)}List`
  if (typeof additionalProperties === 'object') return `${schemaName(additionalProperties)}Map`
  return capitalized(type ?? 'any')
}
