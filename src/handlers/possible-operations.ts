import { ceilingPermits } from '../operations/ceilings.ts'
import type { LocatedContext } from '../pipeline/context.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import type { PossiblePermits } from '../explain/possible-permits.ts'

/** The caller of a description of operations. */
export type DescribedCaller = Pick<LocatedContext, 'engine' | 'principal'>

export interface AwaitedOperations {
  readonly caller: DescribedCaller
  /** Returns false if no client waits for the operations any more. */
  readonly isAwaited?: () => boolean
}

/**
 * Returns the operations of which the caller may be permitted some request, within the ceiling of the caller. Callers with the same
 * operations have the same key.
 * @throws GatewayError if the records are too old, or if the operations are not awaited any more
 */
export async function possibleOperations(
  { ceilingOf }: Pick<Dependencies, 'ceilingOf'>,
  { caller: { engine, principal }, isAwaited }: AwaitedOperations,
): Promise<PossiblePermits> {
  const possible = await engine.findPossiblePermits(principal, isAwaited)
  const ceiling = ceilingOf(principal)
  if (ceiling === 'all') return possible
  const ids = [...possible.operations].filter((id) => {
    const operation = engine.permits.get(id)?.operation
    return operation !== undefined && ceilingPermits(ceiling, operation)
  })
  return { operations: new Set(ids), key: `${possible.key} ${ceiling}` }
}
