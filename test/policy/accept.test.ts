import t from 'tap'
import { jsonAcceptOf, otherFormOf } from '../../src/policy/accept.ts'
import { ACCEPTS } from './accepts.ts'

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

t.test('asked for JSON alone, the engine is given the parameters that it would repeat', async (t) => {
  for (const [accept, alone] of [
    ['', 'application/json'],
    ['application/hal+json, */*;q=0.1', 'application/json'],
    ['text/html, application/json;charset=utf-8;q=0.5', 'application/json;charset=utf-8;q=0.5'],
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
  ]) {
    const start = process.hrtime.bigint()
    otherFormOf(TASKS, accept)
    t.ok(process.hrtime.bigint() - start < 200_000_000n)
  }
})
