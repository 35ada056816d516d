import { isRecord } from '../../request/value.ts'
import { RENEWAL_SHARE } from '../../request/renewal-share.ts'
import type { ReadEngine } from '../../policy/authz/entities/look-ups.ts'
import { CASES_MS, FIRST_READ_ITEMS } from '../limits.ts'

/** Reads the keys of the case definitions in an engine. Null if there are too many to read. */
export type CaseKeys = () => Promise<readonly string[] | null>

/**
 * Creates a cached reader of the case keys. After 70 % of their time, a use reads them again in the background. Every caller sees the
 * tasks and variables of cases. A query can select the tasks of one key in addition to those that the records name, but not of
 * several keys. If there are no cases, any query can be narrowed.
 */
export function createCaseProbe(read: ReadEngine, now: () => number): CaseKeys {
  let loaded: LoadedKeys | null = null
  /** The keys for which a renewal was tried, so that a failure is not repeated. */
  let renewed: LoadedKeys | null = null

  async function renew(before: LoadedKeys): Promise<void> {
    if (renewed === before) return
    renewed = before
    const at = now()
    try {
      const keys = await keysIn(read)
      if (loaded === before) loaded = { at, keys: Promise.resolve(keys) }
    } catch {
      // The first request after CASES_MS reads the keys again, and reports the failure.
    }
  }

  return () => {
    const ageMs = loaded === null ? Number.POSITIVE_INFINITY : now() - loaded.at
    if (loaded === null || ageMs > CASES_MS) {
      const keys = keysIn(read)
      keys.catch(() => (loaded = null))
      loaded = { at: now(), keys }
    } else if (ageMs > RENEWAL_SHARE * CASES_MS) void renew(loaded)
    return loaded.keys
  }
}

interface LoadedKeys {
  /** The beginning of the read. */
  readonly at: number
  readonly keys: ReturnType<CaseKeys>
}

async function keysIn(read: ReadEngine): ReturnType<CaseKeys> {
  const counted = await read('/case-definition/count')
  if (!isRecord(counted) || counted['count'] === 0) return []
  const items = await read(`/case-definition?latestVersion=true&maxResults=${FIRST_READ_ITEMS}`)
  if (!Array.isArray(items) || items.length === 0 || items.length === FIRST_READ_ITEMS) return null
  const keys = items.map((item: unknown) => (isRecord(item) ? item['key'] : null))
  return keys.every((key) => typeof key === 'string') ? [...new Set(keys)] : null
}
