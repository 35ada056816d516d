import t from 'tap'
import {
  callerValueOf,
  isKnownExpression,
  readExpression,
} from '../../../src/policy/validation/query-expressions.ts'
import { Random } from '../../differential/random.ts'
import { makeExpression } from '../../support/query-expressions.ts'
import { seed } from '../../support/requirements.ts'

t.test('the expressions of task lists are known', (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['${currentUser()}', 'caller id'],
    ['${ currentUser() }', 'caller id'],
    ['#{currentUser()}', 'caller id'],
    ['${currentUserGroups()}', 'caller groups'],
    ['${now()}', 'date'],
    ['${ now() }', 'date'],
    ['${dateTime()}', 'date'],
    ['${dateTime().plusDays(1)}', 'date'],
    ['${ dateTime().plusDays(2) }', 'date'],
    ['${dateTime().minusMonths(2)}', 'date'],
    ['${dateTime().withTimeAtStartOfDay()}', 'date'],
    ['${dateTime().withTimeAtStartOfDay().plusDays(1).minusSeconds(1)}', 'date'],
    ['${dateTime().dayOfWeek().withMinimumValue()}', 'date'],
    ['${dateTime().dayOfWeek().withMinimumValue().withTimeAtStartOfDay()}', 'date'],
    ['${dateTime().dayOfMonth().withMaximumValue()}', 'date'],
    ['${dateTime().monthOfYear().roundFloorCopy()}', 'date'],
    ['${dateTime().withHourOfDay(17).withMinuteOfHour(30)}', 'date'],
    ['${dateTime().withTime(0, 0, 0, 0)}', 'date'],
    ['${dateTime().plusDays(1).toDate()}', 'date'],
  ]
  for (const [text, value] of cases) t.equal(readExpression(text), value, text)
  t.end()
})

t.test('every other text is unknown', (t) => {
  const texts = [
    '',
    'mary',
    'now()',
    '${}',
    '${now}',
    '${now(1)}',
    '${now().getTime()}',
    '${now().toString()}',
    '${currentUser().concat("x")}',
    '${currentUser().getClass()}',
    '${currentUserGroups().add("admins")}',
    '${dateTime().getClass()}',
    '${dateTime().class}',
    '${dateTime()["class"]}',
    '${dateTime().dayOfWeek()}',
    '${dateTime().dayOfWeek().getField()}',
    '${dateTime().year().withMinimumValue()}',
    '${dateTime().plusDays()}',
    '${dateTime().plusDays(1, 2)}',
    '${dateTime().plusDays(-1)}',
    '${dateTime().plusDays(01)}',
    '${dateTime().plusDays( 1)}',
    '${dateTime().plusDays(1.5)}',
    '${dateTime().plusDays(1e3)}',
    '${dateTime().plusDays(100000)}',
    '${dateTime().plusDays(9999999999)}',
    '${dateTime().plusDays(now())}',
    '${dateTime().plusDays("1")}',
    '${dateTime().withDayOfMonth(0)}',
    '${dateTime().withDayOfMonth(31)}',
    '${dateTime().withMonthOfYear(13)}',
    '${dateTime().constructor()}',
    '${constructor()}',
    '${dateTime().toDate().plusDays(1)}',
    '${dateTime().plusdays(1)}',
    '${dateTime() .plusDays(1)}',
    '${dateTime(). plusDays(1)}',
    '${now ()}',
    '${now( )}',
    ' ${now()}',
    '${now()} ',
    '${now()}\n',
    '${\tnow()}',
    '${\u00a0now()}',
    '${now()}${now()}',
    '${now()}x',
    '${${now()}}',
    '${now()+1}',
    '${true ? now() : now()}',
    '${not empty now()}',
    '\\${now()}',
    '$\\{now()}',
    '${"".getClass().forName("java.lang.Runtime")}',
    '${execution.id}',
    '${ｎｏｗ()}',
    '${dateTime().plusDays(１)}',
    `\${dateTime()${'.plusDays(1)'.repeat(30)}}`,
  ]
  for (const text of texts) t.equal(readExpression(text), null, JSON.stringify(text))
  t.end()
})

t.test('a member accepts only an expression with a value that it needs', (t) => {
  t.ok(isKnownExpression('assigneeExpression', '${currentUser()}'))
  t.ok(isKnownExpression('candidateGroupsExpression', '${currentUserGroups()}'))
  t.ok(isKnownExpression('dueAfterExpression', '${now()}'))
  // A bare engine reads a null date as no condition, and the list would be longer.
  t.notOk(isKnownExpression('dueAfterExpression', '${currentUser()}'))
  t.notOk(isKnownExpression('candidateGroupExpression', '${currentUserGroups()}'))
  t.notOk(isKnownExpression('candidateGroupsExpression', '${currentUser()}'))
  t.notOk(isKnownExpression('assigneeExpression', '${now()}'))
  t.notOk(isKnownExpression('unknownExpression', '${now()}'))
  t.notOk(isKnownExpression('dueAfterExpression', 1))
  t.notOk(isKnownExpression('toStringExpression', '${now()}'))
  t.end()
})

t.test('of 10,000 generated expressions, exactly those are known that were made of known calls', (t) => {
  const wrong: string[] = []
  for (let place = 0; place < 10_000; place += 1) {
    const { text, value } = makeExpression(Random.of(seed + 4_200, place))
    if ((readExpression(text) ?? 'unknown') !== value) wrong.push(`${JSON.stringify(text)} is ${value}`)
  }
  t.same(wrong, [])
  t.end()
})

t.test('a text that is longer than any known expression is refused', (t) => {
  t.equal(readExpression(`\${${' '.repeat(290)}now()}`), 'date')
  for (const text of [' ', 'a', '(', '1', ', ', 'plusDays(1).', '${'])
    t.equal(readExpression(`\${${text.repeat(1_000_000)}`), null)
  t.equal(readExpression(`\${${' '.repeat(300)}now()}`), null)
  t.end()
})

t.test('an expression that names the caller has the value of the caller', (t) => {
  const caller = { userId: 'mary', groups: ['reviewers', 'sales'] }
  t.same(callerValueOf('assigneeExpression', '${currentUser()}', caller), {
    plainName: 'assignee',
    value: 'mary',
  })
  t.same(callerValueOf('candidateGroupsExpression', '#{ currentUserGroups() }', caller), {
    plainName: 'candidateGroups',
    value: ['reviewers', 'sales'],
  })
  t.equal(callerValueOf('dueAfterExpression', '${now()}', caller), null)
  t.equal(callerValueOf('assigneeExpression', '${currentUser().concat("x")}', caller), null)
  t.equal(callerValueOf('assigneeExpression', null, caller), null)
  t.equal(
    callerValueOf('candidateGroupsExpression', '${currentUserGroups()}', { ...caller, groups: [] }),
    null,
    'the engine refuses an empty list',
  )
  t.end()
})
