import { objectMembersOf, serializedValuesOf } from '../operations/serialized-values.ts'
import type { Operation } from '../operations/table.ts'
import type { AccessRequest } from '../request/access-request.ts'
import type { Stage } from './stage.ts'

/** A rule that has changed the query string or the body of a request, instead of refusing the request. */
export interface QueryChange {
  readonly rule: 'deserialization' | 'limits.maxResults'
  /** The stage that would otherwise refuse the request. */
  readonly stage: Stage
  /** Whether the request contained another value. False if it left the parameter out. */
  readonly isReplacement: boolean
}

/** The change of a body: a value for which the engine would create objects was removed or replaced. */
export const BODY_CHANGE: QueryChange = { rule: 'deserialization', stage: 'body', isReplacement: true }

/** Returns the rules that have changed a query string, by its parameters before and after. */
export function queryChangesOf(
  { id }: Pick<Operation, 'id'>,
  received: AccessRequest['query'],
  sent: AccessRequest['query'],
): readonly QueryChange[] {
  const isChanged = (name: string): boolean => received.get(name) !== sent.get(name)
  const rules = [
    { rule: 'limits.maxResults', stage: 'rules', names: ['maxResults'] },
    {
      rule: 'deserialization',
      stage: 'body',
      names: [...serializedValuesOf(id).map(([name]) => name), ...objectMembersOf(id)],
    },
  ] as const
  return rules.flatMap(({ rule, stage, names }) => {
    const changed = names.filter(isChanged)
    return changed.length === 0
      ? []
      : [{ rule, stage, isReplacement: changed.some((name) => received.has(name)) }]
  })
}
