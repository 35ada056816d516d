import { DATE_PATTERN_PIECE, DEFAULT_DATE_PATTERN } from '../config/date-pattern.ts'

/** How one engine writes dates in responses and reads them in requests. */
export interface DateFormat {
  /** A pattern of Java's `SimpleDateFormat`. */
  readonly pattern: string
  readonly isDefault: boolean
  /** Whether the text of a date shows its milliseconds. If not, two different dates can have the same text. */
  readonly hasMilliseconds: boolean
  /** Returns milliseconds since 1970-01-01 UTC, or null if the text does not name exactly one instant in this format. */
  readonly toMs: (text: unknown) => number | null
  /** Returns the instant in this format, or null if the format does not name instants that the gateway can compute. */
  readonly format: (ms: number) => string | null
  /** Returns whether the engine may read a text as a date in this format. Some texts for which it is true are no dates. */
  readonly mayRead: (text: string) => boolean
}

type FieldName = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'millisecond' | 'zone'

interface Field {
  readonly name: FieldName
  /** Letters of the pattern: numbers are padded to this width. */
  readonly width: number
  readonly letter: string
}

type Piece = Field | string

/** Letters whose text does not depend on a language or on the time zone of the engine. */
const FIELDS: Readonly<Record<string, FieldName>> = {
  y: 'year',
  M: 'month',
  d: 'day',
  H: 'hour',
  m: 'minute',
  s: 'second',
  S: 'millisecond',
  Z: 'zone',
  X: 'zone',
}

/** An instant needs all of these. A pattern without a zone means the local time of the engine, which the gateway does not know. */
const NEEDED: readonly FieldName[] = ['year', 'month', 'day', 'hour', 'minute', 'second', 'zone']

/** Returns how to read and write dates of this pattern. A pattern with names or without a zone is neither read nor written. */
export function createDateFormat(pattern: string = DEFAULT_DATE_PATTERN): DateFormat {
  const pieces = piecesOf(pattern)
  const mayRead = literalsCheckOf(pattern)
  const isDefault = pattern === DEFAULT_DATE_PATTERN
  const fields = pieces?.filter((piece) => typeof piece !== 'string') ?? []
  const names = fields.map(({ name }) => name)
  const hasMilliseconds = names.includes('millisecond')
  const isInstant = new Set(names).size === names.length && NEEDED.every((name) => names.includes(name))
  if (pieces === null || !isInstant)
    return { pattern, isDefault, hasMilliseconds, toMs: () => null, format: () => null, mayRead }
  const expression = new RegExp(`^${pieces.map(sourceOf).join('')}$`)
  return {
    pattern,
    isDefault,
    hasMilliseconds,
    toMs: (text) => (typeof text === 'string' ? instantOf(expression.exec(text), names) : null),
    format: (ms) => pieces.map((piece) => formatPiece(piece, new Date(ms))).join(''),
    mayRead,
  }
}

/** Returns null if the pattern has a field that depends on more than the instant. */
function piecesOf(pattern: string): readonly Piece[] | null {
  const pieces: Piece[] = []
  for (const text of pattern.match(DATE_PATTERN_PIECE) ?? []) {
    const letter = text.charAt(0)
    const name = FIELDS[letter]
    if (name !== undefined && isNumeric(name, text)) pieces.push({ name, width: text.length, letter })
    else if (/[A-Za-z]/.test(letter)) return null
    else pieces.push(literalOf(text))
  }
  return pieces
}

/**
 * Creates a check whether a text has all literals of the pattern in their order. `SimpleDateFormat` requires the literals
 * unchanged, but reads fields in many forms: signs, spaces, names, digits of all scripts.
 */
function literalsCheckOf(pattern: string): DateFormat['mayRead'] {
  const texts = pattern.match(DATE_PATTERN_PIECE) ?? []
  const literals = texts.filter((text) => !/^[A-Za-z]/.test(text)).map(literalOf)
  return (text) => {
    let at = 0
    for (const literal of literals) {
      const found = text.indexOf(literal, at)
      if (found < 0) return false
      at = found + literal.length
    }
    return true
  }
}

/** Returns whether a field consists of digits only. `yy` is a year of two digits, and `MMM` is the name of a month. */
function isNumeric(name: FieldName, { length }: string): boolean {
  if (name === 'year') return length !== 2
  if (name === 'zone') return length <= 3
  return name === 'millisecond' || length <= 2
}

function literalOf(text: string): string {
  if (text === "''") return "'"
  return text.startsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : text
}

function sourceOf(piece: Piece): string {
  if (typeof piece === 'string') return piece.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)
  const { name, width, letter } = piece
  if (name === 'year') return String.raw`(\d{${Math.max(4, width)}})`
  if (name !== 'zone')
    return width === 1
      ? String.raw`(\d{1,3})`
      : String.raw`(\d{${Math.max(width, name === 'millisecond' ? 3 : 2)}})`
  if (letter === 'Z') return String.raw`([-+]\d{4})`
  return [String.raw`(Z|[-+]\d\d)`, String.raw`(Z|[-+]\d{4})`, String.raw`(Z|[-+]\d\d:\d\d)`][width - 1] ?? ''
}

function instantOf(match: RegExpExecArray | null, names: readonly FieldName[]): number | null {
  if (match === null) return null
  const texts = new Map(names.map((name, index) => [name, match[index + 1] ?? '']))
  const numberOf = (name: FieldName): number => Number(texts.get(name) ?? 0)
  const [year, month, day] = [numberOf('year'), numberOf('month'), numberOf('day')]
  const [hour, minute, second] = [numberOf('hour'), numberOf('minute'), numberOf('second')]
  const local = Date.UTC(year, month - 1, day, hour, minute, second, numberOf('millisecond'))
  const isDate = month >= 1 && month <= 12 && new Date(local).getUTCDate() === day
  const isTime = hour <= 23 && minute <= 59 && second <= 59
  return isDate && isTime ? local - offsetMsOf(texts.get('zone') ?? 'Z') : null
}

/** Returns the offset of a zone in milliseconds: `Z`, `+01`, `+0100` or `+01:00`. */
function offsetMsOf(zone: string): number {
  if (zone === 'Z') return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', ''))
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000
}

function formatPiece(piece: Piece, date: Date): string {
  if (typeof piece === 'string') return piece
  const { name, width, letter } = piece
  if (name === 'zone') return letter === 'Z' ? '+0000' : 'Z'
  return String(NUMBERS[name](date)).padStart(name === 'year' ? Math.max(4, width) : width, '0')
}

const NUMBERS: Readonly<Record<Exclude<FieldName, 'zone'>, (date: Date) => number>> = {
  year: (date) => date.getUTCFullYear(),
  month: (date) => date.getUTCMonth() + 1,
  day: (date) => date.getUTCDate(),
  hour: (date) => date.getUTCHours(),
  minute: (date) => date.getUTCMinutes(),
  second: (date) => date.getUTCSeconds(),
  millisecond: (date) => date.getUTCMilliseconds(),
}
