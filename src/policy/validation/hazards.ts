import { GatewayError } from '../../errors.ts'
import type { HazardRule } from '../../operations/hazard-rules.ts'
import { isRecord } from '../../request/value.ts'
import type { Operation } from '../../operations/table.ts'
import { bodyValue } from '../../request/body.ts'
import { itemsOf, membersOf } from './schemas/engine-error.ts'

/** Members that contain variables by name. Every entry is a typed value, whatever its name. */
const VARIABLE_MAPS: ReadonlySet<string> = new Set([
  'correlationKeys',
  'localCorrelationKeys',
  'localVariables',
  'modifications',
  'processVariables',
  'processVariablesLocal',
  'processVariablesToTriggeredScope',
  'variables',
])

/** Members with free data. They contain no expressions or typed values. */
const FREE_DATA: ReadonlySet<string> = new Set(['value', 'properties', 'valueInfo'])

const MAX_PLACE_CHARS = 200

type JsonMembers = Readonly<Record<string, unknown>>

/** Checks a request for hazards. @throws GatewayError GW_HAZARD that names the rule and the place */
export function checkHazards(
  { expressions, items }: Pick<Operation, 'expressions' | 'items'>,
  { query, body }: { readonly query: ReadonlyMap<string, string>; readonly body: unknown },
  allowedHazards: ReadonlySet<HazardRule>,
): void {
  const refusesExpressions = expressions === 'refused' && !allowedHazards.has('expressions')
  if (refusesExpressions) {
    const name = [...query.keys()].find((key) => key.endsWith('Expression'))
    if (name !== undefined) throw hazard('expressions', `query parameter ${name}`)
  }
  if (isRecord(body)) walk(body, '$', { refusesExpressions, allowedHazards })
  if (items?.form === 'locks' && !allowedHazards.has('deserialization')) checkTopics(body)
}

/** Topics of external tasks are the only bodies that can request objects, and the engine reads many values of the member as true. */
function checkTopics(body: unknown): void {
  for (const [index, topic] of itemsOf(bodyValue(body, 'topics')).entries())
    if ((membersOf(topic)['deserializeValues'] ?? false) !== false)
      throw hazard('deserialization', `$.topics[${index}].deserializeValues`)
}

/** Returns the refusal by a named rule. */
export function hazard(rule: HazardRule | 'scripts', where: string): GatewayError {
  return new GatewayError('GW_HAZARD', {
    message: `Refused by the rule '${rule}': ${where.slice(0, MAX_PLACE_CHARS)}`,
    rule,
  })
}

interface HazardOptions {
  readonly refusesExpressions: boolean
  readonly allowedHazards: ReadonlySet<HazardRule>
}

function walk(node: JsonMembers, path: string, look: HazardOptions): void {
  if (Array.isArray(node)) {
    for (const [index, item] of node.entries()) if (isRecord(item)) walk(item, `${path}[${index}]`, look)
    return
  }
  checkTyped(node, path, look)
  for (const name of Object.keys(node)) {
    const value = node[name]
    // A null expression is not refused, because clients send their whole query object.
    if (look.refusesExpressions && name.endsWith('Expression') && value !== null)
      throw hazard('expressions', `${path}.${name}`)
    if (!isRecord(value) || FREE_DATA.has(name)) continue
    if (VARIABLE_MAPS.has(name) && !Array.isArray(value)) checkVariables(value, `${path}.${name}`, look)
    else walk(value, `${path}.${name}`, look)
  }
}

function checkVariables(variables: JsonMembers, path: string, look: HazardOptions): void {
  for (const [name, value] of Object.entries(variables))
    if (isRecord(value)) checkTyped(value, `${path}.${name}`, look)
}

function checkTyped({ valueInfo }: JsonMembers, path: string, { allowedHazards }: HazardOptions): void {
  if (!isRecord(valueInfo)) return
  const { serializationDataFormat: format, objectTypeName } = valueInfo
  if (typeof format === 'string' && /java-serialized/i.test(format) && !allowedHazards.has('java-serialized'))
    throw hazard('java-serialized', `${path}.valueInfo.serializationDataFormat`)
  if (isPresent(objectTypeName) && !allowedHazards.has('object-type-name'))
    throw hazard('object-type-name', `${path}.valueInfo.objectTypeName`)
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}
