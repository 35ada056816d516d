import { OPERATIONS } from '../../../src/operations/all.ts'
import {
  publishedOperation,
  publishedSchema,
  type PublishedFields,
  type PublishedType,
} from '../../../src/operations/published/facts.ts'
import { type Release, releasesOf } from '../../../src/operations/published/releases.ts'
import type { Operation } from '../../../src/operations/table.ts'
import { memberTypesOf } from '../../../src/policy/validation/schemas/published-bodies.ts'

/** A JSON body with one odd value. */
export interface OddBody {
  readonly operation: Operation
  /** The place of the odd value: `$`, `$.priority` or `$.sorting[].sortBy`. */
  readonly place: string
  readonly text: string
}

/** The values that are sent at every place, as JSON. */
const VALUES = [
  'null',
  '""',
  '"text"',
  '"5"',
  '"true"',
  '5',
  '-1',
  '1.5',
  '2147483648',
  '99999999999999999999',
  'true',
  'false',
  '[]',
  '["text"]',
  '[null]',
  '[{}]',
  '{}',
  '{"text":1}',
]

/** The first form is the engine's own. The last one has the form of a date, and every part of it is too large. */
const DATES = [
  '"2020-01-01T00:00:00.000+0000"',
  '"2020-01-01T00:00:00.000Z"',
  '"2020-01-01T00:00:00.000+01:00"',
  '"2020-01-01T00:00:00"',
  '"2020-01-01"',
  '1577836800000',
  '"2020-13-45T25:61:61.999+0000"',
]

/** Returns whether every engine gets this body: one for each operation, which no operation reads as its body. */
export function isForEveryEngine({ place, text }: Pick<OddBody, 'place' | 'text'>): boolean {
  return place === '$' && text === '"text"'
}

/** Returns the operations of a release that have a JSON body. */
export function operationsWithBody(release: Release): readonly Operation[] {
  return OPERATIONS.filter(({ id }) => {
    const published = publishedOperation(id)
    const isPresent = releasesOf(id)?.includes(release) ?? true
    return isPresent && published?.body != null && published.consumes === 'application/json'
  })
}

/**
 * Returns bodies that are odd as a whole, and bodies in which one member is odd. The members of a schema that is no body itself are
 * sent with the first operation whose body contains the schema.
 */
export function oddBodies(operations: readonly Operation[]): readonly OddBody[] {
  const bodies = operations.map((operation) => ({ operation, type: bodyTypeOf(operation) }))
  const seen = new Set(bodies.flatMap(({ type }) => (type.kind === 'schema' ? [type.name] : [])))
  return bodies.flatMap(({ operation, type }) => [
    ...valuesOf(type).map((text) => ({ operation, place: '$', text })),
    ...(type.kind === 'schema' ? membersOf(type.name, { place: '$', wrap: (text) => text }, seen) : []).map(
      (member) => ({ operation, ...member }),
    ),
  ])
}

function bodyTypeOf({ id }: Operation): PublishedType {
  const type = publishedOperation(id)?.body
  if (type == null) throw new Error(`${id} has no body`)
  return type
}

/** A position in a body. */
interface Position {
  readonly place: string
  /** Returns the whole body with this JSON text at the position. */
  readonly wrap: (text: string) => string
}

function membersOf(schema: string, parent: Position, seen: Set<string>): Omit<OddBody, 'operation'>[] {
  const members = publishedSchema(schema)
  // Members that the engine reads besides the published ones.
  const hidden = Object.keys(memberTypesOf(schema)).filter((name) => !members.has(name))
  return [
    ...hidden.map((name): [string, PublishedType] => [name, ANY_TEXT]),
    ...[...members].map(([name, { type }]): [string, PublishedType] => [name, type]),
  ].flatMap(([name, type]) => {
    const others = kindIn(members, name)
    const position = {
      place: `${parent.place}.${name}`,
      wrap: (text: string) => parent.wrap(`{"${name}":${text}${others}}`),
    }
    return [
      ...valuesOf(type).map((text) => ({ place: position.place, text: position.wrap(text) })),
      ...nestedOf(type, position, seen),
    ]
  })
}

const ANY_TEXT: PublishedType = { kind: 'string', format: 'date-time', values: null }

/** Returns the other member without which the engine does not choose the class of an object: the type of an instruction. */
function kindIn(members: PublishedFields, name: string): string {
  const kind = members.get('type')
  if (name === 'type' || kind?.isRequired !== true || kind.type.kind !== 'string') return ''
  const [value] = kind.type.values ?? []
  return value === undefined ? '' : `,"type":"${value}"`
}

function nestedOf(
  type: PublishedType,
  { place, wrap }: Position,
  seen: Set<string>,
): Omit<OddBody, 'operation'>[] {
  if (type.kind === 'list')
    return nestedOf(type.items, { place: `${place}[]`, wrap: (text) => wrap(`[${text}]`) }, seen)
  if (type.kind === 'map')
    return nestedOf(type.values, { place: `${place}.*`, wrap: (text) => wrap(`{"text":${text}}`) }, seen)
  if (type.kind !== 'schema' || seen.has(type.name)) return []
  seen.add(type.name)
  return membersOf(type.name, { place, wrap }, seen)
}

function valuesOf(type: PublishedType): readonly string[] {
  if (type.kind !== 'string') return VALUES
  const [value] = type.values ?? []
  if (value !== undefined) return [...VALUES, `"${value}"`, `"${value.toUpperCase()}"`]
  return type.format === null ? VALUES : [...VALUES, ...DATES]
}
