import t from 'tap'
import { decidedAcceptOf, jsonAcceptOf, otherFormOf } from '../../src/request/accept.ts'
import { ACCEPTS, AMBIGUOUS_ACCEPTS, BAD_ACCEPTS } from '../support/accepts.ts'
import { cpuMs } from '../support/cpu-time.ts'

const TASKS = { accept: 'hal' } as const
const COUNT = {}

t.test('a list of types has the meaning that the engine gives it', async (t) => {
  for (const [accept, ofTasks, ofCount] of ACCEPTS)
    t.same([otherFormOf(TASKS, accept), otherFormOf(COUNT, accept)], [ofTasks, ofCount], accept)
})

t.test('a missing Accept accepts every type, and types are case-insensitive', async (t) => {
  t.same([otherFormOf(TASKS, undefined), jsonAcceptOf(undefined)], [false, 'application/json'])
  t.equal(otherFormOf(TASKS, 'APPLICATION/HAL+JSON'), 'hal')
  t.equal(otherFormOf(TASKS, 'Application/Json'), false)
})

t.test('an ambiguous list of types is refused if it decides the form', async (t) => {
  for (const accept of [...BAD_ACCEPTS, ...AMBIGUOUS_ACCEPTS])
    t.throws(() => otherFormOf(TASKS, accept), { code: 'GW_BAD_HEADER', statusCode: 400 }, accept)
})

t.test(
  'with one form the last q counts, and a list that the engine cannot read is left to the engine',
  async (t) => {
    for (const accept of AMBIGUOUS_ACCEPTS) t.equal(otherFormOf(COUNT, accept), false, accept)
    for (const accept of BAD_ACCEPTS) t.equal(otherFormOf(COUNT, accept), 'neither', accept)
  },
)

t.test('the Accept header that is sent names the decided form, and no other form', async (t) => {
  for (const [accept, ofTasks] of ACCEPTS) {
    const sent = decidedAcceptOf(accept)
    if (ofTasks === 'neither') t.notMatch(sent, /(?:application|\*)\/(?:json|hal\+json|\*)(?:,|$)/, accept)
    else
      t.match(
        sent,
        ofTasks === 'hal' ? /^application\/hal\+json(?:;|$)/ : /^application\/json(?:;|$)/,
        accept,
      )
    t.equal(otherFormOf(TASKS, sent), ofTasks, accept)
  }
})

t.test('a parameter that another parser could end elsewhere is not sent', async (t) => {
  for (const value of ['"\\", application/hal+json;q=1;y="', '"a, application/hal+json"', '"\\a"'])
    t.equal(decidedAcceptOf(`application/json;z=1;x=${value}`), 'application/json;z=1', value)
})

t.test('an Accept header for JSON only keeps the parameters that the engine would repeat', async (t) => {
  for (const [accept, alone] of [
    ['', 'application/json'],
    ['application/hal+json, */*;q=0.1', 'application/json'],
    ['text/html, application/json;charset=utf-8;q=0.5', 'application/json;charset=utf-8'],
    ['Application/JSON ; X="a b"', 'Application/JSON;X="a b"'],
    ['application/hal+json', 'application/json'],
  ] as const)
    t.equal(jsonAcceptOf(accept), alone, accept)
})

t.test('a list of 16,000 characters is parsed in less than 200 ms', async (t) => {
  for (const accept of [
    '"\\'.repeat(8000),
    ';q'.repeat(8000),
    `;${' '.repeat(16_000)}`,
    ','.repeat(16_000),
    'a;'.repeat(8000),
    `a${' ;'.repeat(8000)}/`,
    `a${' ; '.repeat(5000)}/`,
    `a;b="${'\\a'.repeat(8000)}`,
    `a${';b=c'.repeat(4000)};`,
    'a,'.repeat(8000),
  ]) {
    const start = cpuMs()
    otherFormOf(COUNT, accept)
    t.ok(cpuMs() - start < 200)
  }
})
