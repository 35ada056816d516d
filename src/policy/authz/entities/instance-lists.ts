import { GatewayError } from '../../../errors.ts'
import { isRecord, stringOf } from '../../../request/value.ts'
import type { ReadEngine } from './look-ups.ts'

/** Process instances by which rows are asked for. */
export interface InstanceLists {
  /** Ids of those that a query finds, running or of the history; null: there are more than `max`. */
  readonly instanceIds: (
    kind: 'process-instance' | 'history/process-instance',
    query: Readonly<Record<string, unknown>>,
    max: number,
  ) => Promise<readonly string[] | null>
}

/** Rows read at once, of which the ids are kept. */
const PAGE = 5000

/** Lists of one engine's process instances. */
export function createInstanceLists(read: ReadEngine): InstanceLists {
  return {
    async instanceIds(kind, query, max) {
      const ids: string[] = []
      for (let from = 0; ids.length <= max; from += PAGE) {
        const rows = await read(`/${kind}?firstResult=${from}&maxResults=${PAGE}`, query)
        // A refusal is not the same as no rows.
        if (!Array.isArray(rows)) throw new GatewayError('GW_UPSTREAM_INVALID')
        for (const row of rows) {
          const id = isRecord(row) ? stringOf(row['id']) : null
          if (id === null) throw new GatewayError('GW_UPSTREAM_INVALID')
          ids.push(id)
        }
        if (rows.length < PAGE) return ids
      }
      return null
    },
  }
}
