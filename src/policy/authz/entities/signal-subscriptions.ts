import { bodyText } from '../../../request/body.ts'
import type { AccessRequest } from '../../../request/access-request.ts'
import { executionsIn } from './executions.ts'
import type { LookUps, ReadEngine } from './look-ups.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { type StartFinder, subscriptionsOf, tenantQueryOf } from './start-finder.ts'
import { stringOf } from '../../../request/value.ts'

/** Finds the executions that wait for a signal. Returns null if they cannot be determined. */
export async function findSignalled(
  { body, checkDeadline }: AccessRequest,
  options: LookUps & { readonly read: ReadEngine },
): Promise<readonly Attributes[] | null> {
  const subscription = queryOf(body)
  if (subscription === null) return null
  const items = await subscriptionsOf(options.read, { eventType: 'signal', ...subscription })
  const waiting = items.filter(({ executionId }) => stringOf(executionId) !== null)
  return executionsIn(waiting, 'executionId', { ...options, checkDeadline })
}

/** Finds the definitions that a signal starts. Returns null if they cannot be determined. */
export async function findSignalStarts(
  { body }: AccessRequest,
  starts: StartFinder,
): Promise<readonly Attributes[] | null> {
  const subscription = queryOf(body)
  return subscription === null ? null : starts.startedBy('signal', subscription)
}

function queryOf(body: unknown): Readonly<Record<string, string>> | null {
  const tenants = tenantQueryOf(body)
  if (tenants === null) return null
  const query = { eventName: bodyText(body, 'name') ?? '', ...tenants }
  const executionId = bodyText(body, 'executionId')
  return executionId === null ? query : { ...query, executionId }
}
