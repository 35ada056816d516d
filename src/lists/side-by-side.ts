import { MAX_PARALLEL_READS } from './limits.ts'

/** Calls `ask` for several items concurrently, up to a limit. After a failure no further call starts. */
export async function mapSideBySide<T, R>(
  items: readonly T[],
  ask: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const responses: R[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at]
      if (item === undefined) continue
      try {
        responses[at] = await ask(item)
      } catch (error) {
        next = items.length
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL_READS, items.length) }, work))
  return responses
}
