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

  async executions({ body }: Asked): Promise<readonly Facts[]> {
    const query = new URLSearchParams({ eventType: 'signal', ...queryOf(body) })
    const rows = rowsOf(await this.#options.read(`/event-subscription?${query}`))
    const ids = rows.flatMap(({ executionId }) => textOf(executionId) ?? [])
    const found = await Promise.all(ids.map(async (id) => this.#options.lookUp('execution', id)))
    return found.filter((facts) => facts !== null)
  }

  /** Null: it cannot be told which definitions it starts. */
  starts({ body }: Asked): Promise<readonly Facts[] | null> {
    return this.#options.starts.startedBy('signal', queryOf(body))
  }
}

function queryOf(body: unknown): Readonly<Record<string, string>> {
  const query: Record<string, string> = { eventName: bodyText(body, 'name') ?? '' }
  const executionId = bodyText(body, 'executionId')
  const tenantId = bodyText(body, 'tenantId')
  if (executionId !== null) query['executionId'] = executionId
  if (tenantId !== null) query['tenantIdIn'] = tenantId
  if (bodyValue(body, 'withoutTenantId') === true) query['withoutTenantId'] = 'true'
  return query
}
