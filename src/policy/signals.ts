import { bodyText, bodyValue } from './asked.ts'
import type { Asked } from './asked.ts'
import type { Facts, LookUp, ReadEngine } from './lookup.ts'
import { rowsOf, type StartFinder, textOf } from './starts.ts'

interface SignalOptions {
  readonly read: ReadEngine
  readonly lookUp: LookUp
  readonly starts: StartFinder
}

/** Whom a signal reaches: the executions that wait for it, and the definitions it starts. */
export class SignalFinder {
  readonly #options: SignalOptions

  constructor(options: SignalOptions) {
    this.#options = options
  }

  async executions(asked: Asked): Promise<readonly Facts[]> {
    const waiting = (await this.#subscriptions(asked)).filter(({ executionId }) => executionId !== null)
    const found = await Promise.all(
      waiting.map(({ executionId }) => this.#options.lookUp('execution', executionId ?? '')),
    )
    return found.filter((facts) => facts !== null)
  }

  /** Null: a start subscription fits no definition that was searched, so nothing can be said about it. */
  async starts(asked: Asked): Promise<readonly Facts[] | null> {
    const subscriptions = await this.#subscriptions(asked)
    return this.#options.starts.definitionsOf(subscriptions.filter(({ executionId }) => executionId === null))
  }

  async #subscriptions({ body }: Asked): Promise<readonly Facts[]> {
    const query = new URLSearchParams({ eventType: 'signal', eventName: bodyText(body, 'name') ?? '' })
    const executionId = bodyText(body, 'executionId')
    const tenantId = bodyText(body, 'tenantId')
    if (executionId !== null) query.set('executionId', executionId)
    if (tenantId !== null) query.set('tenantIdIn', tenantId)
    if (bodyValue(body, 'withoutTenantId') === true) query.set('withoutTenantId', 'true')
    const rows = rowsOf(await this.#options.read(`/event-subscription?${query}`))
    return rows.map((row) => ({
      executionId: textOf(row['executionId']),
      activityId: textOf(row['activityId']),
      tenantId: textOf(row['tenantId']),
    }))
  }
}
