import t from 'tap'
import type { MemberPlace } from '../../../src/operations/published/family-members.ts'
import { CAMUNDA_PLACES } from '../../../src/operations/published/family-members.ts'
import { MemberRenamer } from '../../../src/proxy/wire/member-renamer.ts'
import { isRecord } from '../../../src/request/value.ts'
import { Random } from '../../differential/random.ts'
import { seedsOf } from '../../support/requirements.ts'

const TASKS = placesOf('executeFilterSingleResult')

t.test('a member is renamed at its place, and the document keeps its length', async (t) => {
  const cases: readonly (readonly [operation: string, before: string, after: string])[] = [
    ['getTask', '{"operatonFormRef":null}', '{"camundaFormRef" :null}'],
    ['getTask', '{"id":"a","operatonFormRef":{"key":"f"}}', '{"id":"a","camundaFormRef" :{"key":"f"}}'],
    ['getTask', '{"orqueioFormRef":null}', '{"camundaFormRef":null}'],
    ['getTask', '{"\\u006fperatonFormRef":null}', '{"camundaFormRef"      :null}'],
    [
      'getTasks',
      '[{"operatonFormRef" : {}}, {"operatonFormRef":{}}]',
      '[{"camundaFormRef"  : {}}, {"camundaFormRef" :{}}]',
    ],
    [
      'getTasks',
      '{"_embedded":{"task":[{"operatonFormRef":{}}]},"embedded":{"task":[{"operatonFormRef":{}}]}}',
      '{"_embedded":{"task":[{"camundaFormRef" :{}}]},"embedded":{"task":[{"camundaFormRef" :{}}]}}',
    ],
    [
      'getTelemetryData',
      '{"product":{"internals":{"jdk":{"vendor":"x"},"operaton-integration":["spring-boot"]}}}',
      '{"product":{"internals":{"jdk":{"vendor":"x"},"camunda-integration" :["spring-boot"]}}}',
    ],
    [
      'getTelemetryData',
      '{"product":{"internals":{"eximeebpms-integration":[]}}}',
      '{"product":{"internals":{"camunda-integration"   :[]}}}',
    ],
  ]
  for (const [operation, before, after] of cases) {
    t.equal(renamed(placesOf(operation), [Buffer.from(before)]), after)
    t.equal(Buffer.byteLength(before), Buffer.byteLength(after))
  }
})

t.test('the same text at any other place is not changed', async (t) => {
  const unchanged: readonly (readonly [operation: string, document: string])[] = [
    ['getTask', '{"name":"operatonFormRef"}'],
    ['getTask', '{"description":"{\\"operatonFormRef\\":null}"}'],
    ['getTask', '{"description":"\\\\","name":"\\",\\"operatonFormRef\\":"}'],
    ['getTask', '{"variables":{"operatonFormRef":{"value":{"operatonFormRef":1}}}}'],
    ['getTask', '{"a":[{"operatonFormRef":1}],"b":{"c":{"operatonFormRef":1}}}'],
    ['getTask', '[{"operatonFormRef":1}]'],
    ['getTask', '{"OperatonFormRef":1,"operatonFormRef2":1,"operatonFormRe":1}'],
    ['getTask', '{"camundaFormRef":1,"fluxnovaFormRef":1}'],
    ['getTasks', '{"operatonFormRef":1}'],
    ['getTasks', '[[{"operatonFormRef":1}],{"_embedded":{"task":[{"operatonFormRef":1}]}}]'],
    ['getTasks', '["operatonFormRef",{"a":"operatonFormRef"}]'],
    ['getTasks', '{"_embedded":{"variable":[{"operatonFormRef":1}],"task":{"operatonFormRef":1}}}'],
    ['getTelemetryData', '{"operaton-integration":1,"product":{"operaton-integration":1}}'],
    ['getTask', '{"a":1}{"operatonFormRef":1}'],
    ['getTask', '"operatonFormRef"'],
  ]
  for (const [operation, document] of unchanged)
    t.equal(renamed(placesOf(operation), [Buffer.from(document)]), document)
})

t.test('a generated document has the names of a renamed copy, however it is split into chunks', async (t) => {
  let count = 0
  for (const seed of seedsOf(600)) {
    const random = Random.of(7, seed)
    const { text, expected } = writeValue(random, TASKS, 0)
    count += Number(text !== expected)
    t.same(
      JSON.parse(expected),
      copyOf(JSON.parse(text), TASKS),
      'the generator agrees with the parsed document',
    )
    const bytes = Buffer.from(text)
    const splits = bytes.length > 400 ? [random.below(bytes.length)] : bytes.keys()
    const isSame = [...splits].every(
      (at) => renamed(TASKS, [bytes.subarray(0, at), bytes.subarray(at)]) === expected,
    )
    t.ok(isSame, `seed ${seed}, split at each byte`)
    t.equal(
      renamed(
        TASKS,
        [...bytes].map((byte) => [byte]),
      ),
      expected,
      `seed ${seed}, in chunks of one byte`,
    )
  }
  t.ok(count > 100, `${count} documents have a member to rename`)
})

t.test('a damaged document keeps its length, and nothing is thrown', async (t) => {
  for (const seed of seedsOf(300)) {
    const random = Random.of(11, seed)
    const bytes = Buffer.from(writeValue(random, TASKS, 0).text)
    for (let times = 0; times < 3; times += 1)
      bytes[random.below(bytes.length)] = random.pick([...Buffer.from('"\\{}[],:x')])
    const damaged = bytes.subarray(0, random.below(bytes.length + 1))
    const at = random.below(damaged.length + 1)
    t.equal(renamedBytes(TASKS, [damaged.subarray(0, at), damaged.subarray(at)]).length, damaged.length)
  }
})

t.test('at most the bytes of one name are kept between two chunks', async (t) => {
  const renamer = new MemberRenamer(TASKS)
  let received = 0
  for (const chunk of ['{"', 'a'.repeat(100), 'a'.repeat(100), 'a'.repeat(100), 'a'.repeat(1000)]) {
    received += chunk.length - renamer.rename(Buffer.from(chunk)).length
    t.ok(received <= 250, `${received} bytes are kept`)
  }
  t.equal(received, 0, 'a name that is too long to be renamed is passed on')
  const rest = renamer.rename(Buffer.from('":"operatonFormRef","operatonFormRef":1}')).toString()
  t.equal(rest, '":"operatonFormRef","camundaFormRef" :1}')
})

t.test('the kept bytes are a copy, because a chunk may be a part of a much larger buffer', async (t) => {
  const renamer = new MemberRenamer(TASKS)
  const chunk = Buffer.from('{"operaton')
  t.equal(renamer.rename(chunk).toString(), '{')
  chunk.fill(0)
  t.equal(renamer.rename(Buffer.from('FormRef":1}')).toString(), '"camundaFormRef" :1}')
})

t.test('a name with more bytes than any written form of a known name is not renamed', async (t) => {
  const escaped = Array.from('operatonFormRef', escape).join('')
  t.equal(
    renamed(TASKS, [Buffer.from(`{"${escaped}":1}`)]),
    `{${'"camundaFormRef"'.padEnd(escaped.length + 2)}:1}`,
  )
  const long = `{"${'b'.repeat(300)}":{"operatonFormRef":1},"operatonFormRef":1}`
  t.equal(renamed(TASKS, [Buffer.from(long)]), long.replace(/"operatonFormRef"(?=:1}$)/, '"camundaFormRef" '))
})

function placesOf(operation: string): MemberPlace {
  const place = CAMUNDA_PLACES.get(operation)
  if (place === undefined) throw new Error(`${operation} has no places`)
  return place
}

function renamed(root: MemberPlace, chunks: readonly Chunk[]): string {
  return renamedBytes(root, chunks).toString()
}

function renamedBytes(root: MemberPlace, chunks: readonly Chunk[]): Buffer {
  const renamer = new MemberRenamer(root)
  // A copy, because the renamer changes the bytes of a chunk.
  const passed = chunks.map((chunk) => renamer.rename(Buffer.from(chunk)))
  return Buffer.concat([...passed, renamer.end()])
}

/** Returns a copy of a parsed document with the new names. */
function copyOf(value: unknown, place: MemberPlace | null): unknown {
  if (Array.isArray(value)) return value.map((item) => copyOf(item, place?.items ?? null))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      place?.names.get(name) ?? name,
      copyOf(member, place?.members.get(name) ?? null),
    ]),
  )
}

type Chunk = Buffer | readonly number[]

interface Written {
  readonly text: string
  readonly expected: string
}

const NAMES = ['operatonFormRef', 'id', '_embedded', 'task', 'embedded', 'variables', 'a"b', 'é{', '', 'x\\']
const STRINGS = ['operatonFormRef', '"operatonFormRef":', '\\', '"', '[{', '}],', '🙂', 'a'.repeat(70), '']
const NUMBERS = ['0', '-1.50', '12345678901234567890123', '1E400', 'true', 'null']

/** Writes a random document, and the same with the new names. Both have the same spaces and escapes. */
function writeValue(random: Random, place: MemberPlace | null, depth: number): Written {
  const kind =
    depth > 3 ? 'scalar' : random.pick(['object', 'object', 'array', depth === 0 ? 'object' : 'scalar'])
  if (kind === 'scalar')
    return same(random.chance(0.5) ? random.pick(NUMBERS) : stringOf(random, random.pick(STRINGS)))
  const space = random.pick(['', '', ' ', '\n\t'])
  const parts =
    kind === 'array'
      ? Array.from({ length: random.below(4) }, () => writeValue(random, place?.items ?? null, depth + 1))
      : random.sample(NAMES, 3).map((name) => writeMember(random, place, { name, depth }))
  const [open, close] = kind === 'array' ? ['[', ']'] : ['{', '}']
  const join = (texts: readonly string[]) =>
    `${open}${space}${texts.join(`${space},${space}`)}${space}${close}`
  return { text: join(parts.map(({ text }) => text)), expected: join(parts.map(({ expected }) => expected)) }
}

function writeMember(
  random: Random,
  place: MemberPlace | null,
  { name, depth }: { readonly name: string; readonly depth: number },
): Written {
  const written = stringOf(random, name)
  const newName = place?.names.get(name)
  const expectedName = newName === undefined ? written : `"${newName}"`.padEnd(written.length)
  const value = writeValue(random, place?.members.get(name) ?? null, depth + 1)
  const colon = random.pick([':', ' :', ': '])
  return { text: written + colon + value.text, expected: expectedName + colon + value.expected }
}

function same(text: string): Written {
  return { text, expected: text }
}

/** Returns a JSON string in which some characters are written as escapes. */
function stringOf(random: Random, value: string): string {
  const isEscaped = random.chance(0.2)
  const chars = Array.from(value, (char) => {
    if (isEscaped && random.chance(0.5)) return escape(char)
    return char === '"' || char === '\\' ? `\\${char}` : char
  })
  return `"${chars.join('')}"`
}

function escape(char: string): string {
  const units = char.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
  return units.map((unit) => `\\u${unit}`).join('')
}
