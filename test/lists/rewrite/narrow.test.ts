import t from 'tap'
import { appendTo, memberBytes, spliceElements, spliceMember } from '../../../src/lists/rewrite/narrow.ts'
import { seedsOf } from '../../support/requirements.ts'

const NAMES = ['a', 'b', 'orQueries', String.raw`\u0061\n`, '', 'é😀', String.raw`x\"},[`, '7']
const SCALARS = [
  '1.0',
  '-0',
  '12345678901234567890',
  '"text"',
  String.raw`"\"}],{[:\\"`,
  'null',
  'true',
  '""',
]
const SPACES = ['', '', ' ', '\n', '\t\r\n ']

/** Returns pseudo-random numbers that are equal in every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return (state >>> 8) % below
  }
}

/** Returns valid JSON of any kind and spacing. No object has the same name twice. */
function jsonOf(random: (below: number) => number, kind: 'any' | 'object' | 'array', depth = 0): string {
  const space = () => SPACES[random(SPACES.length)] ?? ''
  const list = (items: readonly string[]) => items.map((item) => space() + item + space()).join(',')
  const items = Array.from({ length: random(4) }, (_, at) => at)
  const choice = kind === 'any' ? random(depth > 3 ? 1 : 3) : kind === 'object' ? 1 : 2
  if (choice === 0) return SCALARS[random(SCALARS.length)] ?? ''
  const inner = () => jsonOf(random, 'any', depth + 1)
  if (choice === 2) return `[${space()}${list(items.map(inner))}]`
  const first = random(NAMES.length)
  const names = items.map((at) => NAMES[(first + at) % NAMES.length] ?? '')
  return `{${space()}${list(names.map((name) => `"${name}"${space()}:${space()}${inner()}`))}}`
}

const parse = (bytes: Buffer): Record<string, unknown> => JSON.parse(bytes.toString('utf8'))
const name = (random: (below: number) => number): string =>
  JSON.parse(`"${NAMES[random(NAMES.length)] ?? ''}"`)

t.test('a body is changed like its value, and unchanged parts keep their bytes', async (t) => {
  for (const seed of seedsOf(2000)) {
    const random = randomOf(seed)
    const mark = random(10) === 0 ? '\ufeff' : ''
    const text = `${SPACES[random(5)]}${jsonOf(random, 'object')}${SPACES[random(5)]}`
    const body = Buffer.from(mark + text)
    const value: Record<string, unknown> = JSON.parse(text)
    const member = name(random)
    const said = `seed ${seed}: ${member} in ${text}`
    const { [member]: old, ...others } = value
    t.same(parse(spliceMember(body, member, [1, 'x'])), { ...value, [member]: [1, 'x'] }, said)
    t.same(parse(spliceMember(body, member, undefined)), others, said)
    const list = old ?? []
    if (Array.isArray(list))
      t.same(parse(appendTo(body, member, { c: 1 })), { ...value, [member]: [...list, { c: 1 }] }, said)
    else t.throws(() => appendTo(body, member, { c: 1 }), { code: 'GW_INVALID_BODY' }, said)
    const own = memberBytes(body, member)
    t.same(own === null ? null : parse(own), old ?? null, said)
    const numbers = /12345678901234567890|1\.0|-0/g
    if (old === undefined)
      t.same(spliceMember(body, member, 'x').toString().match(numbers), text.match(numbers), said)
  }
})

t.test('each item of a list is changed separately', async (t) => {
  for (const seed of seedsOf(2000)) {
    const random = randomOf(seed)
    const array = jsonOf(random, 'array')
    const elements: readonly unknown[] = JSON.parse(array)
    const changed = elements.map(() => random(2) === 1)
    const change = (element: Buffer, at: number) => {
      t.same(parse(element), elements[at], array)
      return changed[at] ? Buffer.from('"changed"') : element
    }
    const expected = elements.map((element, at) => (changed[at] ? 'changed' : element))
    t.same(parse(spliceElements(Buffer.from(array), null, change)), expected, `seed ${seed}: ${array}`)
    const body = Buffer.from(`{"a":{"topics":[]}, "topics" :${array} ,"b":1.0}`)
    const spliced = spliceElements(body, 'topics', change)
    t.same(parse(spliced), { a: { topics: [] }, topics: expected, b: 1 }, `seed ${seed}: ${array}`)
    t.match(spliced.toString(), '"b":1.0')
  }
})

t.test('a missing member has no bytes and receives none', async (t) => {
  const body = Buffer.from('{"a":null}')
  t.equal(memberBytes(body, 'a'), null)
  t.equal(memberBytes(body, 'b'), null)
  t.equal(String(spliceMember(body, 'b', undefined)), '{"a":null}')
  t.equal(String(spliceElements(body, 'b', (element) => element)), '{"a":null}')
  t.equal(String(appendTo(null, 'a', 1)), '{"a": [1]}')
})

t.test('an item is appended to a list, or starts one', async (t) => {
  for (const [body, expected] of [
    ['{"a":1.0}', { a: 1, list: ['x'] }],
    ['{"list":null}', { list: ['x'] }],
    ['{"list":["b"]}', { list: ['b', 'x'] }],
    [null, { list: ['x'] }],
  ] as const)
    t.same(JSON.parse(appendTo(body === null ? null : Buffer.from(body), 'list', 'x').toString()), expected)
})

t.test(
  "a member that is not a list is refused, because replacing it would hide the engine's error",
  async (t) => {
    for (const list of ['"x"', '5', '{}', 'true'])
      t.throws(() => appendTo(Buffer.from(`{"list":${list}}`), 'list', 'x'), {
        code: 'GW_INVALID_BODY',
        statusCode: 400,
        message: 'The request body does not match the operation: $.list: is not a list',
      })
  },
)
