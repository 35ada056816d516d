import { publishedSchema } from '../operations/published/facts.ts'
import { hasField, type Release } from '../operations/published/releases.ts'
import { publishedResponseSchema } from '../operations/published/responses.ts'
import {
  DATE_COMPONENT,
  DATE_SCHEMA,
  NULLABLE_DATE_COMPONENT,
  nullableSchemaOf,
  openApiSchemaOf,
  type Schema,
} from './type-schema.ts'

/** A schema of the document, with the other schemas that it refers to. */
export interface NamedSchema {
  readonly schema: Schema
  readonly named: ReadonlySet<string>
}

/** Returns a named schema. Members of responses may be null. */
export function componentOf(name: string, release: Release | null): NamedSchema {
  const own = OWN[name]
  if (own !== undefined) return { schema: own, named: new Set() }
  const named = new Set<string>()
  const responded = publishedResponseSchema(name)
  const fields = [...(responded ?? publishedSchema(name))].filter(([, field]) => hasField(release, field))
  const required = fields.flatMap(([member, { isRequired }]) => (isRequired ? [member] : []))
  const properties = Object.fromEntries(
    fields.map(([member, { type, isRequired }]) => {
      const schemaOf = isRequired || responded === null ? openApiSchemaOf : nullableSchemaOf
      return [member, schemaOf(type, (component) => named.add(component))]
    }),
  )
  return { schema: { type: 'object', properties, ...(required.length === 0 ? {} : { required }) }, named }
}

/** The component for the body of an error. */
export const ERROR_COMPONENT = 'EngineError'

const OWN: Readonly<Record<string, Schema>> = {
  [DATE_COMPONENT]: DATE_SCHEMA,
  [NULLABLE_DATE_COMPONENT]: { ...DATE_SCHEMA, nullable: true },
  [ERROR_COMPONENT]: {
    type: 'object',
    description: 'An error of the engine, or of the gateway in the form of the engine.',
    properties: {
      type: { type: 'string' },
      message: { type: 'string', nullable: true },
      code: { type: 'integer', nullable: true },
    },
  },
}
