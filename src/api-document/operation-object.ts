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
}

export interface OperationObjectOptions {
  /** Null: parameters and members of all releases are described. */
  readonly release: Release | null
  /** Whether the gateway executes a request with an Idempotency-Key once. */
  readonly hasIdempotencyKeys: boolean
}

type Named = (component: string) => void

/** Describes one operation. The texts are those of the gateway, the names and types those of the published API. */
export function operationObjectOf(operation: Operation, options: OperationObjectOptions): OperationObject {
  const { id, method, template } = operation
  const published = publishedOperation(id)
  const named = new Set<string>()
  const name: Named = (component) => named.add(component)
  const tag = tagOf(template)
  const parameters = [
    ...queryParametersOf(published, options.release, name),
    ...(operation.idempotencyKey === true && options.hasIdempotencyKeys
      ? [{ $ref: '#/components/parameters/IdempotencyKey' }]
      : []),
  ]
  const body = requestBodyOf(operation, published, name)
  const json = JSON.stringify({
    operationId: id,
    summary: SUMMARIES[id] ?? id,
    description: permissionText(operation),
    tags: [tag],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : { requestBody: body }),
    responses: {
      ...responsesOf(operation, published, name),
      default: { $ref: '#/components/responses/Error' },
    },
  })
  const pathParameters = JSON.stringify(pathParametersOf(template, published))
  return { id, path: pathOf(template), pathParameters, method: method.toLowerCase(), tag, json, named }
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

function pathParametersOf(template: string, published: PublishedOperation | null) {
  const types = new Map([...(published?.path ?? [])].map(([name, { type }]) => [camelCased(name), type]))
  return [...template.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: parameterSchemaOf(types.get(name)),
  }))
}

/** The published name of a parameter may be `tenant-id`. The table has `tenantId`. */
function camelCased(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function parameterSchemaOf(type: PublishedType | undefined): Schema {
  return type === undefined ? { type: 'string' } : openApiSchemaOf(type, () => undefined)
}

function queryParametersOf(published: PublishedOperation | null, release: Release | null, name: Named) {
  return [...(published?.query ?? [])]
    .filter(([, field]) => hasField(release, field))
    .map(([parameter, { type, isRequired }]) => ({
      name: parameter,
      in: 'query',
      ...(isRequired ? { required: true } : {}),
      // The engine reads every parameter from a text.
      schema:
        type.kind === 'object' || type.kind === 'any' ? { type: 'string' } : openApiSchemaOf(type, name),
    }))
}

const JSON_TYPE = 'application/json'
const ANY_OBJECT: Schema = { type: 'object', additionalProperties: true }

function requestBodyOf({ method, media }: Operation, published: PublishedOperation | null, name: Named) {
  if (media === 'none') return null
  if (published !== null)
    return published.body === null
      ? null
      : { content: { [published.consumes]: { schema: openApiSchemaOf(published.body, name) } } }
  if (method !== 'POST' && method !== 'PUT') return null
  return { content: { [media === 'multipart' ? 'multipart/form-data' : JSON_TYPE]: { schema: ANY_OBJECT } } }
}

function responsesOf({ id }: Operation, published: PublishedOperation | null, name: Named) {
  const described = publishedResponses(id)
  const responses = described.length === 0 ? [{ status: '200', type: null }] : described
  return Object.fromEntries(
    responses.map(({ status, type }) => {
      const content = status === '204' ? null : contentOf(published, type, name)
      return [status, { description: STATUSES[status] ?? 'OK', ...(content === null ? {} : { content }) }]
    }),
  )
}

const STATUSES: Readonly<Record<string, string>> = { 201: 'Created', 204: 'No content' }

function contentOf(published: PublishedOperation | null, type: PublishedType | null, name: Named) {
  const media = (published?.produces ?? [JSON_TYPE]).map((one) => [
    one,
    { schema: one === JSON_TYPE ? jsonSchemaOf(type, name) : { type: 'string', format: 'binary' } },
  ])
  return media.length === 0 ? null : Object.fromEntries(media)
}

function jsonSchemaOf(type: PublishedType | null, name: Named): Schema {
  return type === null ? {} : openApiSchemaOf(type, name)
}
