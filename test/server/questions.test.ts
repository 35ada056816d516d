import t from 'tap'
import * as declarations from '../../src/server/questions.ts'
import { EXPLAIN, questionNamed, READINESS, REOPEN_AUDIT } from '../../src/server/questions.ts'

t.test('an answer of another form is rejected', async (t) => {
  t.ok(READINESS.isAnswer({ ready: true, checks: { a: 'ok' } }))
  for (const value of [null, {}, { ready: 1, checks: {} }, { ready: true, checks: { a: 1 } }])
    t.notOk(READINESS.isAnswer(value))
  t.ok(EXPLAIN.isAnswer({ status: 200, value: null }))
  for (const value of [null, { status: 200 }, { status: '200', value: 1 }]) t.notOk(EXPLAIN.isAnswer(value))
})

t.test('a worker finds a question by its name', async (t) => {
  t.equal(questionNamed('reopenAudit'), REOPEN_AUDIT)
  t.equal(questionNamed('toString'), null)
})

t.test('a worker finds every declared question', async (t) => {
  const declared = Object.values(declarations).filter((one) => typeof one === 'object')
  t.ok(declared.length > 0)
  for (const question of declared) t.equal(questionNamed(question.name), question, question.name)
})
