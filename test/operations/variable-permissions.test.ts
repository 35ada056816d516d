import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { Operation } from '../../src/operations/table.ts'
import { withSpecificVariablePermissions } from '../../src/operations/variable-permissions.ts'

function termsOf({ checks, items }: Operation): readonly string[] {
  const lists: readonly (readonly string[] | undefined)[] = [
    ...checks.map(({ anyOf }) => anyOf),
    items?.anyOf,
  ]
  return lists.flatMap((list) => list ?? [])
}

const changed = OPERATIONS.filter(
  (operation) => termsOf(operation).join() !== termsOf(withSpecificVariablePermissions(operation)).join(),
)

/** The operations for which Camunda 7.22.0 checks other permissions with `enforceSpecificVariablePermission`. */
const READING = [
  /^GET \/(execution|task)\/:id\/localVariables(\/:varName(\/data)?)?$/,
  /^GET \/(process-instance|task)\/:id\/variables(\/:varName(\/data)?)?$/,
  // In Camunda 7.24.0, with a parameter that requests variables.
  /^GET \/task\/:id$/,
  /^GET \/task\/:id\/(form|form-variables|rendered-form)$/,
  /^(GET|POST) (\/history)?\/variable-instance(\/count)?$/,
  /^GET (\/history)?\/variable-instance\/:id(\/data)?$/,
  /^(GET|POST) \/history\/detail$/,
  /^GET \/history\/detail\/(count|:id(\/data)?)$/,
]

function isReading({ method, template }: Operation): boolean {
  return READING.some((pattern) => pattern.test(`${method} ${template}`))
}

t.test('the setting for specific variable permissions changes only operations that read variables', (t) => {
  t.same(
    changed.map(({ id }) => id),
    OPERATIONS.filter(isReading).map(({ id }) => id),
  )
  t.equal(changed.length, 33)
  t.end()
})

t.test('with specific variable permissions each alternative is a permission on variables', (t) => {
  const specific = changed.map(withSpecificVariablePermissions)
  const terms = specific.flatMap((operation) =>
    termsOf({ ...operation, checks: operation.checks.filter(({ reads }) => reads !== undefined) }),
  )
  t.ok(terms.length > changed.length)
  t.same(
    terms.filter((term) => !/^(TASK\.READ_VARIABLE|PROCESS_DEFINITION\.READ_\w+_VARIABLE) /.test(term)),
    [],
  )
  t.end()
})

t.test('a check of variables by a permission without a specific counterpart is an error at startup', (t) => {
  const operation = {
    id: 'x',
    method: 'GET',
    template: '/x/:id',
    effect: 'read',
    checks: [{ anyOf: ['USER.READ path:id'], reads: 'variables', denied: 403 }],
  } as const
  t.throws(() => withSpecificVariablePermissions(operation), /USER.READ path:id/)
  t.end()
})
