import type { CheckName, OperationCheck } from '../../operations/notation.ts'
import type { Operation } from '../../operations/table.ts'
import { BODIES, QUERIES } from './schemas/contracts.ts'
import type { ValidationRule } from './schemas/engine-error.ts'

/** A place among the permission checks of an operation: after so many of them, or before the refusal of the check with this index. */
export type RuleStage = number | `refusal of ${number}`

type Checks = readonly Pick<OperationCheck, 'name' | 'after'>[]

/** Returns the stage of a rule of an operation with these checks. @throws Error if no check has the name to which the rule refers */
export function stageOf({ after, beforeRefusalOf }: Omit<ValidationRule, 'find'>, checks: Checks): RuleStage {
  if (beforeRefusalOf !== undefined) return `refusal of ${indexOf(beforeRefusalOf, checks)}`
  if (after === 'all checks') return checkCountOf(checks)
  return after === undefined ? 0 : indexOf(after, checks) + 1
}

/** Returns the number of checks that run before the engine's response. */
export function checkCountOf(checks: Checks): number {
  return checks.filter(({ after }) => after !== true).length
}

function indexOf(name: CheckName, checks: Checks): number {
  const index = checks.findIndex((check) => check.name === name)
  if (index === -1)
    throw new Error(`a validation rule refers to the check "${name}", which the operation does not have`)
  return index
}

/**
 * Checks that the validation rules of an operation refer to checks that the operation has.
 * @throws Error if a rule refers to an unknown check, or if two checks have the same name
 */
export function assertRulesFit({ checks, body, query }: Pick<Operation, 'checks' | 'body' | 'query'>): void {
  const names = checks.flatMap(({ name }) => (name === undefined ? [] : [name]))
  if (new Set(names).size < names.length)
    throw new Error(`two checks have the same name: ${names.join(', ')}`)
  const ofBody = body === undefined ? [] : [{ after: BODIES[body].readAfter }, ...BODIES[body].rules]
  const ofQuery = query === undefined ? [] : [{ after: QUERIES[query].readAfter }]
  for (const rule of [...ofBody, ...ofQuery]) stageOf(rule, checks)
}
