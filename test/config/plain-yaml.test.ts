import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import { parsePlainYaml } from '../../src/config/plain-yaml.ts'
import { readAnyYaml, readYaml } from '../../src/config/yaml.ts'
import { Random } from '../differential/random.ts'
import { seedsOf } from '../support/requirements.ts'

const RECORDS = [
  { type: 1, permissions: ['READ', 'UPDATE'], userId: 'mary', resourceType: 7, resourceId: '*' },
  { type: 0, permissions: [], groupId: null, resourceType: 8, resourceId: '9b1d-a', isUsed: true },
  { type: 2, permissions: ['ALL'], groupId: 'Ärzte Nord', resourceType: 6, resourceId: 'invoice:1:17' },
]
const USERS = [
  { id: 'mary', passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$aGFzaC+x/y', groups: ['clerks'] },
  { id: '12-34', passwordHash: '$2b$10$d/gyW6JQo2kkmkWcvar66.JXI0epwefiOKAsBT2lKepdZugPsKBOy', groups: [] },
]

/** Fails if this parser reads a text that the library refuses, or reads another value than the library. */
function agrees(t: Test, text: string): boolean {
  const plain = parsePlainYaml(text)
  if (plain === null) return false
  t.same(readAnyYaml(text), { value: plain.value, problems: null }, JSON.stringify(text))
  t.strictSame(plain.value, Reflect.get(readAnyYaml(text), 'value'), JSON.stringify(text))
  return true
}

t.test('the usual forms of lists of users and records are parsed without the library', async (t) => {
  const texts = [
    stringify({ authorizations: RECORDS }),
    stringify({ authorizations: RECORDS }, { indentSeq: false }),
    stringify({ users: USERS }, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' }),
    stringify({ users: USERS }, { singleQuote: true }),
    stringify(RECORDS),
    JSON.stringify({ authorizations: RECORDS }),
    `${JSON.stringify({ users: USERS }, null, 2)}\n`,
    `---\n# all records\nauthorizations:\n${RECORDS.map((record) => `  - ${stringify(record, { collectionStyle: 'flow', lineWidth: 0 })}`).join('')}`,
    await readFile(new URL('../../config/authorizations.yaml', import.meta.url), 'utf8'),
    await readFile(new URL('../../config/users.yaml', import.meta.url), 'utf8'),
  ]
  for (const text of texts) t.ok(agrees(t, text), text)
})

t.test('a scalar that is too long for this parser is left to the library', (t) => {
  t.equal(parsePlainYaml(`- a: ${'x'.repeat(40_000_000)}\n`), null)
  t.end()
})

t.test('the library parses everything else, and reports its problems', async (t) => {
  const values = [
    [
      '&a x',
      '*a',
      '!!str 1',
      '|',
      '>-',
      '"a\\eb"',
      '"a\\"',
      '"\\u12g4"',
      "'it''s'",
      '"two',
      '[a,',
      '[a, b,]',
    ],
    ['{ a: b }', '[[a]]', '1e3', '0o7', '0x1f', '007', '1.5', '-1', '+1', '.5', '.inf'],
    ['~', '12345678901234567890', '0b1', 'a: b', '@a', '`a', '%a', '?', '-', '- a'],
    ['a\tb', 'a # b\n    c', 'a\n    b', 'a #b\r', '\u2028'],
  ].flat()
  for (const value of values)
    t.equal(parsePlainYaml(`users:\n  - id: ${value}\n    groups: [a]\n`), null, value)
  for (const text of [
    '',
    'users: []\n',
    'users:\n',
    'a: 1\n',
    '- a\n',
    'users:\n  - id: a\n    id: b\n',
    '\uFEFFa:\n- b: c\n',
  ])
    t.equal(parsePlainYaml(text), null, text)
  t.match(readYaml('users:\n  - id: a\n    id: b\n'), {
    problems: [/^line 3, column 5: Map keys must be unique$/],
  })
})

t.test(
  'texts that look like numbers, and words of other YAML versions, have the values of the YAML library',
  async (t) => {
    const scalars = [
      ['yes', 'no', 'on', 'off', 'y', 'True', 'NULL', 'nULL', 'Infinity', 'NaN', 'null'],
      ['false', 'FALSE', '0', '7', '10', '1_000', '12:30', '2001-01-01', '1.2.3', '0o9'],
      ['12ab', '1e', '9007199254740993', 'a:1:b', 'a,b', 'x=y', 'a%b', 'a*', 'a - b'],
      ['a  b', '$a', '/x', '_a', 'é', '"null"', "'1'", '""', "''", '"\\\\x41"', '"\\x41\\xfC"'],
      ['"\\u0041\\uD83D\\ude00"', '"\\ud83d"', '"\\"\\\\\\/"', '"\\b\\f\\n\\r\\t"', '"\\\\n"', '"\\u0000"'],
    ].flat()
    let read = 0
    for (const scalar of scalars) {
      if (agrees(t, `users:\n  - id: ${scalar}\n`)) read += 1
      agrees(
        t,
        `users:\n  - id: ${scalar} # yes\n    groups: [${scalar}, "${scalar}"]\n  - groups:\n      - ${scalar}\n`,
      )
      agrees(t, `- { id: ${scalar}, a: b }\n- ${scalar}: a\n`)
    }
    t.ok(read > scalars.length * 0.8, `${read} of ${scalars.length}`)
  },
)

const PIECES = [
  ['- ', '-', '  ', ' ', '\n', '\n', ': ', ':', 'a: ', 'users:\n', '# c', ' #', '#'],
  [',', ', ', '[', ']', '{', '}', '"', "'", '&a ', '*a', '!', '|', '>', '%', '---\n'],
  ['...\n', '\\', '\\"', '\\x4', '\\u00e4', '\t', '\r\n', '?', '~', '1e3', '0o7', 'yes'],
].flat()

t.test('generated texts have the same value in both', async (t) => {
  let read = 0
  const count = 6_000
  for (const part of seedsOf(count)) {
    const random = Random.of(30, part)
    if (agrees(t, changed(random, generated(random)))) read += 1
  }
  t.ok(read > count / 10 && read < count * 0.9, `${read} of ${count}`)
})

/** Returns a list of a few items in one of the usual forms. */
function generated(random: Random): string {
  const list = random.sample<unknown>([...RECORDS, ...USERS, { id: random.pick(PIECES) }], 3)
  const collectionStyle = random.pick(['flow', 'block', 'any'] as const)
  const options = {
    collectionStyle,
    lineWidth: 0,
    indentSeq: random.chance(0.5),
    flowCollectionPadding: random.chance(0.5),
  }
  if (random.chance(0.3)) return JSON.stringify({ users: list }, null, random.below(3))
  if (random.chance(0.5)) return stringify(list, options)
  if (random.chance(0.5)) return stringify({ users: list }, { ...options, singleQuote: random.chance(0.5) })
  return `users:\n${list.map((item) => `  - ${stringify(item, { ...options, collectionStyle: 'flow' })}`).join('')}`
}

/** Inserts, removes and repeats a few pieces of a text. */
function changed(random: Random, text: string): string {
  let result = text
  for (let left = random.below(4); left > 0; left -= 1) {
    const at = random.below(result.length + 1)
    const removed = random.chance(0.5) ? random.below(4) : 0
    const inserted = random.chance(0.7) ? random.pick(PIECES) : ''
    result = result.slice(0, at) + inserted + result.slice(at + removed)
  }
  return random.chance(0.1) ? withoutLine(random, result) : result
}

function withoutLine(random: Random, text: string): string {
  const lines = text.split('\n')
  lines.splice(random.below(lines.length), 1)
  return lines.join('\n')
}
