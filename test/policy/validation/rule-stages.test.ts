import t from 'tap'
import type { OperationCheck } from '../../../src/operations/notation.ts'
import { assertRulesFit, stageOf } from '../../../src/policy/validation/rule-stages.ts'

const other: OperationCheck = { admin: true, denied: 403 }
const read: OperationCheck = { ...other, name: 'read' }
const late: OperationCheck = { ...other, after: true }

t.test('a rule stays at its check if another check is added before it', (t) => {
  t.equal(stageOf({ after: 'read' }, [read, other]), 1)
  t.equal(stageOf({ after: 'read' }, [other, read]), 2)
  t.equal(stageOf({ beforeRefusalOf: 'read' }, [read, other]), 'refusal of 0')
  t.equal(stageOf({ beforeRefusalOf: 'read' }, [other, read]), 'refusal of 1')
  t.end()
})

t.test('a rule without a check precedes all checks', (t) => {
  t.equal(stageOf({}, [read, other]), 0)
  t.end()
})

t.test('a rule after all checks precedes the checks that follow the response', (t) => {
  t.equal(stageOf({ after: 'all checks' }, [read, other, late]), 2)
  t.end()
})

t.test('a rule that refers to a check that the operation does not have is an error', (t) => {
  t.throws(() => stageOf({ after: 'update' }, [read]), /refers to the check "update"/)
  t.throws(() => stageOf({ beforeRefusalOf: 'update' }, [read]), /refers to the check "update"/)
  t.throws(() => assertRulesFit({ checks: [other], body: 'TaskDto' }), /refers to the check "read"/)
  t.throws(
    () => assertRulesFit({ checks: [other], body: 'AuthorizationUpdateDto' }),
    /refers to the check "update"/,
  )
  t.throws(
    () => assertRulesFit({ checks: [other], body: 'StartProcessInstanceFormDto' }),
    /refers to the check "read"/,
  )
  t.doesNotThrow(() => assertRulesFit({ checks: [other, read], body: 'TaskDto' }))
  t.end()
})

t.test('two checks of an operation with the same name are an error', (t) => {
  t.throws(() => assertRulesFit({ checks: [read, read] }), /same name/)
  t.end()
})
