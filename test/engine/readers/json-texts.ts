import type { Random } from '../../differential/random.ts'
import { words } from './texts.ts'

/** Spellings of numbers that are valid in JSON. `NO_NUMBERS` has invalid ones. */
const NUMBERS = words(`
    0 1 2 7 -1 -0 0.0 -0.0 1.0 1.50 1.5 -1.5 5e0 1e3 1E3 1e+3 1e-3 12e-1 0e9 2147483647
    2147483648 -2147483648 -2147483649 2147483647.9 9007199254740993 12345678901234567890
    9223372036854775807 9223372036854775808 123456789012345678901234567890 0.1000000000000000055
    1e400 1e-400 1e19 1234567890.12345678901234567890 100000000000000000000000
    1.7976931348623157e308 4.9e-324 1e21 0.0000001 1.0E+2
  `)
const NO_NUMBERS = [...words('01 +1 .5 1. 0x10 NaN Infinity -Infinity 1_000 1f --1 1e 00 1,0 ١ - 1L'), '- 1']
const LITERALS = ['true', 'false', 'null']
const NO_LITERALS = [...words(`True TRUE nul undefined truefalse 'a' a null1`), '']
const PIECES = [
  ...words(String.raw`
    a b , x 0 5 true null - . : { [ ' / // /* % + & = _ * \" \\ \/ \b \f \n \r \t \u0000 \u0041
    \u00e4 \uD83D\uDE00 \u0020 \u2028 \ufeff \u007f \u001f ä € 😀 İ ß é
  `),
  ' ',
  '\u2028',
  '\ufeff',
  '\u007f',
  '\u00a0',
  '\u0085',
  '\ufffd',
  '\ufdd0',
]
const LONE = ['\\ud800', '\\udc00', '\\uDFFF\\uD800', '\\ud83d', '\\uD800a']
const NO_PIECES = [
  ...words(String.raw`\x41 \u12 \uD83 \0 \' \a \U0041 "`),
  '\\',
  '\u0001',
  '\t',
  '\n',
  '\u0000',
  '\u001f',
]
const BLANKS = ['', '', '', '', '', ' ', '\n', '\t', '\r\n', '  ', '\r']
const NO_BLANKS = [
  ...words('/**/ , ;'),
  '\u00a0',
  '\f',
  '\v',
  '\ufeff',
  '\u2028',
  '//\n',
  '#\n',
  '\u0000',
  '\u0085',
  '\u3000',
  '\u001c',
]

/** Probability of a spelling that is not JSON. */
const RARELY = 0.02

export function stringToken(random: Random, pieces: readonly string[] = PIECES): string {
  let text = ''
  for (let left = random.pick([0, 1, 1, 2, 3, 6]); left > 0; left -= 1)
    text += random.chance(RARELY) ? random.pick(random.chance(0.5) ? NO_PIECES : LONE) : random.pick(pieces)
  return `"${text}"`
}

export function numberToken(random: Random): string {
  return random.pick(random.chance(RARELY) ? NO_NUMBERS : NUMBERS)
}

/** Returns a value of any type in one of its spellings. */
export function valueToken(random: Random, depth = 2): string {
  const kind = random.below(depth > 0 ? 12 : 9)
  if (kind < 4) return stringToken(random)
  if (kind < 7) return numberToken(random)
  if (kind < 9) return random.pick(random.chance(RARELY * 2) ? NO_LITERALS : LITERALS)
  if (kind === 9) return objectToken(random, [[stringToken(random), valueToken(random, depth - 1)]])
  const items = Array.from({ length: random.below(4) }, () => valueToken(random, depth - 1))
  return arrayToken(random, items)
}

export function arrayToken(random: Random, items: readonly string[]): string {
  const last = random.chance(RARELY) ? ',' : ''
  return `[${items.map((item) => blank(random) + item + blank(random)).join(',')}${last}${blank(random)}]`
}

export function objectToken(
  random: Random,
  members: readonly (readonly [name: string, value: string])[],
): string {
  const all = random.sample(members, members.length)
  if (random.chance(RARELY) && all.length > 0) all.push(random.pick(members))
  const written = all.map(
    ([name, value]) =>
      `${blank(random)}${spelt(random, name)}${blank(random)}:${blank(random)}${value}${blank(random)}`,
  )
  const last = random.chance(RARELY / 2) ? ',' : ''
  return `{${written.join(',')}${last}${blank(random)}}`
}

/** Returns the name of a member, in which one letter may be escaped or replaced. */
function spelt(random: Random, name: string): string {
  if (name.length < 4 || random.chance(0.85)) return name
  const at = 1 + random.below(name.length - 2)
  const code = name.charCodeAt(at)
  if (name[at] === '\\' || name[at - 1] === '\\' || !/^"\w+"$/.test(name)) return name
  const hex = code.toString(16).padStart(4, '0')
  const other = random.pick([
    `\\u${hex}`,
    `\\u${hex.toUpperCase()}`,
    `\\u${hex}`,
    (name[at] ?? '').toUpperCase(),
    `${name[at]} `,
    `\\u0000${name[at]}`,
    `\ufeff${name[at]}`,
  ])
  return name.slice(0, at) + other + name.slice(at + 1)
}

/** Returns the bytes of a document with text that may precede or follow it, and occasionally with an invalid byte. */
export function documentBytes(random: Random, text: string): Buffer {
  const before = random.chance(0.05) ? '\ufeff' : random.pick(BLANKS)
  const after = random.chance(0.03)
    ? random.pick([...words('{} , ] } "'), ' x', '\u0000', ' null', ' 1', '\ufeff', ' //', '\n\n', '\u001a'])
    : random.pick(BLANKS)
  const bytes = Buffer.from(before + text + after)
  if (!random.chance(0.02)) return bytes
  const at = random.below(bytes.length)
  const odd = random.pick([
    [0xff],
    [0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0xc3],
    [0xf4, 0x90, 0x80, 0x80],
    [0x80],
    [0x00],
    [0xef, 0xbb, 0xbf],
    [0xe0, 0x80, 0xaf],
    [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],
  ])
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(odd), bytes.subarray(at + random.below(2))])
}

function blank(random: Random): string {
  return random.pick(random.chance(RARELY / 10) ? NO_BLANKS : BLANKS)
}
