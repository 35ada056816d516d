import { isRecord } from '../../request/value.ts'
import type { ReadEngine } from '../../policy/authz/entities/look-ups.ts'
import { CASES_MS, FIRST_READ_ITEMS } from '../limits.ts'

/** Reads the keys of the case definitions in an engine. Null if there are too many to read. */
export type CaseKeys = () => Promise<readonly string[] | null>

/**
 * Creates a cached reader of the case keys. Every caller sees the tasks and variables of cases. A query can select the tasks
 * of one key in addition to those that the records name, but not of several keys. If there are no cases, any query can be
 * narrowed.
 */
export function createCaseProbe(read: ReadEngine, now: () => number): CaseKeys {
  let loaded: { readonly at: number; readonly keys: ReturnType<CaseKeys> } | null = null
  return () => {
    if (loaded === null || now() - loaded.at > CASES_MS) {
      const keys = keysIn(read)
      keys.catch(() => (loaded = null))
      loaded = { at: now(), keys }
    }
    return loaded.keys
  }
}

async function keysIn(read: ReadEngine): ReturnType<CaseKeys> {
  const counted = await read('/case-definition/count')
  if (!isRecord(counted) || counted['count'] === 0) return []
  const rows = await read(`/case-definition?latestVersion=true&maxResults=${FIRST_READ_ITEMS}`)
  if (!Array.isArray(rows) || rows.length === 0 || rows.length === FIRST_READ_ITEMS) return null
  const keys = rows.map((row: unknown) => (isRecord(row) ? row['key'] : null))
  return keys.every((key) => typeof key === 'string') ? [...new Set(keys)] : null
}
