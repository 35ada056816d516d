/** What of a list is asked for. */
export interface Paging {
  readonly first: number
  readonly max: number
}

/** The query parameters that page a list. */
export const PAGING = ['firstResult', 'maxResults'] as const

export function isPaging(name: string): boolean {
  return PAGING.some((one) => one === name)
}

/**
 * The engine finds nothing where one of the numbers is -1. Null: it has its own words: for what is no number, and for any
 * other negative one, which it passes on to its database.
 */
export function pagingOf(query: ReadonlyMap<string, string>): Paging | null {
  const [first, max] = [integerOf(query.get('firstResult')), integerOf(query.get('maxResults'))]
  if (Number.isNaN(first) || Number.isNaN(max)) return null
  if (first === -1 || max === -1) return { first: 0, max: 0 }
  const paging = { first: first ?? 0, max: max ?? Number.MAX_SAFE_INTEGER }
  return paging.first < 0 || paging.max < 0 ? null : paging
}

const JAVA_INTEGER = { min: -2_147_483_648, max: 2_147_483_647 }

/** A parameter that the engine's framework reads with Java's `Integer.valueOf`: no blanks, a sign, digits of any script of two bytes. Null: none, as an empty text; NaN: no number. */
export function integerOf(text = ''): number | null {
  if (text === '') return null
  const digits = text.replace(/\p{Nd}/gu, (digit) => (digit.length > 1 ? digit : String(valueOf(digit))))
  const value = /^[+-]?\d+$/.test(digits) ? Number(digits) : Number.NaN
  return value >= JAVA_INTEGER.min && value <= JAVA_INTEGER.max ? value : Number.NaN
}

/** Every script has its ten digits in a row. */
function valueOf(digit: string): number {
  const code = digit.charCodeAt(0)
  let value = 0
  while (/\p{Nd}/u.test(String.fromCharCode(code - value - 1))) value += 1
  return value
}
