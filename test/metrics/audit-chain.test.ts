import t from 'tap'
import {
  type ChainedLine,
  ChainVerifier,
  createChain,
  digestNumberOf,
  lastLinesIn,
} from '../../src/metrics/audit-chain.ts'

/** Returns five sealed lines of one writer. */
function linesOf(writer: string): string[] {
  const { seal } = createChain({ writer })
  return ['a', 'b', 'c', 'd', 'e'].map((user) => seal(JSON.stringify({ stream: 'audit', user })))
}

function resultsOf(lines: readonly string[]): readonly string[] {
  const verifier = new ChainVerifier()
  return lines.map((line) => verifier.check(line).result)
}

const WRITER = '0123456789ab'
const INTACT = Array.from({ length: 5 }, () => 'intact')

t.test('the lines of several writers are intact, in any mixture', (t) => {
  const [one, two] = [linesOf(WRITER), linesOf('ba9876543210')]
  t.same(resultsOf(one), INTACT)
  t.same(resultsOf(one.flatMap((line, at) => [line, two[at] ?? ''])), [...INTACT, ...INTACT])
  for (const line of one) t.match(JSON.parse(line), { stream: 'audit', writer: WRITER })
  t.same(
    one.map((line) => JSON.parse(line).sequence),
    [1, 2, 3, 4, 5],
  )
  t.end()
})

t.test('two writers have different ids', (t) => {
  const [one, two] = [createChain(), createChain()].map(({ seal }) => JSON.parse(seal('{"a":1}')).writer)
  t.not(one, two)
  t.match(one, /^[\da-f]{12}$/)
  t.end()
})

t.test('each removed, changed, inserted, repeated or moved line is noticed', (t) => {
  const lines = linesOf(WRITER)
  for (let at = 0; at < lines.length - 1; at += 1) {
    const removed = resultsOf(lines.toSpliced(at, 1))
    t.same(removed[at], at === 0 ? 'earlier lines absent' : 'lines missing', `line ${at + 1} removed`)
    const changed = resultsOf(lines.with(at, (lines[at] ?? '').replace('"user":"', '"user":"x')))
    t.same(changed[at], 'changed', `line ${at + 1} changed`)
    t.same(resultsOf(lines.toSpliced(at + 1, 0, lines[at] ?? ''))[at + 1], 'changed', 'repeated')
    const moved = lines.with(at, lines[at + 1] ?? '').with(at + 1, lines[at] ?? '')
    t.ok(
      resultsOf(moved).some((result) => result !== 'intact'),
      'moved',
    )
    t.same(resultsOf(lines.toSpliced(at, 0, '{"stream":"audit"}'))[at], 'without seal', 'inserted')
  }
  const { seal: forged } = createChain({ writer: WRITER })
  const replaced = lines
    .slice(0, 4)
    .map((_, at) => forged(JSON.stringify({ stream: 'audit', user: `y${at}` })))
  t.same(resultsOf([...replaced, lines[4] ?? '']).at(-1), 'changed', 'the line after a forged beginning')
  t.end()
})

const LINE = '{"stream":"audit"}'
const KEY = 'k'.repeat(44)

/** Returns the lines of a writer that names the given lines, and its last line. */
function writerAfter(writer: string, named: readonly (ChainedLine | null)[], count = 3) {
  const chain = createChain({ writer, predecessors: () => named.filter((line) => line !== null) })
  const lines = Array.from({ length: count }, () => chain.seal(LINE))
  return { lines: [...lines, chain.seal('{"stream":"audit","event":"end"}')], last: chain.last() }
}

function unfoundIn(lines: readonly string[]): readonly object[] {
  const verifier = new ChainVerifier()
  for (const line of lines) verifier.check(line)
  return verifier.unfound().map(({ writer, why, isEarliest, by }) => ({ writer, why, isEarliest, by }))
}

const [A, B, C] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'] as const

t.test('a writer that another one names, and that has no line, is noticed', (t) => {
  const a = writerAfter(A, [])
  const b = writerAfter(B, [a.last])
  const c = writerAfter(C, [b.last])
  t.same(unfoundIn([...a.lines, ...b.lines, ...c.lines]), [])
  t.same(unfoundIn([...a.lines, ...c.lines]), [{ writer: B, why: 'absent', isEarliest: false, by: C }])
  t.same(unfoundIn([...b.lines, ...c.lines]), [{ writer: A, why: 'absent', isEarliest: true, by: B }])
  t.same(unfoundIn([...a.lines, ...b.lines.slice(0, 2), ...c.lines]), [
    { writer: B, why: 'beyond', isEarliest: false, by: C },
  ])
  t.same(unfoundIn([...a.lines, ...b.lines]), [], 'a last writer that is missing is not noticed')
  t.end()
})

t.test('a named line may follow the first line that names it', (t) => {
  const a = writerAfter(A, [])
  const b = writerAfter(B, [a.last])
  t.same(unfoundIn([...a.lines.slice(0, 2), ...b.lines, ...a.lines.slice(2)]), [])
  t.end()
})

t.test('a writer whose digests were all calculated again is noticed if another one names it', (t) => {
  const a = writerAfter(A, [])
  const b = writerAfter(B, [a.last])
  const chain = createChain({ writer: A })
  const forged = a.lines.map(() => chain.seal('{"stream":"audit","user":"y"}'))
  const other = { writer: A, why: 'other', by: B }
  t.match(unfoundIn([...forged, ...b.lines]), [other])
  t.match(unfoundIn([...b.lines, ...forged]), [other], 'also if it follows')
  t.end()
})

t.test('writers without an end line are listed', (t) => {
  const verifier = new ChainVerifier()
  for (const line of [...writerAfter(A, []).lines, ...linesOf(B)]) verifier.check(line)
  t.same(verifier.withoutEnd, [B])
  t.end()
})

t.test('lines with a key are verified only with the key', (t) => {
  const { seal } = createChain({ writer: A, key: KEY })
  const lines = [1, 2, 3].map(() => seal(LINE))
  const resultsWith = (...keys: readonly string[]) => {
    const verifier = new ChainVerifier({ keys })
    return lines.map((line) => verifier.check(line).result)
  }
  t.notMatch(lines.join(), KEY)
  t.same(resultsWith(KEY), ['intact', 'intact', 'intact'])
  t.same(resultsWith('x'.repeat(44), KEY), ['intact', 'intact', 'intact'], 'one of two keys')
  t.same(resultsWith('x'.repeat(44)), ['changed', 'changed', 'changed'])
  t.same(resultsWith(), ['key absent', 'key absent', 'key absent'])
  const unkeyed = new ChainVerifier({ keys: [KEY] })
  t.same(unkeyed.check(createChain().seal(LINE)).result, 'key expected', 'a forged line without a key')
  t.end()
})

t.test('the last lines in a text are those of each writer', (t) => {
  const [one, two] = [linesOf(A), linesOf(B)]
  const text = ['cut","writer":"x"', one[0], two[0], one[1], two[1], '{"stream":"log"}', two[2]?.slice(0, -9)]
  t.match(lastLinesIn(text.join('\n')), [
    { writer: A, sequence: 2, digest: JSON.parse(one[1] ?? '').digest },
    { writer: B, sequence: 2 },
  ])
  t.end()
})

t.test('the number of a digest is exact', (t) => {
  t.equal(digestNumberOf('_'.repeat(43)), 2 ** 48 - 1)
  t.equal(digestNumberOf('A'.repeat(43)), 0)
  t.end()
})
