import { ERROR_COMPONENT } from './component-schemas.ts'
import type { DocumentParts } from './document-parts.ts'
import type { OperationObject } from './operation-object.ts'

/** The properties of an engine that its description contains. */
export interface ApiDescription {
  readonly title: string
  /** The path below which the operations are: `/engine-rest`. */
  readonly basePath: string
  /** The credentials that the gateway accepts. */
  readonly schemes: readonly ('basic' | 'bearer')[]
  /** The release of the engine. If it is not configured, the newest version of the published API. */
  readonly version: string
}

/** Writes the document about some operations, with the components that they refer to. With `all`, they are all operations of the engine. */
export function writeDocument(
  parts: DocumentParts,
  { title, version, basePath, schemes }: ApiDescription,
  { ids, of }: { readonly ids: ReadonlySet<string>; readonly of: 'caller' | 'all' },
): string {
  const objects = parts.objectsOf(ids)
  const head = {
    openapi: '3.0.3',
    info: { title, version, description: DESCRIPTIONS[of] },
    servers: [{ url: basePath }],
    security: schemes.map((scheme) => ({ [scheme]: [] })),
  }
  const securitySchemes = Object.fromEntries(schemes.map((scheme) => [scheme, SCHEMES[scheme]]))
  const components = [
    `"schemas":{${parts.schemas(objects)}}`,
    `"parameters":{${parts.shared(objects, 'parameters').join()}}`,
    `"requestBodies":{${parts.shared(objects, 'requestBodies').join()}}`,
    `"responses":{${[ERROR_RESPONSE, ...parts.shared(objects, 'responses')].join()}}`,
    `"headers":${JSON.stringify(HEADERS)}`,
    `"securitySchemes":${JSON.stringify(securitySchemes)}`,
  ]
  return `${JSON.stringify(head).slice(0, -1)},"paths":{${pathsText(objects)}},"components":{${components.join()}}}`
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

const SCHEMES = { basic: { type: 'http', scheme: 'basic' }, bearer: { type: 'http', scheme: 'bearer' } }

const HEADERS = {
  RequestId: {
    description: 'The id of the request in the logs: that of the request header, or a new one.',
    schema: { type: 'string' },
  },
  GatewayError: {
    description: 'The code of an error of the gateway. Errors of the engine do not have it.',
    schema: { type: 'string' },
  },
} as const

const ERROR_RESPONSE = JSON.stringify({
  Error: {
    description:
      'The request was refused or failed. The body of 401 is empty, unless a bearer token was refused.',
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      'X-Gateway-Error': { $ref: '#/components/headers/GatewayError' },
    },
    content: {
      'application/json': { schema: { $ref: `#/components/schemas/${ERROR_COMPONENT}` } },
      // The engine's own texts about a body that it cannot read, and about a path that its server does not know.
      'text/plain': { schema: { type: 'string' } },
      'text/html': { schema: { type: 'string' } },
    },
  },
}).slice(1, -1)
