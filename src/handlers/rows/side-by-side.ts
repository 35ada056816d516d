/** Requests for one answer that are under way at once. */
const SIDE_BY_SIDE = 4

/** Asks for several things at once, up to a limit. After a failure nothing more is asked. */
export async function mapSideBySide<T, R>(
  items: readonly T[],
  ask: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const answers: R[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at]
      if (item === undefined) continue
      try {
        answers[at] = await ask(item)
      } catch (error) {
        next = items.length
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(SIDE_BY_SIDE, items.length) }, work))
  return answers
}
