import type { Random } from '../differential/random.ts'

/** An expression of a task query, and whether it is one of the known ones. This is known from how it was made, not by reading it. */
export interface MadeExpression {
  readonly text: string
  readonly value: 'date' | 'caller id' | 'caller groups' | 'unknown'
}

const AMOUNTS = ['Years', 'Months', 'Weeks', 'Days', 'Hours', 'Minutes', 'Seconds', 'Millis']
const FIELDS = ['dayOfWeek', 'dayOfMonth', 'dayOfYear', 'weekOfWeekyear', 'monthOfYear', 'hourOfDay']
const SETTERS = ['withYear', 'withMonthOfYear', 'withDayOfMonth', 'withDayOfWeek', 'withHourOfDay']

/** Code that an engine would run, and pieces with which it could be hidden in a known expression. */
const FOREIGN = [
  `.getClass()`,
  `.forName('java.lang.Runtime')`,
  '.class',
  `['class']`,
  '.getChronology()',
  '.toString()',
  '.toDate().getClass()',
  '.toInstant()',
  '.plus(1)',
  '.getZone()',
  '.hashCode()',
  '.property(null)',
  'execution',
  'processEngine',
  'T(java.lang.Runtime)',
  '"".getClass()',
  'a.b()',
  'true ? now() : 1',
  '}${now()',
  '${',
  '}',
  '#{',
  '{',
  '(',
  ')',
  '()',
  '(1)',
  '(-1)',
  '(now())',
  '.',
  '..',
  ',',
  ';',
  '\\',
  "'",
  '"',
  ' ',
  '  ',
  '\t',
  '\n',
  '\u00a0',
  '\u2003',
  '\0',
  '\ufeff',
  '_',
  '$',
  '#',
  '+',
  '-',
  '==',
  '&&',
  '!',
  '\\u0041',
  '1',
  '0',
  '9999999999',
  '1e3',
  '0x1',
  '1.5',
  '٣',
  'x',
  'X',
  'ｎｏｗ',
  'not',
  'empty',
  '/* */',
  '//',
]

/** Makes an expression. About a third of them are known. */
export function makeExpression(random: Random): MadeExpression {
  const known = makeKnown(random)
  if (random.chance(0.35)) return known
  return { text: damage(random, known.text), value: 'unknown' }
}

function makeKnown(random: Random): MadeExpression {
  const [open, close] = [random.pick(['${', '#{']) + blanks(random), `${blanks(random)}}`]
  const value = random.pick(['date', 'date', 'date', 'date', 'caller id', 'caller groups'] as const)
  if (value === 'caller id') return { text: `${open}currentUser()${close}`, value }
  if (value === 'caller groups') return { text: `${open}currentUserGroups()${close}`, value }
  if (random.chance(0.2)) return { text: `${open}now()${close}`, value }
  let chain = 'dateTime()'
  for (let left = random.below(5); left > 0; left -= 1) chain += makeCall(random)
  return { text: `${open}${chain}${random.chance(0.1) ? '.toDate()' : ''}${close}`, value }
}

function makeCall(random: Random): string {
  const kind = random.below(5)
  if (kind < 2) return `.${random.pick(['plus', 'minus'])}${random.pick(AMOUNTS)}(${random.below(1_000)})`
  if (kind === 2)
    return `.${random.pick(FIELDS)}().${random.pick(['withMinimumValue', 'withMaximumValue', 'roundFloorCopy', 'roundCeilingCopy'])}()`
  if (kind === 3) return `.${random.pick(SETTERS)}(${1 + random.below(7)})`
  return random.pick(['.withTimeAtStartOfDay()', '.withTime(12, 30,0,0)'])
}

function blanks(random: Random): string {
  return ' '.repeat(random.pick([0, 0, 0, 1, 3]))
}

/** Changes an expression in one place, so that it is no known one. */
function damage(random: Random, text: string): string {
  const at = random.below(text.length + 1)
  const end = random.chance(0.5) ? at : Math.min(text.length, at + 1 + random.below(12))
  const damaged = text.slice(0, at) + random.pick(FOREIGN) + text.slice(end)
  return isHarmless(damaged) ? `${damaged}x` : damaged
}

const NAMES = [...AMOUNTS.flatMap((unit) => [`plus${unit}`, `minus${unit}`]), ...FIELDS, ...SETTERS].join('|')

/** A change may leave a known expression: another number, or another space. Written apart from the reader that is tested. */
const HARMLESS = new RegExp(
  `^[$#]\\{ *(?:currentUser\\(\\)|currentUserGroups\\(\\)|now\\(\\)|dateTime\\(\\)(?:\\.(?:${NAMES}|[a-zA-Z]+)\\([0-9, ]*\\))*) *\\}$`,
)

function isHarmless(text: string): boolean {
  return HARMLESS.test(text)
}
