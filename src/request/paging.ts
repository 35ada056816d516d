/** The requested page of a list. */
export interface Paging {
  readonly first: number
  readonly max: number
}

/** Query parameters for paging. */
export const PAGING = ['firstResult', 'maxResults'] as const

export function isPaging(name: string): boolean {
  return PAGING.some((one) => one === name)
}

/**
 * Returns the page that a query requests. The engine finds nothing if one of the numbers is -1. Null if the engine has its own
 * error: for a text that is not a number, and for any other negative number, which it passes to its database.
 */
export function pagingOf(query: ReadonlyMap<string, string>): Paging | null {
  const [first, max] = [integerOf(query.get('firstResult')), integerOf(query.get('maxResults'))]
  if (Number.isNaN(first) || Number.isNaN(max)) return null
  if (first === -1 || max === -1) return { first: 0, max: 0 }
  const paging = { first: first ?? 0, max: max ?? Number.MAX_SAFE_INTEGER }
  return paging.first < 0 || paging.max < 0 ? null : paging
}

/** The numbers of a Java `Integer`. */
export const JAVA_INTEGER = { min: -2_147_483_648, max: 2_147_483_647 }

/**
 * Returns a parameter that the engine's framework reads with Java's `Integer.valueOf`: no spaces, an optional sign, digits of any
 * script in the Basic Multilingual Plane. Null for an empty text, NaN if it is not a number.
 */
export function integerOf(text = ''): number | null {
  if (text === '') return null
  const digits = text.replace(/\p{Nd}/gu, (digit) => (digit.length > 1 ? digit : String(valueOf(digit))))
  const value = /^[+-]?\d+$/.test(digits) ? Number(digits) : Number.NaN
  return value >= JAVA_INTEGER.min && value <= JAVA_INTEGER.max ? value : Number.NaN
}

/** Returns the value of a digit. Every script has its ten digits in a row. */
function valueOf(digit: string): number {
  const code = digit.charCodeAt(0)
  let value = 0
  while (/\p{Nd}/u.test(String.fromCharCode(code - value - 1))) value += 1
  return value
}
