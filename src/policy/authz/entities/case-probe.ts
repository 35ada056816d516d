import { isRecord } from '../../../request/value.ts'
import type { ReadEngine } from './look-ups.ts'

/** How long an answer counts: a case definition deployed meanwhile is noticed that much later. */
const REMEMBER_MS = 2000

/**
 * Whether the engine has case definitions at all. Everybody sees the tasks and variables of cases, and no query can ask for
 * them beside those that the records name; where there are none, a query can be narrowed.
 */
export function createCaseProbe(read: ReadEngine, now: () => number): () => Promise<boolean> {
  let loaded: { readonly at: number; readonly hasCases: Promise<boolean> } | null = null
  return () => {
    if (loaded === null || now() - loaded.at > REMEMBER_MS) {
      const hasCases = read('/case-definition/count').then(
        (answer) => isRecord(answer) && answer['count'] !== 0,
      )
      hasCases.catch(() => (loaded = null))
      loaded = { at: now(), hasCases }
    }
    return loaded.hasCases
  }
}
