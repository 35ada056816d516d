import { Readable } from 'node:stream'
import t from 'tap'
import { runInProcess } from '../support/run-command.ts'

const LINE = {
  stream: 'audit',
  engine: 'default',
  operation: 'getTasks',
  user: 'mary',
  comparison: 'stricter',
}
const MISSING = { permission: 'READ', resource: 'Task', resourceId: '*', need: 0 }

function run(lines: readonly (object | string)[], ...args: readonly string[]) {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  return runInProcess(['compare-decisions', ...args], Readable.from([text]))
}

t.test('differences are counted by operation and user, with the missing permissions', async (t) => {
  const { code, out } = await run([
    { ...LINE, missing: [MISSING] },
    { ...LINE, missing: [MISSING, { ...MISSING, resourceId: 'x' }] },
    { ...LINE, comparison: 'wider', operation: 'getTask' },
    { ...LINE, comparison: 'equal' },
    { ...LINE, stream: 'log' },
  ])
  t.equal(code, 1)
  t.same(out.replaceAll(/ +/g, ' ').split('\n'), [
    'stricter default getTasks mary 2 times READ on Task *, READ on Task x',
    'wider default getTask mary 1 time',
    '3 decisions differ',
    '',
  ])
})

t.test('the differences are also printed as JSON', async (t) => {
  const { code, out } = await run([LINE, 'no JSON'], '--format', 'json')
  t.equal(code, 1)
  const difference = { result: 'stricter', engine: 'default', operation: 'getTasks', user: 'mary' }
  t.same(JSON.parse(out), { differences: [{ ...difference, times: 1, missing: [] }], unreadable: 1 })
})

t.test('without a difference the exit code is 0, and without any line in JSON it is 2', async (t) => {
  t.match(await run([{ ...LINE, comparison: 'equal' }]), { code: 0, out: 'no decision differs\n' })
  t.match(await run(['hello']), { code: 2, err: 'There is no audit line\n' })
  t.match(await run([], '--file', '/nosuch/audit.jsonl'), {
    code: 2,
    err: '/nosuch/audit.jsonl does not exist\n',
  })
})
