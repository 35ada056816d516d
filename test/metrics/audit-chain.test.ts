import t from 'tap'
import { ChainVerifier, createSeal } from '../../src/metrics/audit-chain.ts'

/** Returns five sealed lines of one writer. */
function linesOf(writer: string): string[] {
  const seal = createSeal(writer)
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
  const [one, two] = [createSeal(), createSeal()].map((seal) => JSON.parse(seal('{"a":1}')).writer)
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
  const forged = createSeal(WRITER)
  const replaced = lines
    .slice(0, 4)
    .map((_, at) => forged(JSON.stringify({ stream: 'audit', user: `y${at}` })))
  t.same(resultsOf([...replaced, lines[4] ?? '']).at(-1), 'changed', 'the line after a forged beginning')
  t.end()
})
