import {
  type PublishedFields,
  type PublishedOperation,
  publishedSchema,
  type PublishedType,
} from '../operations/published/facts.ts'

/** A JSON schema, as far as the tools need it. */
export interface ToolSchema {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: number
  readonly minLength?: number
  readonly items?: ToolSchema
  readonly properties?: Readonly<Record<string, ToolSchema>>
  readonly additionalProperties?: ToolSchema | false
  readonly required?: readonly string[]
}

/** The schema of all arguments of a tool. A tool accepts no other arguments. */
export interface ToolInputSchema extends ToolSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, ToolSchema>>
  readonly additionalProperties: false
}

/** The default and the maximum number of items of a list. */
export interface PageLimits {
  readonly defaultResults: number
  readonly maxResults: number
}

/** The name of the argument with the body. The parameters of the path and of the query are arguments with their own names. */
export const BODY_ARGUMENT = 'body'
/** The parameter that limits the number of items of a list. */
export const MAX_RESULTS_PARAMETER = 'maxResults'

/**
 * Objects within objects are described down to this depth. A query contains queries of its own kind, and a complete description would
 * not end.
 */
const MAX_DEPTH = 3

const DATE_FORMAT = 'A date like 2026-01-31T12:00:00.000+0100'
const PATH_PARAMETER: ToolSchema = { type: 'string', minLength: 1 }
const ANY_OBJECT: ToolSchema = { type: 'object' }

/** Returns the schema of the arguments of an operation. `path` has the names of the parameters in the path. */
export function inputSchemaOf(
  { query, body }: Pick<PublishedOperation, 'query' | 'body'>,
  path: readonly string[],
  limits: PageLimits,
): ToolInputSchema {
  const properties: Record<string, ToolSchema> = {}
  const required = [...path]
  for (const name of path) properties[name] = PATH_PARAMETER
  for (const [name, { type, isRequired }] of query) {
    properties[name] = name === MAX_RESULTS_PARAMETER ? pageSchemaOf(limits) : schemaOf(type, 0)
    if (isRequired) required.push(name)
  }
  if (body !== null) {
    properties[BODY_ARGUMENT] = schemaOf(body, 0)
    // An engine fails with 500 if it expects a body and gets none.
    required.push(BODY_ARGUMENT)
  }
  return { type: 'object', properties, ...requiredOf(required), additionalProperties: false }
}

function pageSchemaOf({ defaultResults, maxResults }: PageLimits): ToolSchema {
  return { type: 'integer', minimum: 1, maximum: maxResults, default: defaultResults }
}

function schemaOf(type: PublishedType, depth: number): ToolSchema {
  if (type.kind === 'string') return stringSchemaOf(type)
  if (type.kind === 'list') return { type: 'array', items: schemaOf(type.items, depth) }
  if (type.kind === 'map') return { type: 'object', additionalProperties: schemaOf(type.values, depth) }
  if (type.kind === 'any') return {}
  if (type.kind !== 'schema') return { type: type.kind }
  return depth >= MAX_DEPTH ? ANY_OBJECT : objectSchemaOf(publishedSchema(type.name), depth + 1)
}

function stringSchemaOf({ format, values }: Extract<PublishedType, { readonly kind: 'string' }>): ToolSchema {
  if (values !== null) return { type: 'string', enum: values }
  return format === 'date-time' ? { type: 'string', description: DATE_FORMAT } : { type: 'string' }
}

function objectSchemaOf(members: PublishedFields, depth: number): ToolSchema {
  const fields = [...members]
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, { type }]) => [name, schemaOf(type, depth)])),
    ...requiredOf(fields.flatMap(([name, { isRequired }]) => (isRequired ? [name] : []))),
  }
}

function requiredOf(names: readonly string[]): Pick<ToolSchema, 'required'> {
  return names.length === 0 ? {} : { required: names }
}
