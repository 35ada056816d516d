import type { Operation } from '../operations/table.ts'
import { type NamedSchema, componentOf, ERROR_COMPONENT } from './component-schemas.ts'
import { type OperationObject, type OperationObjectOptions, operationObjectOf } from './operation-object.ts'

/** The properties of an engine that its description contains. */
export interface ApiDescription extends OperationObjectOptions {
  readonly title: string
  /** The path below which the operations are: `/engine-rest`. */
  readonly basePath: string
  /** The credentials that the gateway accepts. */
  readonly schemes: readonly ('basic' | 'bearer')[]
  /** The version of the gateway. */
  readonly version: string
}

/**
 * Writes descriptions of the API as OpenAPI documents. The parts about each operation and each schema are written once, so that a
 * document for other callers only joins them.
 */
export class ApiDocumentWriter {
  readonly #description: ApiDescription
  readonly #operations: readonly Operation[]
  readonly #objects = new Map<string, OperationObject>()
  readonly #components = new Map<string, WrittenComponent>()

  constructor(operations: readonly Operation[], description: ApiDescription) {
    this.#operations = operations
    this.#description = description
  }

  /** Returns the parts about some operations, in the order of the table. */
  objectsOf(ids: ReadonlySet<string>): readonly OperationObject[] {
    return this.#operations.filter(({ id }) => ids.has(id)).map((operation) => this.#objectOf(operation))
  }

  /** Writes the document about some operations, with the schemas that they refer to. `all`: they are those of the engine, not of a caller. */
  write(ids: ReadonlySet<string>, of: 'caller' | 'all' = 'caller'): string {
    const objects = this.objectsOf(ids)
    const { title, version, basePath, schemes } = this.#description
    const head = {
      openapi: '3.0.3',
      info: { title, version, description: DESCRIPTIONS[of] },
      servers: [{ url: basePath }],
      security: schemes.map((scheme) => ({ [scheme]: [] })),
      tags: [...new Set(objects.map(({ tag }) => tag))].map((name) => ({ name })),
    }
    const components = componentsOf(schemes)
    return [
      `${JSON.stringify(head).slice(0, -1)},"paths":{${pathsText(objects)}},`,
      `"components":{"schemas":{${this.#schemasText(objects)}},${JSON.stringify(components).slice(1)}}`,
    ].join('')
  }

  #objectOf(operation: Operation): OperationObject {
    const object = this.#objects.get(operation.id) ?? operationObjectOf(operation, this.#description)
    this.#objects.set(operation.id, object)
    return object
  }

  #componentOf(name: string): WrittenComponent {
    const known = this.#components.get(name)
    if (known !== undefined) return known
    const { schema, named } = componentOf(name, this.#description.release)
    const written = { named, json: `${JSON.stringify(name)}:${JSON.stringify(schema)}` }
    this.#components.set(name, written)
    return written
  }

  #schemasText(objects: readonly OperationObject[]): string {
    const reached = new Set([ERROR_COMPONENT, ...objects.flatMap(({ named }) => [...named])])
    // A set iterates over names that are added meanwhile.
    for (const name of reached) for (const other of this.#componentOf(name).named) reached.add(other)
    return [...reached]
      .toSorted()
      .map((name) => this.#componentOf(name).json)
      .join()
  }
}

interface WrittenComponent extends Pick<NamedSchema, 'named'> {
  readonly json: string
}

function pathsText(objects: readonly OperationObject[]): string {
  const byPath = new Map<string, string[]>()
  for (const { path, pathParameters, method, json } of objects) {
    const members = byPath.get(path) ?? (pathParameters === '[]' ? [] : [`"parameters":${pathParameters}`])
    byPath.set(path, members)
    members.push(`${JSON.stringify(method)}:${json}`)
  }
  return [...byPath].map(([path, members]) => `${JSON.stringify(path)}:{${members.join()}}`).join()
}

const DESCRIPTIONS = {
  caller:
    'The operations of which you may be permitted some request, by the authorization records in force. A request may still be refused: ' +
    'an operation may be permitted only for some entities.',
  all: 'All operations of the engine, with the permissions that they need.',
} as const

const REQUEST_ID = { $ref: '#/components/headers/RequestId' }
const SCHEMES = { basic: { type: 'http', scheme: 'basic' }, bearer: { type: 'http', scheme: 'bearer' } }

function componentsOf(schemes: ApiDescription['schemes']) {
  return {
    securitySchemes: Object.fromEntries(schemes.map((scheme) => [scheme, SCHEMES[scheme]])),
    parameters: {
      IdempotencyKey: {
        name: 'Idempotency-Key',
        in: 'header',
        description:
          'The gateway executes a request with this key once. A repetition gets the first response.',
        schema: { type: 'string' },
      },
    },
    headers: {
      RequestId: {
        description: 'The id of the request in the logs: that of the request header, or a new one.',
        schema: { type: 'string' },
      },
      GatewayError: {
        description: 'The code of an error of the gateway. Errors of the engine do not have it.',
        schema: { type: 'string' },
      },
    },
    responses: {
      Error: {
        description:
          'The request was refused or failed. The body of 401 is empty, unless a bearer token was refused.',
        headers: {
          'X-Request-Id': REQUEST_ID,
          'X-Gateway-Error': { $ref: '#/components/headers/GatewayError' },
        },
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${ERROR_COMPONENT}` } } },
      },
    },
  }
}
