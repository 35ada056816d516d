import { nameText } from '../../../operations/published/declared-names.ts'
import { operatorText } from '../../../errors.ts'
import type { CheckName } from '../../../operations/notation.ts'
import type { QueryKind, QueryParameters } from '../../../operations/published/query-parameters.ts'
import { isBooleanText, isName, isWholeNumber, isWholeText } from './jackson.ts'
import type { RuleResult, IsDateText, Members, RequestData } from './engine-error.ts'
import { DEFER, invalid, restFailure } from './engine-error.ts'
import { hashOrder, javaTrim, splitAt } from '../../../request/java-text.ts'
import { integerOf } from '../../../request/paging.ts'
import { jsonValueOf, stringOf } from '../../../request/value.ts'
import { ORDERS } from './sorting.ts'

/** The query of a query string in the form of a body, or the engine's refusal of a bad parameter. */
export type QueryText =
  | { readonly query: Members; readonly finding: null }
  | {
      readonly query: null
      readonly finding: Exclude<RuleResult, null>
      /** Set if several parameters are bad: the refusal of the one that an engine in a servlet container reads first. */
      readonly first?: Exclude<RuleResult, null>
    }

const JAVA = {
  integer: 'java.lang.Integer',
  long: 'java.lang.Long',
  boolean: 'java.lang.Boolean',
  date: 'java.util.Date',
}

/** The rules for the query string of an operation, in addition to the kinds of its parameters. */
export interface QueryContract {
  /** The check after which the engine reads the parameters. A path by key is resolved first. Default: it reads them before all checks. */
  readonly readAfter?: CheckName
  /** The sort criteria. Default: every name may be one, because another engine may have more criteria. */
  readonly criteria?: readonly string[]
  /** The member that a parameter sets, if its name differs. */
  readonly names?: Readonly<Record<string, string>>
  /** Returns the engine's response to the converted parameters. Default: the refusal of a bad parameter. */
  readonly find?: (text: QueryText, received: RequestData) => RuleResult
}

/** How the parameters of one operation are read. Other parameters are ignored, as the engine ignores them. */
export interface QueryReading extends Omit<QueryContract, 'find' | 'readAfter'> {
  readonly parameters: QueryParameters
  readonly isDateText: IsDateText
}

/** Converts the parameters of a query string to the members of a query. */
export function readQuery(received: RequestData['query'], reading: QueryReading): QueryText {
  const { parameters, names = {} } = reading
  const query: Record<string, unknown> = {}
  const faults = new Map<string, Exclude<RuleResult, null>>()
  for (const [name, text] of received) {
    const kind = parameters.kinds.get(name)
    if (kind === undefined) continue
    if (kind === 'page') {
      if (Number.isNaN(integerOf(text))) return { query: null, finding: BAD_PAGE }
      continue
    }
    const converted = CONVERSIONS[kind](text, reading)
    if ('value' in converted) query[names[name] ?? name] = converted.value
    else
      faults.set(
        name,
        'finding' in converted
          ? converted.finding
          : invalid({
              caller: messageOf(converted.why, parameters, name, text),
              operator: operatorText`query parameter '${nameText(name)}'`,
            }),
      )
  }
  return faults.size === 0 ? { query, finding: null } : faultyText([...received.keys()], faults)
}

function faultyText(
  names: readonly string[],
  faults: ReadonlyMap<string, Exclude<RuleResult, null>>,
): QueryText {
  const [name = ''] = hashOrder(names).filter((one) => faults.has(one))
  const first = faults.get(name) ?? DEFER
  // The engine names one of several. Its hash table determines which one.
  return { query: null, finding: faults.size === 1 ? first : DEFER, first }
}

/** The engine's framework responds to a bad number with "not found", before it reads other parameters or the body. */
const BAD_PAGE = {
  status: 404,
  type: 'QueryParamException',
  message: operatorText`HTTP 404 Not Found`,
  code: null,
}

function messageOf(why: string, { isNamed }: QueryParameters, name: string, text: string): string {
  if (!isNamed) return why
  return `Cannot set query parameter '${name}' to value '${text}'${why === '' ? '' : `: ${why}`}`
}

/** The converted value, or the end of the engine's message about the text, or another finding. */
type ConversionResult =
  | { readonly value: unknown }
  | { readonly why: string }
  | { readonly finding: Exclude<RuleResult, null> }

type Conversion = (text: string, reading: QueryReading) => ConversionResult

const CONVERSIONS: Readonly<Record<Exclude<QueryKind, 'page'>, Conversion>> = {
  criterion: (text, { criteria }) =>
    (criteria === undefined ? isName(text) : criteria.includes(text)) ? { value: text } : { why: '' },
  text: (text) => ({ value: text }),
  texts: (text) => ({ value: splitAt(text, ',') }),
  list: (text) => ({ value: javaTrim(text) === '' ? [] : splitAt(text, ',') }),
  order: (text) => (ORDERS.includes(text) ? { value: text } : { why: '' }),
  integer: (text) => convertScalar(text, 'integer'),
  long: (text) => convertScalar(text, 'long'),
  boolean: (text) => convertScalar(text, 'boolean'),
  date: (text, { isDateText }) => convertDate(text, isDateText),
  variables: convertVariables,
  conditions: convertConditions,
  object: () => ({ finding: restFailure('IllegalArgumentException', operatorText`argument type mismatch`) }),
}

function convertVariables(text: string): ConversionResult {
  const filters = splitAt(text, ',').map((filter) => splitAt(filter, '_'))
  if (filters.some((parts) => parts.length !== 3))
    return { why: 'variable query parameter has to have format KEY_OPERATOR_VALUE.' }
  return { value: filters.map(([name, operator, value]) => ({ name, operator, value })) }
}

function convertConditions(text: string): ConversionResult {
  const conditions = splitAt(text, ',').map((condition) => splitAt(condition, '_'))
  return conditions.every((parts) => parts.length === 2)
    ? { value: text }
    : { why: 'condition query parameter has to have format OPERATOR_VALUE.' }
}

/** Converts a date. The engine encloses the text in quotes and reads it as JSON. */
function convertDate(text: string, isDateText: IsDateText): ConversionResult {
  if (text.startsWith('"') || text.endsWith('"'))
    return { why: `${unfit(text, 'date')} because of double quotes` }
  const token = QUOTED.exec(`"${text}"`)?.[0] ?? ''
  const read = stringOf(jsonValueOf(token))
  const isTold = read !== null && (isDateText(read) || !token.includes('\\'))
  if (!isTold) return { finding: DEFER }
  return isDateText(read) ? { value: read } : { why: unfit(`"${text}"`, 'date') }
}

/** A JSON string. Other text may follow it. */
const QUOTED = /^"(?:[^"\\]|\\.)*"/s

const TOKEN =
  /^[ \t\r\n]*(?:(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)(?=[ \t\r\n]|$)|(true|false|null)(?![\w\p{L}\p{N}])|("(?:[^"\\]|\\.)*"))/su

/** Converts a scalar. The engine reads the text as JSON, but only its first token: `5`, `"5"`, `true x`. */
function convertScalar(text: string, kind: 'integer' | 'long' | 'boolean'): ConversionResult {
  const token = TOKEN.exec(text)
    ?.slice(1)
    .find((group) => group !== undefined)
  if (token === undefined) return { why: unfit(text, kind) }
  const isQuoted = token.startsWith('"')
  const inner = isQuoted ? stringOf(jsonValueOf(token)) : null
  if (isQuoted && inner === null) return { finding: DEFER }
  const fits =
    inner === null
      ? fitsBare(token, kind)
      : kind === 'boolean'
        ? isBooleanText(inner)
        : isWholeText(inner, kind)
  if (fits) return { value: inner ?? JSON.parse(token) }
  return token.includes('\\') ? { finding: DEFER } : { why: unfit(text, kind) }
}

function fitsBare(token: string, kind: 'integer' | 'long' | 'boolean'): boolean {
  if (token === 'null') return true
  if (kind === 'boolean') return /^(?:true|false|-?\d+)$/.test(token)
  return !/^[tf]/.test(token) && isWholeNumber(Number(token), kind)
}

function unfit(shown: string, kind: keyof typeof JAVA): string {
  return `Cannot convert value ${shown} to java type ${JAVA[kind]}`
}
