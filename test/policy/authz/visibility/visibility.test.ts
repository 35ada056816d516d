import t from 'tap'
import type { ItemRestriction } from '../../../../src/operations/notation.ts'
import type { ListItem } from '../../../../src/policy/authz/entities/look-ups.ts'
import {
  compileRestriction,
  restrictionFor,
} from '../../../../src/policy/authz/visibility/compile-restriction.ts'
import { isVisible, visibilityOf } from '../../../../src/policy/authz/visibility/visibility.ts'
import { stringOf } from '../../../../src/request/value.ts'
import { recordsOf } from '../../../support/record-lines.ts'

const principal = { userId: 'anna', groups: [], tenants: ['acme'] }
const BY_KEY: ItemRestriction = { anyOf: ['PROCESS_DEFINITION.READ_TASK item:processDefinitionKey'] }

function sees(restriction: ItemRestriction, item: ListItem, lines: readonly string[] = []): boolean {
  return isVisible(compileRestriction(restriction), item, (name) => stringOf(item[name]), {
    principal,
    records: recordsOf(lines),
    tenants: new Set(principal.tenants),
    implicitGrants: null,
    impliesIdentity: false,
  })
}

t.test('every caller sees items that no record can name, and no other items', (t) => {
  const cases: readonly (readonly [
    exempt: NonNullable<ItemRestriction['exempt']>,
    row: ListItem,
    isSeen: boolean,
  ])[] = [
    ['no category and no definition', {}, true],
    ['no category and no definition', { category: 'Admin' }, false],
    ['no category and no definition', { processDefinitionKey: 'review' }, false],
    ['no category and no definition', { category: 'Operator', processDefinitionKey: 'review' }, false],
    ['no definition', { category: 'Admin' }, true],
    ['no definition', { processDefinitionKey: 'review' }, false],
    ['no execution', { processDefinitionKey: 'review' }, true],
    ['no execution', { executionId: 'e' }, false],
    ['case', { caseExecutionId: 'c' }, true],
    ['case', {}, false],
  ]
  for (const [exempt, item, isSeen] of cases)
    t.equal(sees({ ...BY_KEY, exempt }, item), isSeen, `${exempt}: ${JSON.stringify(item)}`)
  t.equal(sees(BY_KEY, {}), false)
  t.end()
})

t.test('an item of another tenant is hidden, whatever the records grant', (t) => {
  const lines = ['grant anna PROCESS_DEFINITION:* READ_TASK']
  const restriction: ItemRestriction = { ...BY_KEY, exempt: 'no definition' }
  for (const [item, isSeen] of [
    [{ processDefinitionKey: 'review' }, true],
    [{ processDefinitionKey: 'review', tenantId: 'acme' }, true],
    [{ processDefinitionKey: 'review', tenantId: 'globex' }, false],
    [{ tenantId: 'globex' }, false],
  ] as const) {
    t.equal(sees(restriction, item, lines), isSeen, JSON.stringify(item))
    t.equal(sees({ ...restriction, crossTenant: 'ignored' }, item, lines), true, 'where tenants are ignored')
  }
  t.end()
})

const TASK = { id: 't1', processDefinitionKey: 'review' }
const READ = 'TASK.READ item:id'
const UPDATE = 'TASK.UPDATE item:id'
const READ_TASK = 'PROCESS_DEFINITION.READ_TASK item:processDefinitionKey'

t.test('each condition must hold for an item', (t) => {
  const both = { allOf: [READ, UPDATE] } as const
  const apart = { allOf: [READ, READ_TASK] } as const
  const cases: readonly (readonly [
    restriction: ItemRestriction,
    lines: readonly string[],
    isSeen: boolean,
  ])[] = [
    [{ anyOf: [READ, UPDATE] }, ['grant anna TASK:t1 UPDATE'], true],
    [both, ['grant anna TASK:t1 UPDATE'], false],
    [apart, ['grant anna TASK:t1 READ'], false],
    [apart, ['grant anna TASK:t1 READ', 'grant anna PROCESS_DEFINITION:review READ_TASK'], true],
    [both, ['grant anna TASK:t1 READ', 'grant anna TASK:* UPDATE'], false],
    [both, ['grant anna TASK:t1 READ,UPDATE'], true],
    [both, ['grant anna TASK:t1 READ', 'grant anna TASK:* UPDATE', 'revoke anna USER:x READ'], true],
    [{ anyOf: [READ], and: { anyOf: [UPDATE] } }, ['grant anna TASK:t1 READ'], false],
    [{ anyOf: [READ], and: { anyOf: [UPDATE] } }, ['grant anna TASK:t1 READ,UPDATE'], true],
  ]
  for (const [restriction, lines, isSeen] of cases)
    t.equal(sees(restriction, TASK, lines), isSeen, JSON.stringify([restriction, lines]))
  t.end()
})

t.test('a second condition applies if the query requests it or may request it', (t) => {
  const restriction = compileRestriction({
    anyOf: [READ],
    and: { anyOf: [UPDATE], when: 'query:withUpdate is true' },
  })
  const conditions = (query: Readonly<Record<string, string>>) =>
    restrictionFor(restriction, { query: new Map(Object.entries(query)) }).conditions.length
  t.equal(conditions({}), 1)
  for (const text of ['false', '0', 'null', ' false ']) t.equal(conditions({ withUpdate: text }), 1, text)
  for (const text of ['true', '1', 'x', 'FALSE', '']) t.equal(conditions({ withUpdate: text }), 2, text)
  t.end()
})

t.test('a second condition with an unknown form is an error, because it would restrict nothing', (t) => {
  const when = 'query:with-update is true'
  t.throws(
    () => compileRestriction({ anyOf: [READ], and: { anyOf: [UPDATE], when } }),
    /unknown condition query:with-update/,
  )
  t.end()
})

t.test('the records decide whether all, some or no items are visible', (t) => {
  const one: ItemRestriction = { anyOf: [READ] }
  const two: ItemRestriction = { anyOf: [READ, 'PROCESS_DEFINITION.READ_TASK item:processDefinitionKey'] }
  const apart: ItemRestriction = { allOf: [READ, READ_TASK] }
  const together: ItemRestriction = { allOf: [READ, UPDATE] }
  const revoking = 'revoke anna USER:x READ'
  const cases: readonly (readonly [restriction: ItemRestriction, lines: readonly string[], scope: string])[] =
    [
      [one, [], 'none'],
      [one, ['grant anna TASK:t1 READ'], 'conditional'],
      [one, ['grant anna TASK:* READ'], 'all'],
      [one, ['grant anna TASK:* READ', revoking], 'all'],
      [one, ['grant anna TASK:* READ', 'revoke anna TASK:t1 READ'], 'conditional'],
      [one, ['revoke anna TASK:* READ', 'grant anna TASK:t1 READ'], 'conditional'],
      [one, ['revoke anna TASK:* READ'], 'none'],
      [two, ['grant anna PROCESS_DEFINITION:* READ_TASK', revoking], 'all'],
      [two, ['grant anna PROCESS_DEFINITION:* READ_TASK', 'revoke anna TASK:t1 READ'], 'conditional'],
      [
        two,
        ['grant anna PROCESS_DEFINITION:* READ_TASK', 'grant anna TASK:t1 READ', revoking],
        'conditional',
      ],
      [two, ['grant anna PROCESS_DEFINITION:* READ_TASK', 'revoke anna TASK:* READ'], 'none'],
      [together, ['grant anna TASK:* READ,UPDATE'], 'all'],
      [together, ['grant anna TASK:t1 READ,UPDATE'], 'conditional'],
      [together, ['grant anna TASK:t1 READ', 'grant anna TASK:* UPDATE'], 'none'],
      [together, ['grant anna TASK:t1 READ', 'grant anna TASK:* UPDATE', revoking], 'conditional'],
      [apart, ['grant anna TASK:* READ', 'grant anna PROCESS_DEFINITION:review READ_TASK'], 'conditional'],
      [apart, ['grant anna TASK:* READ'], 'none'],
    ]
  for (const [restriction, lines, scope] of cases)
    t.equal(
      visibilityOf(compileRestriction(restriction), principal, recordsOf(lines)),
      scope,
      JSON.stringify([restriction, lines]),
    )
  t.end()
})
