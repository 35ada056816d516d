import t from 'tap'
import { has, isAll, isNone } from '../../../../src/policy/authz/visibility/visible-set.ts'

const set = (isAllBut: boolean, ...ids: readonly string[]) => ({ isAllBut, ids: new Set(ids) })

t.test('a set contains its ids, or all ids except them', (t) => {
  t.same([isNone(set(false)), isAll(set(false))], [true, false])
  t.same([isNone(set(true)), isAll(set(true))], [false, true])
  t.same([isNone(set(false, 'a')), isAll(set(false, 'a'))], [false, false])
  t.same([isNone(set(true, 'a')), isAll(set(true, 'a'))], [false, false])
  t.same([has(set(false, 'a'), 'a'), has(set(false, 'a'), 'b')], [true, false])
  t.same([has(set(true, 'a'), 'a'), has(set(true, 'a'), 'b')], [false, true])
  t.end()
})
