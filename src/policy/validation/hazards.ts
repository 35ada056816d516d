import { GatewayError } from '../../errors.ts'
import type { HazardRule } from '../../operations/hazard-rules.ts'
import { objectMembersOf } from '../../operations/serialized-values.ts'
import { isRecord } from '../../request/value.ts'
import type { Operation } from '../../operations/table.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import { bodyValue } from '../../request/body.ts'
import { isGiven, itemsOf, membersOf } from './schemas/engine-error.ts'

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
  operation: Pick<Operation, 'id' | 'method' | 'expressions' | 'items'>,
  { query, body }: Pick<AccessRequest, 'query' | 'body'>,
  allowedHazards: ReadonlySet<HazardRule>,
): void {
  const refusesExpressions = operation.expressions === 'refused' && !allowedHazards.has('expressions')
  if (refusesExpressions) {
    const name = [...query.keys()].find((key) => key.endsWith('Expression'))
    if (name !== undefined) throw hazard('expressions', `query parameter ${name}`)
  }
  if (isRecord(body)) walk(body, '$', { refusesExpressions, allowedHazards })
  if (allowedHazards.has('deserialization')) return
  if (operation.items?.form === 'locks') checkTopics(body)
  else checkObjectMembers(operation, { query, body })
}

/** Values of a parameter that every engine reads as false or ignores. */
const NOT_TRUE = /^(?:false)?$/i

function checkObjectMembers(
  { id, method }: Pick<Operation, 'id' | 'method'>,
  { query, body }: Pick<AccessRequest, 'query' | 'body'>,
): void {
  for (const name of objectMembersOf(id))
    if (method === 'POST') {
      if (isFlagged(body, name)) throw hazard('deserialization', `$.${name}`)
    } else if (!NOT_TRUE.test(query.get(name) ?? ''))
      throw hazard('deserialization', `query parameter ${name}`)
}

/** Returns whether a member may be true for the engine, which reads many values as true. */
function isFlagged(body: unknown, name: string): boolean {
  return (membersOf(body)[name] ?? false) !== false
}

function checkTopics(body: unknown): void {
  for (const [index, topic] of itemsOf(bodyValue(body, 'topics')).entries())
    if (isFlagged(topic, 'deserializeValues'))
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
  for (const name of Object.keys(variables)) {
    const value = variables[name]
    // Most variables have no `valueInfo`, and the path of a variable is text that only a refusal needs.
    if (isRecord(value) && isRecord(value['valueInfo'])) checkTyped(value, `${path}.${name}`, look)
  }
}

function checkTyped({ valueInfo }: JsonMembers, path: string, { allowedHazards }: HazardOptions): void {
  if (!isRecord(valueInfo)) return
  const { serializationDataFormat: format, objectTypeName } = valueInfo
  if (typeof format === 'string' && /java-serialized/i.test(format) && !allowedHazards.has('java-serialized'))
    throw hazard('java-serialized', `${path}.valueInfo.serializationDataFormat`)
  if (isGiven(objectTypeName) && !allowedHazards.has('object-type-name'))
    throw hazard('object-type-name', `${path}.valueInfo.objectTypeName`)
}
