import type { PublishedType } from '../operations/published/facts.ts'

/** A schema of OpenAPI 3.0, with the members that descriptions of the API need. */
export interface Schema {
  readonly $ref?: string
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array'
  readonly format?: string
  readonly enum?: readonly (string | null)[]
  readonly nullable?: true
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly allOf?: readonly Schema[]
  readonly description?: string
  readonly example?: string
}

/** The component for dates. The format `date-time` would be wrong: the zone of the engine's dates has no colon. */
export const DATE_COMPONENT = 'EngineDate'

export const DATE_SCHEMA: Schema = {
  type: 'string',
  description:
    "A date in the engine's format. By default, it is `yyyy-MM-dd'T'HH:mm:ss.SSSZ`, and the zone has no colon.",
  example: '2026-01-31T12:00:00.000+0000',
}

/** The component for dates that may be missing. Most dates of responses are. */
export const NULLABLE_DATE_COMPONENT = 'EngineDateOrNull'

/** Returns the schema of a type. `named` receives the name of each schema that it refers to. */
export function openApiSchemaOf(type: PublishedType, named: (component: string) => void): Schema {
  if (type.kind === 'list') return { type: 'array', items: openApiSchemaOf(type.items, named) }
  if (type.kind === 'map')
    return { type: 'object', additionalProperties: openApiSchemaOf(type.values, named) }
  if (type.kind === 'schema') return reference(type.name, named)
  return unnamedSchemaOf(type, named)
}

function unnamedSchemaOf(
  type: Exclude<PublishedType, { readonly kind: 'list' | 'map' | 'schema' }>,
  named: (component: string) => void,
): Schema {
  if (type.kind === 'object') return { type: 'object', additionalProperties: true }
  if (type.kind === 'any') return { nullable: true }
  if (type.kind === 'string') return textSchemaOf(type, named)
  if (type.kind === 'integer')
    return { type: 'integer', ...(type.format === null ? {} : { format: type.format }) }
  return { type: type.kind }
}

function textSchemaOf(
  { format, values }: Extract<PublishedType, { readonly kind: 'string' }>,
  named: (component: string) => void,
): Schema {
  if (format === 'date-time') return reference(DATE_COMPONENT, named)
  if (format !== null) return { type: 'string', format }
  return values === null ? { type: 'string' } : { type: 'string', enum: values }
}

/** Returns the schema of a type that also permits null. `named` receives the name of each schema that it refers to. */
export function nullableSchemaOf(type: PublishedType, named: (component: string) => void): Schema {
  if (type.kind === 'string' && type.format === 'date-time') return reference(NULLABLE_DATE_COMPONENT, named)
  return orNull(openApiSchemaOf(type, named))
}

function orNull(schema: Schema): Schema {
  if (schema.$ref !== undefined) return { allOf: [schema], nullable: true }
  return { ...schema, ...(schema.enum === undefined ? {} : { enum: [...schema.enum, null] }), nullable: true }
}

function reference(name: string, named: (component: string) => void): Schema {
  named(name)
  return { $ref: `#/components/schemas/${name}` }
}
