import { GatewayError, jsonRefusalOf, operatorText } from '../errors.ts'
import type { Operation } from '../operations/table.ts'

/** A response of an engine that is not JSON: its HAL form, or a 406 because the client accepts no form. */
export type OtherForm = 'hal' | 'neither'

type AcceptingOperation = Pick<Operation, 'accept'>

/** Returns whether the operation also responds with HAL. */
export function hasHal({ accept }: AcceptingOperation): boolean {
  return accept === 'hal' || accept === 'hal with variables'
}

const JSON_TYPE = /^(?:application|\*)\/(?:json|\*)$/
const HAL_TYPE = /^(?:application|\*)\/hal\+json$/

/**
 * Returns which form the engine would choose instead of JSON, or false for JSON. A header that no engine can read chooses neither
 * form: the engine responds with 400.
 * @throws GatewayError GW_BAD_HEADER for an operation with two forms, if the header is malformed or ambiguous
 */
export function otherFormOf(operation: AcceptingOperation, accept: string | undefined): OtherForm | false {
  const ranges = rangesOf(accept)
  const isHalPossible = hasHal(operation)
  if (isHalPossible && (ranges === null || ranges.some(({ isAmbiguous }) => isAmbiguous)))
    throw new GatewayError('GW_BAD_HEADER', {
      message: operatorText`Accept contains a malformed range, or a range with more than one q`,
    })
  const chosen = ranges?.find(({ type }) => JSON_TYPE.test(type) || (isHalPossible && HAL_TYPE.test(type)))
  if (chosen === undefined) return 'neither'
  return HAL_TYPE.test(chosen.type) ? 'hal' : false
}

/**
 * Checks that the client accepts JSON, for a response that the gateway gives instead of the engine.
 * @throws EngineRefusal 406 if the client does not accept JSON; GatewayError GW_BAD_HEADER if `Accept` cannot be read
 */
export function assertTakesJson(accept: string | undefined): void {
  const ranges = rangesOf(accept)
  if (ranges === null)
    throw new GatewayError('GW_BAD_HEADER', { message: operatorText`Accept contains a malformed range` })
  if (ranges.some(({ type }) => JSON_TYPE.test(type))) return
  const message = operatorText`HTTP 406 Not Acceptable`
  throw jsonRefusalOf(406, { type: 'NotAcceptableException', message, code: null }, message)
}

/** Returns an `Accept` that accepts only JSON. It keeps the client's parameters, because the engine repeats them in the type of its response. */
export function jsonAcceptOf(accept: string | undefined): string {
  return aloneOf(
    'application/json',
    rangesOf(accept)?.find(({ type }) => JSON_TYPE.test(type)),
  )
}

/**
 * Returns the `Accept` for an operation with two forms. It accepts only the form of the decision, so that an engine that reads the
 * client's header in another way cannot choose another form.
 * @throws GatewayError GW_BAD_HEADER as `otherFormOf`
 */
export function decidedAcceptOf(accept: string | undefined): string {
  const form = otherFormOf({ accept: 'hal' }, accept)
  if (form === false) return jsonAcceptOf(accept)
  const ranges = rangesOf(accept) ?? []
  if (form === 'neither') return ranges.map(({ type }) => type).join(', ')
  return aloneOf(
    'application/hal+json',
    ranges.find(({ type }) => HAL_TYPE.test(type)),
  )
}

function aloneOf(type: string, range: MediaRange | undefined): string {
  return range?.type === type ? [range.written, ...range.parameters].join(';') : type
}

interface MediaRange {
  /** In lower case, without parameters. */
  readonly type: string
  readonly written: string
  /** All parameters except `q`, and except values with a backslash or comma, which some parsers would split. */
  readonly parameters: readonly string[]
  readonly quality: number
  /** True if there is more than one `q`: the engine (Jersey) reads the last, other readers read the first. */
  readonly isAmbiguous: boolean
}

const ANY: readonly MediaRange[] = [
  { type: '*/*', written: '*/*', parameters: [], quality: 1000, isAmbiguous: false },
]
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const VALUE = `(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`
/**
 * Matches one range with the comma after it. An empty range is allowed only at the end. A space can match in one place only, so the
 * time to read a header is proportional to its length.
 */
const RANGE_AND_END = new RegExp(
  `[ \\t]*(${TOKEN}(?:/${TOKEN})?)[ \\t]*((?:;[ \\t]*(?:${TOKEN}=${VALUE}[ \\t]*)?)*)(?:,(?:[ \\t]*$)?|$)`,
  'y',
)
const EACH_PARAMETER = new RegExp(`(${TOKEN})=(${VALUE})`, 'g')
/** In addition to RFC 9110 section 12.4.2, this allows the form `.2`, which Jersey reads and Java's own client sends. */
const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?|\.\d{1,4})$/

/**
 * Returns the ranges in the order of the engine: by quality (0 is the lowest, and refuses nothing), then by precision, then by
 * position. Null if the engine cannot read the header and responds with 400.
 */
function rangesOf(accept = ''): readonly MediaRange[] | null {
  if (accept === '') return ANY
  const ranges: MediaRange[] = []
  RANGE_AND_END.lastIndex = 0
  while (RANGE_AND_END.lastIndex < accept.length) {
    const match = RANGE_AND_END.exec(accept)
    if (match === null) return null
    const range = rangeOf(match[1] ?? '', match[2] ?? '')
    if (range === null) return null
    ranges.push(range)
  }
  if (ranges.length === 1) return ranges
  return ranges.sort((a, b) => b.quality - a.quality || starsOf(a.type) - starsOf(b.type))
}

function rangeOf(type: string, rest: string): MediaRange | null {
  const all = rest === '' ? [] : [...rest.matchAll(EACH_PARAMETER)]
  const qualities = all.filter(([, name = '']) => name.toLowerCase() === 'q')
  const quality = qualityOf(qualities.at(-1)?.[2] ?? '1')
  if (quality === null) return null
  const parameters = all.filter((one) => !qualities.includes(one) && !/[\\,]/.test(one[2] ?? ''))
  return {
    type: type.includes('/') ? type.toLowerCase() : `${type.toLowerCase()}/*`,
    written: type,
    parameters: parameters.map(([parameter]) => parameter),
    quality,
    isAmbiguous: qualities.length > 1,
  }
}

/** Returns the quality in thousandths. */
function qualityOf(value: string): number | null {
  const text = value.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1')
  if (!QUALITY.test(text)) return null
  // Jersey reads a point without digits as less than 0.
  return text.endsWith('.')
    ? -1
    : Math.trunc(Number(text.slice(0, text.startsWith('.') ? 4 : 5)) * 1000 + 1e-6)
}

/** Returns how open a range is. An open type counts more than an open subtype. */
function starsOf(type: string): number {
  return (type.startsWith('*/') ? 2 : 0) + (type.endsWith('/*') ? 1 : 0)
}
