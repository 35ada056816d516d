import { StringDecoder } from 'node:string_decoder'
import { CHAR, endOfString } from '../request/json-text.ts'
import { isObject, jsonValueOf, stringIn } from '../request/value.ts'
import { type InProcessResponse, isText } from './in-process-client.ts'

/** The result of a call, as `tools/call` returns it. */
export interface ToolResult {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: boolean
}

/** Returns a failed result that an agent can read. */
export function failedResult(text: string): ToolResult {
  return { content: [textContent(text)], isError: true }
}

/** Returns the result of a call. `hint` says how to get a shorter response. */
export function toolResultOf(response: InProcessResponse, hint: string): ToolResult {
  const { status, headers, body, isCut } = response
  if (status >= 400) return failedResult(errorTextOf(response))
  const mediaType = headers['content-type']
  if (!isText(mediaType))
    return failedResult(`The response has the media type ${mediaType}. A tool returns only text.`)
  if (body.length === 0)
    return { content: [textContent(`The engine responded with ${status} and no content.`)] }
  const text = new StringDecoder('utf8').write(body)
  if (!isCut) return { content: [textContent(text)], ...structuredContentOf(text, mediaType) }
  const items = wholeItemsOf(text)
  const [shown, what] =
    items === null ? [text, 'the first part of the response'] : [items.text, `the first ${items.count} items`]
  return {
    content: [textContent(shown), textContent(`The response is too long. This is only ${what}. ${hint}`)],
  }
}

function textContent(text: string): ToolResult['content'][number] {
  return { type: 'text', text }
}

/** The strings of a JSON text. */
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"/g
/** A number that JavaScript may round or print in another way. The text has its digits. */
const ROUNDED_NUMBER = /[:,[]\s*-?(?:\d{16}|\d*[.eE])/

/** The deepest value that a result contains. The SDK fails without a response if a value has some thousand levels. */
const MAX_DEPTH = 100

/** Returns whether a JSON text without strings has too many levels. */
function isTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length && depth <= MAX_DEPTH; at += 1) {
    const char = text.charCodeAt(at)
    if (char === CHAR.openingBrace || char === CHAR.openingBracket) depth += 1
    else if (char === CHAR.closingBrace || char === CHAR.closingBracket) depth -= 1
  }
  return depth > MAX_DEPTH
}

/** The same response as a value. A list is the member `items`, because the value must be an object. */
function structuredContentOf(
  text: string,
  mediaType: string | undefined,
): Pick<ToolResult, 'structuredContent'> {
  if (mediaType?.startsWith('application/json') !== true) return {}
  const withoutStrings = text.replaceAll(STRINGS, '""')
  if (ROUNDED_NUMBER.test(withoutStrings) || isTooDeep(withoutStrings)) return {}
  const value = jsonValueOf(text)
  if (Array.isArray(value)) return { structuredContent: { items: value } }
  return isObject(value) ? { structuredContent: { ...value } } : {}
}

/** Returns the refusal or error in one line: the status, the code of the gateway, and the message for the caller. */
function errorTextOf({ status, headers, body }: InProcessResponse): string {
  const error = jsonValueOf(body)
  const type = stringIn(error, 'type')
  const message = stringIn(error, 'message')
  const code = headers['x-gateway-error']
  const retry = headers['retry-after']
  return [
    `HTTP ${status}`,
    ...(type === null ? [] : [` ${type}`]),
    ...(code === undefined ? [] : [` (${String(code)})`]),
    ...(message === null ? [] : [`: ${message}`]),
    ...(retry === undefined ? [] : [`. Try again after ${retry} seconds.`]),
  ].join('')
}

/**
 * Returns the complete items at the start of a list whose end is missing, as a list. Null if the text is not a list, or if its first
 * item is not complete.
 */
function wholeItemsOf(text: string): { readonly text: string; readonly count: number } | null {
  if (!text.startsWith('[')) return null
  let depth = 0
  let count = 0
  let end = 0
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === CHAR.quote) at = endOfString(text, at)
    else if (char === CHAR.openingBrace || char === CHAR.openingBracket) depth += 1
    else if (char === CHAR.closingBrace || char === CHAR.closingBracket) depth -= 1
    else if (char === CHAR.comma && depth === 1) {
      count += 1
      end = at
    }
  }
  return count === 0 ? null : { text: `${text.slice(0, end)}]`, count }
}
