/** Processes a list. Up to `width` items are processed at the same time. */
export async function inParallel<T>(
  list: readonly T[],
  width: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const rest = list.values()
  const worker = async (): Promise<void> => {
    for (const one of rest) await work(one)
  }
  await Promise.all(Array.from({ length: width }, worker))
}
