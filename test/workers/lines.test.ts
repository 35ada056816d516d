import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { forwardLines } from '../../src/workers/lines.ts'

function open() {
  const from = new PassThrough()
  const passed: string[] = []
  forwardLines(from, (lines) => void passed.push(lines))
  return {
    from,
    passed,
    write: async (text: string | Buffer) => {
      from.write(text)
      await turn()
    },
  }
}

t.test('only complete lines are forwarded, and several at once', async (t) => {
  const { passed, write } = open()
  await write('one\ntwo\nth')
  await write('re')
  t.same(passed, ['one\ntwo\n'])
  await write('e\n')
  t.same(passed, ['one\ntwo\n', 'three\n'])
})

t.test('a multi-byte character is forwarded whole', async (t) => {
  const { passed, write } = open()
  const bytes = Buffer.from('grün\n')
  await write(bytes.subarray(0, 3))
  await write(bytes.subarray(3))
  t.same(passed, ['grün\n'])
})

t.test('an incomplete last line gets a line end, also if its writer was killed', async (t) => {
  const { from, passed, write } = open()
  await write('{"half":')
  from.end()
  await turn()
  t.same(passed, ['{"half":\n'])
})

t.test('a line without an end is forwarded when it is too long', async (t) => {
  const { passed, write } = open()
  for (let count = 0; count < 40; count += 1) await write('x'.repeat(64 * 1024))
  t.ok(passed.join('').length >= 1024 ** 2)
})
