import { numeralOf, withNumerals } from '../request/json.ts'
import { isObject } from '../request/value.ts'
import { type OperationTool, pathParametersOf } from './operation-tools.ts'
import { BODY_ARGUMENT, MAX_RESULTS_PARAMETER, type PageLimits } from './tool-schema.ts'

/** The request of the API for a call of a tool. */
export interface ToolRequest {
  readonly method: string
  /** The path below the base path, with the query string. */
  readonly target: string
  readonly body: Buffer | null
}

/** A sentence that says which argument is wrong. */
export interface ArgumentProblem {
  readonly problem: string
}

/** Node.js accepts 16 KiB for the first line and all headers of a request. */
const MAX_TARGET_CHARS = 8192
/** The longest name of an argument that a message repeats. */
const MAX_NAME_CHARS = 64

/**
 * Builds the request for a call. Each argument has exactly one place: a parameter of the path, a parameter of the query string, or the
 * body. Every other argument is refused. `given` must be from `readJson`, so that numbers keep their digits.
 */
export function toolRequestOf(
  tool: OperationTool,
  given: Readonly<Record<string, unknown>>,
  limits: PageLimits,
): ToolRequest | ArgumentProblem {
  const path = pathParametersOf(tool.operation)
  const known = new Set([...path, ...tool.query, ...(tool.hasBody ? [BODY_ARGUMENT] : [])])
  const unknown = Object.keys(given).find((name) => !known.has(name))
  if (unknown !== undefined)
    return { problem: `There is no argument ${JSON.stringify(unknown.slice(0, MAX_NAME_CHARS))}` }
  const problem = problemIn(tool, given, limits)
  if (problem !== null) return { problem }
  const target = pathOf(tool.operation.template, given) + searchOf(tool, given, limits)
  if (target.length > MAX_TARGET_CHARS)
    return { problem: 'The arguments of the path and of the query are too long' }
  return {
    method: tool.operation.method,
    target,
    body: tool.hasBody ? Buffer.from(JSON.stringify(withNumerals(given, BODY_ARGUMENT))) : null,
  }
}

/** Returns the problem of an argument, or null if no argument has one. Everything else is checked by the stages of the request. */
function problemIn(
  { operation, query, hasBody, description }: OperationTool,
  given: Readonly<Record<string, unknown>>,
  limits: PageLimits,
): string | null {
  const missing = description.inputSchema.required?.find((name) => !Object.hasOwn(given, name))
  if (missing !== undefined) return `The argument ${missing} is missing`
  for (const name of pathParametersOf(operation)) {
    const text = textOf(given, name)
    if (text === null || !isSegment(text))
      return `The argument ${name} must be a text that is not empty, . or ..`
  }
  for (const name of query)
    if (Object.hasOwn(given, name) && !isWellFormedText(textOf(given, name)))
      return `The argument ${name} must be a text, a number, true or false`
  if (hasBody && !isObject(given[BODY_ARGUMENT])) return `The argument ${BODY_ARGUMENT} must be an object`
  return query.has(MAX_RESULTS_PARAMETER) ? problemOfPage(given, limits) : null
}

function problemOfPage(given: Readonly<Record<string, unknown>>, { maxResults }: PageLimits): string | null {
  if (!Object.hasOwn(given, MAX_RESULTS_PARAMETER)) return null
  const number = Number(textOf(given, MAX_RESULTS_PARAMETER))
  return Number.isSafeInteger(number) && number >= 1 && number <= maxResults
    ? null
    : `The argument ${MAX_RESULTS_PARAMETER} must be a whole number from 1 to ${maxResults}. Use firstResult for the items after them`
}

/** Returns the text of an argument, with the digits of a number as the client wrote them. Null if it is not a scalar. */
function textOf(given: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = given[name]
  if (typeof value === 'number') return numeralOf(given, name)
  return typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : null
}

/** A dot segment would name another path, and an empty segment none. */
function isSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && isWellFormedText(text)
}

/** A surrogate without its pair cannot be written in a URL. */
function isWellFormedText(text: string | null): text is string {
  return text !== null && text.isWellFormed()
}

/** Every character that has a meaning in a URL is encoded, so an argument stays one segment. */
function pathOf(template: string, given: Readonly<Record<string, unknown>>): string {
  return template.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(textOf(given, name) ?? ''))
}

function searchOf(
  { query }: OperationTool,
  given: Readonly<Record<string, unknown>>,
  { defaultResults }: PageLimits,
): string {
  const pairs: string[] = []
  for (const name of query) {
    const text = Object.hasOwn(given, name) ? textOf(given, name) : defaultOf(name, defaultResults)
    if (text !== null) pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(text)}`)
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function defaultOf(name: string, defaultResults: number): string | null {
  return name === MAX_RESULTS_PARAMETER ? String(defaultResults) : null
}
