import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createChain, digestNumberOf } from '../../src/metrics/audit-chain.ts'
import { runInProcess } from '../support/run-command.ts'

const WRITER = '0123456789ab'
const { seal, last } = createChain({ writer: WRITER })
const LINES = Array.from({ length: 6 }, (_, at) => seal(`{"stream":"audit","requestId":"${at}"}`))
const OTHER = '{"level":"info","msg":"listening"}'

async function verify(t: Test, files: readonly (readonly string[])[], ...options: readonly string[]) {
  const folder = t.testdir(Object.fromEntries(files.map((lines, at) => [`${at}.jsonl`, lines.join('\n')])))
  const names = files.map((_, at) => join(folder, `${at}.jsonl`))
  const ran = await runInProcess(['audit', 'verify', ...options, ...names])
  return { ...ran, out: ran.out.replaceAll(`${folder}/`, '') }
}

t.test('rotated files are verified in their order, without lines of other streams', async (t) => {
  t.match(await verify(t, [[...LINES.slice(0, 2), OTHER], LINES.slice(2)]), {
    code: 0,
    out: `6 lines of 1 writer: no line is known to be missing or changed
not proved: that no line follows the last line of ${WRITER}, without an end line
not proved: that there was no further writer that no first line names, for example a later one
not proved: that no person with write access calculated all digests again, because the lines have no key
`,
  })
})

t.test('a removed and a changed line are shown with file and line number', async (t) => {
  const removed = await verify(t, [LINES.slice(0, 2), [OTHER, ...LINES.slice(4)]])
  t.equal(removed.code, 1)
  t.equal(removed.out, `1.jsonl:2: lines 3 to 4 of writer ${WRITER} are missing\n4 lines of 1 writer\n`)
  const changed = await verify(t, [LINES.with(1, (LINES[1] ?? '').replace('"1"', '"x"'))], '--format', 'json')
  t.equal(changed.code, 1)
  t.match(JSON.parse(changed.out), {
    lines: 6,
    writers: 1,
    problems: [/:2: line 2 of writer 0123456789ab, or a line before it, was changed$/],
  })
})

t.test('files without the first lines need --partial', async (t) => {
  const late = [LINES.slice(3)]
  t.match(await verify(t, late), {
    code: 1,
    out: /lines 1 to 3 of writer .* are missing: give the earlier files/,
  })
  t.match(await verify(t, late, '--partial'), { code: 0 })
})

t.test('a file that is missing, or has no audit line, gives no result', async (t) => {
  t.match(await verify(t, [[OTHER]]), { code: 2, err: 'There is no audit line\n' })
  t.match(await runInProcess(['audit', 'verify', '/nosuch/file']), {
    code: 2,
    err: '/nosuch/file does not exist\n',
  })
})

const ENDED = [...LINES, seal('{"stream":"audit","event":"end"}')]
const NEXT_WRITER = 'ba9876543210'
const predecessor = last()
const next = createChain({
  writer: NEXT_WRITER,
  predecessors: () => (predecessor === null ? [] : [predecessor]),
})
const NEXT = Array.from({ length: 3 }, () => next.seal('{"stream":"audit"}'))

t.test(
  'a writer whose lines were all removed is reported if the first line of another one names it',
  async (t) => {
    t.match(await verify(t, [[...ENDED, ...NEXT]]), { code: 0, out: /no line is known to be missing/ })
    const removed = await verify(t, [NEXT])
    t.equal(removed.code, 1)
    t.match(
      removed.out,
      `all lines of writer ${WRITER} are missing: the first line of writer ${NEXT_WRITER} names line 7`,
    )
    t.match(await verify(t, [NEXT], '--partial'), { code: 0 })
    const shortened = await verify(t, [[...LINES.slice(0, 4), ...NEXT]], '--partial')
    t.match(shortened, { code: 1, out: `line 7 of writer ${WRITER} is missing: the first line of writer` })
  },
)

t.test('--partial accepts only writers before the first writer of the files', async (t) => {
  const third = createChain({ predecessors: () => [next.last() ?? { writer: '', sequence: 0, digest: '' }] })
  const lines = [...ENDED, third.seal('{"stream":"audit"}')]
  const ran = await verify(t, [lines], '--partial')
  t.match(ran, { code: 1, out: `all lines of writer ${NEXT_WRITER} are missing` })
})

t.test('--expect-end reports a writer without an end line', async (t) => {
  t.match(await verify(t, [ENDED], '--expect-end'), { code: 0, out: /7 lines of 1 writer: no line/ })
  const ran = await verify(t, [LINES], '--expect-end')
  t.match(ran, { code: 1, out: `writer ${WRITER} has no end line: its last lines are missing` })
  const json = await verify(t, [LINES], '--expect-end', '--format', 'json')
  t.match(JSON.parse(json.out), { withoutEnd: [WRITER], keyed: false })
})

t.test('--expect-line reports a line that a metric shows and the files lack', async (t) => {
  const digest = digestNumberOf(JSON.parse(ENDED[4] ?? '').digest)
  const expected = `--expect-line=${WRITER}:5:${digest}`
  t.match(await verify(t, [ENDED], expected), { code: 0 })
  t.match(await verify(t, [ENDED.slice(0, 4)], expected), {
    code: 1,
    out: `line 5 of writer ${WRITER} is missing: --expect-line names it`,
  })
  t.match(await verify(t, [NEXT], '--partial', expected), { code: 1, out: /all lines of writer/ })
  t.match(await verify(t, [ENDED], `--expect-line=${WRITER}:5:${digest + 1}`), {
    code: 1,
    out: `line 5 of writer ${WRITER} was changed: --expect-line names another digest`,
  })
  t.match(await verify(t, [ENDED], '--expect-line=x'), { code: 2, err: /use the id of the writer/ })
})

t.test('lines with a key need --key-file, and lines without a key are then reported', async (t) => {
  const key = 'k'.repeat(44)
  const chain = createChain({ writer: WRITER, key })
  const lines = [chain.seal('{"stream":"audit"}'), chain.seal('{"stream":"audit","event":"end"}')]
  const folder = t.testdir({
    key: `${key}\n`,
    'audit.jsonl': lines.join('\n'),
    'other.jsonl': LINES.join('\n'),
  })
  const run = (file: string, ...options: readonly string[]) =>
    runInProcess(['audit', 'verify', ...options, join(folder, file)])
  const keyed = await run('audit.jsonl', '--key-file', join(folder, 'key'))
  t.equal(keyed.code, 0)
  t.equal(
    keyed.out,
    '2 lines of 1 writer: no line is known to be missing or changed\n' +
      'not proved: that there was no further writer that no first line names, for example a later one\n',
  )
  t.match(await run('audit.jsonl'), { code: 2, err: /:1: The line has a key: use --key-file/ })
  const other = await run('other.jsonl', '--key-file', join(folder, 'key'))
  t.match(other, { code: 1, out: /line 1 of writer 0123456789ab has no key/ })
  t.match(await run('audit.jsonl', '--key-file', '/nosuch/key'), {
    code: 2,
    err: '/nosuch/key does not exist\n',
  })
})
