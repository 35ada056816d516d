import t from 'tap'
import { Comparer, type ComparerOptions } from '../../../src/proxy/compare/comparer.ts'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import {
  addComparisons,
  type ComparisonReport,
  type ReportedDifference,
} from '../../../src/proxy/compare/comparison-report.ts'
import { until } from '../../support/cache-harness.ts'

const READ: UpstreamRequest = {
  method: 'GET',
  path: '/task',
  operation: 'getTasks',
  headers: {},
  body: null,
  retry: 'always',
}

/** Opens a comparer in front of two groups that respond with these bodies, in turn. The last body is repeated. */
function open(
  bodies: { left: readonly string[]; right: readonly string[] },
  more: Partial<ComparerOptions> = {},
) {
  const asked: string[] = []
  const results: string[] = []
  const of = (group: 'left' | 'right') => {
    let at = 0
    return async () => {
      asked.push(group)
      const texts = bodies[group]
      const text = texts[Math.min(at, texts.length - 1)] ?? ''
      at += 1
      if (text === 'fails') throw new Error('no response')
      return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(text) }
    }
  }
  const comparer = new Comparer({
    rate: 1,
    isCompared: () => true,
    left: of('left'),
    right: of('right'),
    isOverloaded: () => false,
    onResult: (result, operation, kind) =>
      results.push(`${operation} ${result}${kind === '' ? '' : ` ${kind}`}`),
    onDifference: () => undefined,
    random: () => 0,
    wallMs: () => 7,
    pause: async () => undefined,
    ...more,
  })
  return {
    comparer,
    asked,
    results,
    compare: async (request = READ) => {
      comparer.offer(request)
      await until(() => results.length > 0 && comparer.report.waiting === 0)
      return results
    },
  }
}

t.test('an equal response needs one request to each group', async (t) => {
  const { compare, asked } = open({ left: ['{"a":1}'], right: ['{ "a": 1 }'] })
  t.same(await compare(), ['getTasks equal'])
  t.same(asked, ['left', 'right'])
})

t.test('a difference is reported if it is found twice and the left group does not change', async (t) => {
  const { compare, asked, comparer } = open({ left: ['{"a":1}'], right: ['{"a":2}'] })
  t.same(await compare(), ['getTasks different'])
  t.same(asked.slice(0, 6), ['left', 'right', 'left', 'left', 'right', 'left'])
  t.same(asked.slice(6), Array(10).fill('left'), 'the left group gives the same response for a second')
  t.same(comparer.report, {
    results: { different: 1 },
    waiting: 0,
    differences: [
      {
        operation: 'getTasks',
        atMs: 7,
        place: '/a',
        left: 'number',
        right: 'number',
        times: 1,
        isConfirmed: true,
      },
    ],
  })
})

t.test('data that changes between the requests is no difference', async (t) => {
  const changing = open({ left: ['{"a":1}', '{"a":2}'], right: ['{"a":2}'] })
  t.same(await changing.compare(), ['getTasks changed'])
  const later = open({
    left: [...Array<string>(6).fill('{"a":1}'), '{"a":2}'],
    right: ['{"a":2}', '{"a":1}'],
  })
  t.same(await later.compare(), ['getTasks changed'], 'the left group has changed within a second')
  t.same(later.asked.length, 9)
})

t.test('a count that changes back twice in a row, and later again, is no difference', async (t) => {
  for (const at of [1, 2, 3, 4, 5, 10, 13]) {
    const left = Array.from({ length: 14 }, (_, index) => (index === at ? '{"count":3}' : '{"count":2}'))
    const { compare } = open({ left, right: ['{"count":3}'] })
    t.same(await compare(), ['getTasks changed'], `${at}`)
  }
})

t.test('a place with a confirmed difference needs no second in which nothing changes', async (t) => {
  let nowMs = 0
  const { comparer, asked, results } = open(
    { left: ['{"a":1}'], right: ['{"a":2}'] },
    { wallMs: () => nowMs },
  )
  for (const [ms, requests] of [
    [0, 16],
    [599_999, 6],
    [1_199_999, 16],
  ] as const) {
    nowMs = ms
    const [before, done] = [asked.length, results.length]
    comparer.offer(READ)
    await until(() => results.length > done)
    t.equal(asked.length - before, requests, `${ms}`)
  }
  t.same(new Set(results), new Set(['getTasks different']))
})

/** Returns a function that compares one more response, and the result. */
function oneByOne(opened: ReturnType<typeof open>) {
  const { comparer, results } = opened
  return async (request = READ) => {
    const before = results.length
    comparer.offer(request)
    await until(() => results.length > before)
    return results.at(-1)
  }
}

t.test(
  'a difference that is found once is reported when the same member differs again, hours later',
  async (t) => {
    const equal = '[{"a":1},{"a":1}]'
    let nowMs = 0
    const opened = open(
      { left: [equal], right: ['[{"a":1},{"a":2}]', equal, equal, '[{"a":2},{"a":1}]', equal] },
      { wallMs: () => nowMs },
    )
    const compare = oneByOne(opened)
    const found = { operation: 'getTasks', left: 'number', right: 'number' }
    t.equal(await compare(), 'getTasks unconfirmed')
    t.same(opened.comparer.report.differences, [
      { ...found, place: '/1/a', times: 1, isConfirmed: false, atMs: 0 },
    ])
    t.equal(await compare(), 'getTasks equal')
    nowMs = 36_000_000
    t.equal(await compare(), 'getTasks different')
    t.same(opened.comparer.report.differences, [
      { ...found, place: '/0/a', times: 2, isConfirmed: true, atMs: nowMs },
    ])
  },
)

t.test('a member that differs once in the responses to two operations is reported', async (t) => {
  const right = ['{"a":2}', '{"a":1}', '[{"a":2}]', '[{"a":1}]']
  const opened = open({ left: [...Array<string>(13).fill('{"a":1}'), '[{"a":1}]'], right })
  const compare = oneByOne(opened)
  t.equal(await compare({ ...READ, operation: 'getTask' }), 'getTask unconfirmed')
  t.equal(await compare(), 'getTasks different')
})

t.test(
  'single differences of different members, or of the lengths of lists of two operations, are not reported',
  async (t) => {
    const opened = open({
      left: ['{"a":1,"b":1}'],
      right: ['{"a":2,"b":1}', '{"a":1,"b":1}', '{"a":1,"b":2}', '{"a":1,"b":1}'],
    })
    const compare = oneByOne(opened)
    for (const _ of [1, 2]) t.equal(await compare(), 'getTasks unconfirmed')
    const lengths = open({ left: ['[1]'], right: ['[]', '[1]', '[]', '[1]'] })
    const compareLengths = oneByOne(lengths)
    for (const operation of ['one', 'two'])
      t.equal(await compareLengths({ ...READ, operation }), `${operation} unconfirmed`)
  },
)

const reportOf = (...differences: readonly ReportedDifference[]): ComparisonReport => ({
  results: { unconfirmed: differences.length },
  waiting: 0,
  differences,
})

t.test('processes add their differences, and one that two of them found once is confirmed', (t) => {
  const found = { operation: 'getTasks', left: 'null', right: 'number', isConfirmed: false }
  const one = { ...found, place: '/3/a', times: 1, atMs: 1 }
  const other = { ...found, place: '/0/a', times: 1, atMs: 3 }
  const third = { ...found, place: '/0/b', times: 1, atMs: 2 }
  t.same(addComparisons([reportOf(one, third), reportOf(other)]), {
    results: { unconfirmed: 3 },
    waiting: 0,
    differences: [third, { ...other, times: 2, isConfirmed: true }],
  })
  t.end()
})

t.test('a known difference is counted by its kind', async (t) => {
  const { compare, comparer } = open({ left: ['{"camundaFormRef":1}'], right: ['{"operatonFormRef":1}'] })
  t.same(await compare(), ['getTasks known form-reference'])
  t.same(comparer.report, { results: { 'known: form-reference': 1 }, waiting: 0, differences: [] })
})

t.test('a group that does not respond is counted, and the next comparison runs', async (t) => {
  const { compare, comparer, results } = open({ left: ['1'], right: ['fails', '1'] })
  t.same(await compare(), ['getTasks unanswered'])
  comparer.offer(READ)
  await until(() => results.length === 2)
  t.equal(results[1], 'getTasks equal')
})

t.test('only reads of chosen operations are compared, by the rate', async (t) => {
  for (const [request, more] of [
    [{ ...READ, retry: 'unsent' }, {}],
    [{ ...READ, operation: undefined }, {}],
    [READ, { isCompared: (operation: string) => operation === 'other' }],
    [READ, { rate: 0.1, random: () => 0.1 }],
    [READ, { rate: 0 }],
  ] as const) {
    const { comparer, asked, results } = open({ left: ['1'], right: ['2'] }, more)
    comparer.offer(request)
    await new Promise(setImmediate)
    t.same([asked, results], [[], []])
  }
})

t.test('requests beyond the limits are dropped', async (t) => {
  const { comparer, results } = open({ left: ['1'], right: ['1'] })
  for (let count = 0; count < 40; count += 1) comparer.offer(READ)
  await until(() => results.length === 40)
  t.equal(results.filter((result) => result === 'getTasks dropped').length, 7, '1 runs and 32 wait')
  const large = open({ left: ['1'], right: ['1'] })
  t.same(await large.compare({ ...READ, body: Buffer.alloc(64 * 1024 + 1) }), ['getTasks dropped'])
  const busy = open({ left: ['1'], right: ['1'] }, { isOverloaded: () => true })
  t.same(await busy.compare(), ['getTasks dropped'])
})

t.test('one comparison runs at a time', async (t) => {
  let running = 0
  let most = 0
  const ask = async () => {
    running += 1
    most = Math.max(most, running)
    await new Promise(setImmediate)
    running -= 1
    return { status: 200, headers: {}, body: Buffer.from('x') }
  }
  const { comparer, results } = open({ left: [], right: [] }, { left: ask, right: ask })
  for (let count = 0; count < 10; count += 1) comparer.offer(READ)
  await until(() => results.length === 10)
  t.equal(most, 1)
})

t.test('no response of more than 256 KiB is read', async (t) => {
  const limits: number[] = []
  const ask = async (_request: UpstreamRequest, limitBytes: number) => {
    limits.push(limitBytes)
    return askX()
  }
  const { compare } = open({ left: [], right: [] }, { left: ask, right: ask })
  t.same(await compare(), ['getTasks equal'])
  t.same(limits, [256 * 1024, 256 * 1024])
})

t.test('a closed comparer sends nothing', async (t) => {
  const { comparer, asked } = open({ left: ['1'], right: ['1'] })
  comparer.close()
  comparer.offer(READ)
  await new Promise(setImmediate)
  t.same(asked, [])
})

const askX = async () => ({ status: 200, headers: {}, body: Buffer.from('x') })
const askY = async () => ({ status: 200, headers: {}, body: Buffer.from('y') })

t.test(
  'a member that always differs is one entry of the report, and the last hundred members are kept',
  async (t) => {
    let nowMs = 0
    const opened = open({ left: [], right: [] }, { left: askX, right: askY, wallMs: () => nowMs })
    const compare = oneByOne(opened)
    for (let count = 0; count < 3; count += 1) await compare()
    t.match(opened.comparer.report.differences, [{ place: 'body', times: 3 }])
    for (let count = 1; count <= 120; count += 1) {
      nowMs = count
      await compare({ ...READ, operation: `number-${count}` })
    }
    const { differences } = opened.comparer.report
    t.equal(differences.length, 100)
    t.match(differences.at(-1), { operation: 'number-120', atMs: 120 })
  },
)

t.test('only the last hundred unconfirmed differences are remembered', async (t) => {
  const compare = oneByOne(open({ left: ['1'], right: Array.from({ length: 102 }, () => ['2', '1']).flat() }))
  for (let number = 0; number <= 101; number += 1) {
    const operation = number === 101 ? 'number-0' : `number-${number}`
    t.equal(await compare({ ...READ, operation }), `${operation} unconfirmed`)
  }
})
