import t from 'tap'
import { decidedAcceptOf, jsonAcceptOf, otherFormOf } from '../../src/request/accept.ts'
import { ACCEPTS, AMBIGUOUS_ACCEPTS, BAD_ACCEPTS } from '../support/accepts.ts'
import { cpuMs } from '../support/cpu-time.ts'

const TASKS = { hal: true } as const
const COUNT = {}

t.test('a list of types means what the engine makes of it', async (t) => {
  for (const [accept, ofTasks, ofCount] of ACCEPTS)
    t.same([otherFormOf(TASKS, accept), otherFormOf(COUNT, accept)], [ofTasks, ofCount], accept)
})

t.test('who says nothing of types takes any, and types in capitals are the same types', async (t) => {
  t.same([otherFormOf(TASKS, undefined), jsonAcceptOf(undefined)], [false, 'application/json'])
  t.equal(otherFormOf(TASKS, 'APPLICATION/HAL+JSON'), 'hal')
  t.equal(otherFormOf(TASKS, 'Application/Json'), false)
})

t.test('where the form decides, a list that can be read in two ways is refused', async (t) => {
  for (const accept of [...BAD_ACCEPTS, ...AMBIGUOUS_ACCEPTS])
    t.throws(() => otherFormOf(TASKS, accept), { code: 'GW_BAD_HEADER', statusCode: 400 }, accept)
})

t.test(
  'where there is one form, the last q counts, and what the engine does not read it refuses itself',
  async (t) => {
    for (const accept of AMBIGUOUS_ACCEPTS) t.equal(otherFormOf(COUNT, accept), false, accept)
    for (const accept of BAD_ACCEPTS) t.equal(otherFormOf(COUNT, accept), 'neither', accept)
  },
)

t.test('what is sent on names the form that was decided about, and no other', async (t) => {
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

t.test('a parameter that another reader could end elsewhere is not sent on', async (t) => {
  for (const value of ['"\\", application/hal+json;q=1;y="', '"a, application/hal+json"', '"\\a"'])
    t.equal(decidedAcceptOf(`application/json;z=1;x=${value}`), 'application/json;z=1', value)
})

t.test('asked for JSON alone, the engine is given the parameters that it would repeat', async (t) => {
  for (const [accept, alone] of [
    ['', 'application/json'],
    ['application/hal+json, */*;q=0.1', 'application/json'],
    ['text/html, application/json;charset=utf-8;q=0.5', 'application/json;charset=utf-8'],
    ['Application/JSON ; X="a b"', 'Application/JSON;X="a b"'],
    ['application/hal+json', 'application/json'],
  ] as const)
    t.equal(jsonAcceptOf(accept), alone, accept)
})

t.test('a list is read in a time that its length says', async (t) => {
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
