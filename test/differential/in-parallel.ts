/** Works through a list, some at a time. */
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
