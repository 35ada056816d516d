import type { Variable } from './data.ts'
import { RestError, isJson } from './http.ts'
import type { JsonObject } from './http.ts'

const javaTypes: Readonly<Record<string, string>> = {
  Short: 'java.lang.Short',
  Integer: 'java.lang.Integer',
  Long: 'java.lang.Long',
  Double: 'java.lang.Double',
}
const otherTypes = new Set(['Boolean', 'String', 'Date', 'Json', 'Xml', 'Object', 'Bytes', 'File', 'Null'])

/** Returns the variables in a map of a body. `doing` is the beginning of the message of a refusal. */
export function variablesOf(value: unknown, doing: string): Map<string, Variable> {
  const entries = isJson(value) ? Object.entries(value) : []
  return new Map(entries.map(([name, one]) => [name, variableOf(isJson(one) ? one : {}, doing)]))
}

/** Returns a variable as the engine stores it. An absent type is derived from the value. */
export function variableOf({ type, value = null }: JsonObject, doing: string): Variable {
  const name = typeof type === 'string' ? type : typeOfValue(value)
  const javaType = Object.hasOwn(javaTypes, name) ? javaTypes[name] : undefined
  if (javaType === undefined && !otherTypes.has(name)) {
    throw refusalOf(`${doing}: Unsupported value type '${name}'`)
  }
  if (javaType !== undefined && value !== null && Number.isNaN(Number(value))) {
    const shown = typeof value === 'string' ? value : JSON.stringify(value)
    throw refusalOf(`${doing}: Cannot convert value '${shown}' of type '${name}' to java type ${javaType}`)
  }
  const stored = javaType !== undefined && typeof value === 'string' ? Number(value) : value
  return { type: name, value: stored, valueInfo: {} }
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'Null'
  if (typeof value === 'boolean') return 'Boolean'
  if (typeof value === 'string') return 'String'
  if (typeof value !== 'number') return 'Object'
  if (!Number.isInteger(value)) return 'Double'
  return Math.abs(value) < 2 ** 31 ? 'Integer' : 'Long'
}

function refusalOf(message: string): RestError {
  return new RestError(400, 'InvalidRequestException', message)
}
