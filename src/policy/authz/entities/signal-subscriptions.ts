import { bodyText } from '../../../request/body.ts'
import type { AccessRequest } from '../../../request/access-request.ts'
import { executionsIn } from './executions.ts'
import type { LookUps, ReadEngine } from './look-ups.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { type StartFinder, subscriptionsOf, tenantQueryOf } from './start-finder.ts'
import { stringOf } from '../../../request/value.ts'

interface SignalOptions extends LookUps {
  readonly read: ReadEngine
  readonly starts: StartFinder
}

/** Finds the executions that wait for a signal, and the definitions that it starts. */
export class SignalFinder {
  readonly #options: SignalOptions

  constructor(options: SignalOptions) {
    this.#options = options
  }

  /** Returns null if the executions cannot be determined. */
  async executions({ body, checkDeadline }: AccessRequest): Promise<readonly Attributes[] | null> {
    const subscription = queryOf(body)
    if (subscription === null) return null
    const items = await subscriptionsOf(this.#options.read, { eventType: 'signal', ...subscription })
    const waiting = items.filter(({ executionId }) => stringOf(executionId) !== null)
    return executionsIn(waiting, 'executionId', { ...this.#options, checkDeadline })
  }

  /** Returns null if the definitions that the signal starts cannot be determined. */
  async starts({ body }: AccessRequest): Promise<readonly Attributes[] | null> {
    const subscription = queryOf(body)
    return subscription === null ? null : this.#options.starts.startedBy('signal', subscription)
  }
}

function queryOf(body: unknown): Readonly<Record<string, string>> | null {
  const tenants = tenantQueryOf(body)
  if (tenants === null) return null
  const query = { eventName: bodyText(body, 'name') ?? '', ...tenants }
  const executionId = bodyText(body, 'executionId')
  return executionId === null ? query : { ...query, executionId }
}
