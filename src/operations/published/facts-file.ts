/**
 * The form of `facts.json`, which `npm run import:published` writes.
 *
 * A type is a name: `string`, `integer`, `number`, `boolean`, `object` (an object with any members), `any`, or the name of a schema. A
 * format follows a colon (`string:date-time`, `integer:int32`), and permitted values are in brackets (`string(asc|desc)`). `[]` after a
 * type is a list of this type, and `{}` an object whose members all have this type. `!` marks a member or parameter that the API requires. `@7.23` follows if
 * it exists only since that version, and `@-7.22` if it exists only up to that version.
 */
export interface FactsFile {
  /** The documents, from the oldest version to the newest. */
  readonly sources: readonly PublishedSource[]
  /** Operations by operationId. */
  readonly operations: Readonly<Record<string, OperationFacts>>
  /** The schemas that bodies consist of, each with the types of its members, inherited members included. */
  readonly schemas: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** A published OpenAPI document. */
export interface PublishedSource {
  readonly family: string
  /** As an engine reports it: `7.22.0`. */
  readonly version: string
  /** The artifact on Maven Central: `group:name:version`. */
  readonly artifact: string
}

export interface OperationFacts {
  /** The method and the path as published: `GET /task/{id}`. */
  readonly route: string
  /** The range of versions: `7.23` or `-7.22`. Absent: all. */
  readonly versions?: string
  /** Types of the parameters in the path. Absent: each is a `string`. */
  readonly path?: Readonly<Record<string, string>>
  /** Types of the parameters in the query string. Absent: there are none. */
  readonly query?: Readonly<Record<string, string>>
  /** The type of the body. Absent: the operation has none. */
  readonly body?: string
  /** The media type of the body. Absent: JSON. */
  readonly consumes?: string
  /** The media types of the successful response. Absent: JSON, or no content. */
  readonly produces?: readonly string[]
}
