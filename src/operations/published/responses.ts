import { parseFields, parseType, type PublishedFields, type PublishedType } from './facts.ts'
import file from './responses.json' with { type: 'json' }

/**
 * The form of `responses.json`, which `npm run import:published` writes. Types are written as in `facts.json`. The file is separate,
 * because only descriptions of the API need it: a gateway without them does not load it.
 */
export interface ResponsesFile {
  /** The JSON type of each successful response by operationId and status. Empty if the response is no JSON or has no content. */
  readonly operations: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The schemas that responses consist of, each with the types of its members, inherited members included. */
  readonly schemas: Readonly<Record<string, Readonly<Record<string, string>>>>
}

const RESPONSES: ResponsesFile = file

/** A successful response of an operation. */
export interface PublishedResponse {
  readonly status: string
  /** Null if the response is no JSON or has no content. */
  readonly type: PublishedType | null
}

/** Returns the successful responses of an operation. Empty if no document has the operation. */
export function publishedResponses(id: string): readonly PublishedResponse[] {
  return Object.entries(RESPONSES.operations[id] ?? {}).map(([status, text]) => ({
    status,
    type: text === '' ? null : parseType(text, RESPONSES.schemas),
  }))
}

/** Returns the members of a schema of responses. Null if responses have no such schema. */
export function publishedResponseSchema(name: string): PublishedFields | null {
  const members = RESPONSES.schemas[name]
  return members === undefined ? null : parseFields(members, RESPONSES.schemas)
}
