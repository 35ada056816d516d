import { LISTED_SELECTORS, SELECTOR_LISTS } from '../../operations/body-selectors.ts'
import { ADDED_VARIABLES, COUNT_OF_FILTER, LIST_OF_TOPICS, type Operation } from '../../operations/table.ts'
import { messageOf } from '../../errors.ts'
import { assertRulesFit } from '../validation/rule-stages.ts'
import { compileChecks, parametersOf } from './checks/compile-check.ts'
import { compileLinkPermission } from './checks/compile-permission.ts'
import type { OperationPolicy, Policies } from './operation-policy.ts'
import { compileRestriction } from './visibility/compile-restriction.ts'

/**
 * Compiles the policy of every operation of the table. All engines share the result.
 * @throws Error if an operation is wrong; the message names the operation
 */
export function compilePolicies(operations: readonly Operation[]): Policies {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  return new Map(operations.map((operation) => [operation.id, compilePolicy(operation, byId)]))
}

function compilePolicy(operation: Operation, byId: ReadonlyMap<string, Operation>): OperationPolicy {
  const { id, method, template, items, links } = operation
  try {
    checkOperations(operation, byId)
    assertRulesFit(operation)
    checkItemOperations(operation, byId)
    const parameters = parametersOf(template)
    return {
      operation,
      checks: compileChecks(operation),
      restriction: items === undefined ? null : compileRestriction(items),
      allowedLinks:
        typeof links !== 'object'
          ? null
          : new Map(
              Object.entries(links).map(([rel, term]) => [rel, compileLinkPermission(term, parameters)]),
            ),
    }
  } catch (cause) {
    throw new Error(
      `The entry ${id} (${method} ${template}) of the table has a mistake: ${messageOf(cause)}`,
      {
        cause,
      },
    )
  }
}

/** Checks that the operations to which this operation refers exist and return lists. */
function checkOperations(
  { selectors, handler, items }: Operation,
  byId: ReadonlyMap<string, Operation>,
): void {
  const lists = [
    ...(items?.form === 'topic names' ? [LIST_OF_TOPICS] : []),
    ...Object.values(selectors?.ids ?? {}).map(({ list }) => list),
    ...LISTED_SELECTORS.filter((name) => selectors?.queries[name] !== undefined).map(
      (name) => SELECTOR_LISTS[name],
    ),
  ]
  for (const list of lists)
    if (byId.get(list)?.items === undefined) throw new Error(`${list} is no operation that lists items`)
  if (handler === 'item counts' && byId.get(COUNT_OF_FILTER) === undefined)
    throw new Error(`${COUNT_OF_FILTER} is no operation of the table`)
}

/** Checks that the checks of an item come from an operation whose path names one entity by its id. */
function checkItemOperations({ handler }: Operation, byId: ReadonlyMap<string, Operation>): void {
  if (handler !== 'added variables') return
  for (const id of Object.values(ADDED_VARIABLES))
    if (byId.get(id)?.template.match(/:\w+/g)?.join() !== ':id')
      throw new Error(`${id} is not an operation on one entity`)
}
