import { nameText } from '../../operations/published/declared-names.ts'
import { type RefusalText, ownText, operatorText, GatewayError } from '../../errors.ts'
import type { HazardRule } from '../../operations/hazard-rules.ts'
import { objectMembersOf, requestsVariables } from '../../operations/serialized-values.ts'
import { isRecord } from '../../request/value.ts'
import type { Operation } from '../../operations/table.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import { isExpressionMember, isKnownExpression } from './query-expressions.ts'
import { isGiven, membersOf } from './schemas/engine-error.ts'

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

/** The hazards that the configuration of an engine accepts. */
export interface AcceptedHazards {
  readonly allowedHazards: ReadonlySet<HazardRule>
  /** The texts of expressions that are accepted in addition to those of the grammar. */
  readonly allowedExpressions: ReadonlySet<string>
}

/** Checks a request for hazards. @throws GatewayError GW_HAZARD that names the rule and the place */
export function checkHazards(
  operation: Pick<Operation, 'id' | 'method' | 'expressions'>,
  { query, body }: Pick<AccessRequest, 'query' | 'body'>,
  accepted: AcceptedHazards,
): void {
  const { allowedHazards } = accepted
  const checksExpressions = operation.expressions !== undefined && !allowedHazards.has('expressions')
  const look = { ...accepted, checksExpressions }
  if (checksExpressions)
    for (const [name, text] of query) checkExpression(name, text, look, () => parameterText(name))
  if (isRecord(body)) walk(body, '$', look)
  if (allowedHazards.has('deserialization')) return
  checkObjectMembers(operation, { query, body })
}

/** Values of a parameter that every engine reads as false or ignores. */
const NOT_TRUE = /^(?:false)?$/i

/** Refuses a value that the engine may read as true, and for which the gateway does not read the variables itself. */
function checkObjectMembers(
  { id, method }: Pick<Operation, 'id' | 'method'>,
  { query, body }: Pick<AccessRequest, 'query' | 'body'>,
): void {
  for (const name of objectMembersOf(id))
    if (method === 'POST') {
      const value = membersOf(body)[name] ?? false
      if (value !== false && !requestsVariables(value))
        throw hazard('deserialization', operatorText`$.${ownText(name)}`)
    } else {
      const text = query.get(name) ?? ''
      if (!NOT_TRUE.test(text) && !requestsVariables(text))
        throw hazard('deserialization', operatorText`query parameter ${ownText(name)}`)
    }
}

/** Returns the refusal by a named rule. */
export function hazard(rule: HazardRule | 'scripts', where: RefusalText): GatewayError {
  const name = ownText(rule)
  return new GatewayError('GW_HAZARD', {
    message:
      typeof where === 'string'
        ? operatorText`Refused by the rule '${name}': ${where}`
        : {
            caller: `Refused by the rule '${rule}': ${where.caller.slice(0, MAX_PLACE_CHARS)}`,
            operator: operatorText`Refused by the rule '${name}': ${where.operator}`,
          },
    rule: name,
  })
}

/** Names a member. Only the caller sees its path, which contains the names of variables. */
function memberText(path: string, name: string): RefusalText {
  return { caller: path, operator: operatorText`the member ${nameText(name)}` }
}

function parameterText(name: string): RefusalText {
  return { caller: `query parameter ${name}`, operator: operatorText`query parameter ${nameText(name)}` }
}

/**
 * Checks a task query that an engine has stored: it may be older than the gateway, or written past it.
 * @throws GatewayError GW_HAZARD for an expression that is not accepted
 */
export function checkStoredExpressions(query: unknown, accepted: AcceptedHazards): void {
  if (!isRecord(query) || accepted.allowedHazards.has('expressions')) return
  walk(query, '$.query', { ...accepted, checksExpressions: true })
}

interface HazardOptions extends AcceptedHazards {
  readonly checksExpressions: boolean
}

function checkExpression(
  name: string,
  value: unknown,
  { allowedExpressions }: AcceptedHazards,
  placeOf: () => RefusalText,
): void {
  // A null expression is not refused, because clients send their whole query object.
  if (!isExpressionMember(name) || value === null) return
  if (isKnownExpression(name, value)) return
  if (typeof value !== 'string' || !allowedExpressions.has(value)) throw hazard('expressions', placeOf())
}

function walk(node: JsonMembers, path: string, look: HazardOptions): void {
  if (Array.isArray(node)) {
    for (const [index, item] of node.entries()) if (isRecord(item)) walk(item, `${path}[${index}]`, look)
    return
  }
  checkTyped(node, path, look)
  for (const name of Object.keys(node)) {
    const value = node[name]
    if (look.checksExpressions) checkExpression(name, value, look, () => memberText(`${path}.${name}`, name))
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
    throw hazard(
      'java-serialized',
      memberText(`${path}.valueInfo.serializationDataFormat`, 'serializationDataFormat'),
    )
  if (isGiven(objectTypeName) && !allowedHazards.has('object-type-name'))
    throw hazard('object-type-name', memberText(`${path}.valueInfo.objectTypeName`, 'objectTypeName'))
}
