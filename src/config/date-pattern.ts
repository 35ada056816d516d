/** The date format of an engine without a configured format. */
export const DEFAULT_DATE_PATTERN = "yyyy-MM-dd'T'HH:mm:ss.SSSZ"

/** All letters that `SimpleDateFormat` knows. It refuses a pattern with any other letter. */
const JAVA_LETTERS = /^[GyYMLwWDdFEuaHkKhmsSzZX]+$/

/** A quote, a quoted text, a run of one letter, or one other character. */
export const DATE_PATTERN_PIECE = /''|'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']/gs

/** Returns the mistake in a pattern of Java's `SimpleDateFormat`, or null if the pattern is valid. */
export function findPatternMistake(pattern: string): string | null {
  if (pattern.trim() === '') return 'must not be empty'
  const pieces = pattern.match(DATE_PATTERN_PIECE) ?? []
  if (pieces.join('') !== pattern) return 'has a single quote without a closing single quote'
  const letters = pieces.filter((piece) => /^[A-Za-z]/.test(piece)).map((piece) => piece[0])
  const unknown = letters.find((letter) => letter === undefined || !JAVA_LETTERS.test(letter))
  return unknown === undefined ? null : `has the letter ${unknown}, which is not in Java's SimpleDateFormat`
}

/** Returns the probable mistake in a valid pattern, or null: Java reads `YYYY-MM-DD` as the year of the week, and the day of the year. */
export function findPatternDoubt(pattern: string): string | null {
  const pieces = (pattern.match(DATE_PATTERN_PIECE) ?? []).filter((piece) => /^[A-Za-z]/.test(piece))
  const has = (letter: string): boolean => pieces.some((piece) => piece.startsWith(letter))
  const doubts = [
    ...(has('Y') && !has('w')
      ? ['Y is the year of the week, and differs from the year around New Year: y is the year']
      : []),
    ...(has('D') && has('M') ? ['D is the day of the year: d is the day of the month'] : []),
  ]
  return doubts.length === 0 ? null : doubts.join('. ')
}
