import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createSeal } from '../../src/metrics/audit-chain.ts'
import { runInProcess } from '../support/run-command.ts'

const WRITER = '0123456789ab'
const seal = createSeal(WRITER)
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
    out: '6 lines of 1 writer: none is missing or changed\n',
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
