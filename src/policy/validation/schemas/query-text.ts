import { isBooleanText, isWholeNumber, isWholeText } from './jackson.ts'
import type { RuleResult, IsDateText, Members, RequestData } from './engine-error.ts'
import { invalid, DEFER } from './engine-error.ts'
import { javaTrim, splitAt } from '../../../request/java-text.ts'

/** How the engine converts the text of a query parameter. A list of texts contains the only values that it accepts. */
export type QueryValueKind =
  | 'text'
  | 'texts'
  | 'list'
  | 'integer'
  | 'boolean'
  | 'date'
  | 'variables'
  | readonly string[]

/** The query of a query string in the form of a body, or the engine's refusal of a bad parameter. */
export type QueryText =
  | { readonly query: Members; readonly finding: null }
  | { readonly query: null; readonly finding: Exclude<RuleResult, null> }

const JAVA = { integer: 'java.lang.Integer', boolean: 'java.lang.Boolean', date: 'java.util.Date' }

/** How the parameters of one operation are read. Other parameters are ignored, as the engine ignores them. */
export interface QueryReading {
  readonly kinds: Readonly<Record<string, QueryValueKind>>
  /** The member that a parameter sets, if its name differs. */
  readonly names?: Readonly<Record<string, string>>
  readonly isDateText: IsDateText
}

/** Converts the parameters of a query string to the members of a query. */
export function readQuery(
  parameters: RequestData['query'],
  { kinds, names = {}, isDateText }: QueryReading,
): QueryText {
  const query: Record<string, unknown> = {}
  const faults: Exclude<RuleResult, null>[] = []
  for (const [name, text] of parameters) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
    if (kind === undefined) continue
    const converted = convert(text, kind, isDateText)
    if ('value' in converted) query[names[name] ?? name] = converted.value
    else if (converted.why === DEFER) faults.push(DEFER)
    else faults.push(invalid(`Cannot set query parameter '${name}' to value '${text}'${converted.why}`))
  }
  const [fault, ...others] = faults
  if (fault === undefined) return { query, finding: null }
  // The engine names one of several. Its hash table determines which one.
  return { query: null, finding: others.length === 0 ? fault : DEFER }
}

type ConversionResult = { readonly value: unknown } | { readonly why: string }

function convert(text: string, kind: QueryValueKind, isDateText: IsDateText): ConversionResult {
  if (typeof kind === 'object') return kind.includes(text) ? { value: text } : { why: '' }
  switch (kind) {
    case 'text':
      return { value: text }
    case 'texts':
      return { value: splitAt(text, ',') }
    case 'list':
      return { value: javaTrim(text) === '' ? [] : splitAt(text, ',') }
    case 'variables':
      return convertVariables(text)
    case 'date':
      return convertDate(text, isDateText)
    case 'integer':
    case 'boolean':
      break
  }
  return convertScalar(text, kind)
}

function convertVariables(text: string): ConversionResult {
  const filters = splitAt(text, ',').map((filter) => splitAt(filter, '_'))
  if (filters.some((parts) => parts.length !== 3))
    return { why: ': variable query parameter has to have format KEY_OPERATOR_VALUE.' }
  return { value: filters.map(([name, operator, value]) => ({ name, operator, value })) }
}

/** Converts a date. The engine encloses the text in quotes and reads it as JSON. */
function convertDate(text: string, isDateText: IsDateText): ConversionResult {
  if (text.startsWith('"') || text.endsWith('"'))
    return { why: `${unfit(text, 'date')} because of double quotes` }
  const token = QUOTED.exec(`"${text}"`)?.[0] ?? ''
  const read = jsonTextOf(token)
  const isTold = read !== null && (isDateText(read) || !token.includes('\\'))
  if (!isTold) return { why: DEFER }
  return isDateText(read) ? { value: read } : { why: unfit(`"${text}"`, 'date') }
}

/** A JSON string. Other text may follow it. */
const QUOTED = /^"(?:[^"\\]|\\.)*"/s

/** Returns the text that the engine's JSON reader reads from a string, or null if it fails. */
function jsonTextOf(token: string): string | null {
  try {
    return String(JSON.parse(token))
  } catch {
    return null
  }
}

const TOKEN =
  /^[ \t\r\n]*(?:(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)(?=[ \t\r\n]|$)|(true|false|null)(?![\w\p{L}\p{N}])|("(?:[^"\\]|\\.)*"))/su

/** Converts a scalar. The engine reads the text as JSON, but only its first token: `5`, `"5"`, `true x`. */
function convertScalar(text: string, kind: 'integer' | 'boolean'): ConversionResult {
  const token = TOKEN.exec(text)
    ?.slice(1)
    .find((group) => group !== undefined)
  if (token === undefined) return { why: unfit(text, kind) }
  const isQuoted = token.startsWith('"')
  const inner = isQuoted ? jsonTextOf(token) : null
  if (isQuoted && inner === null) return { why: DEFER }
  const fits =
    inner === null
      ? fitsBare(token, kind)
      : kind === 'integer'
        ? isWholeText(inner, kind)
        : isBooleanText(inner)
  if (fits) return { value: inner ?? JSON.parse(token) }
  return { why: token.includes('\\') ? DEFER : unfit(text, kind) }
}

function fitsBare(token: string, kind: 'integer' | 'boolean'): boolean {
  if (token === 'null') return true
  if (kind === 'boolean') return /^(?:true|false|-?\d+)$/.test(token)
  return !/^[tf]/.test(token) && isWholeNumber(Number(token), 'integer')
}

function unfit(shown: string, kind: keyof typeof JAVA): string {
  return `: Cannot convert value ${shown} to java type ${JAVA[kind]}`
}
