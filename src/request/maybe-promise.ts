/** What is at hand, or comes. Nearly every request is decided by what is at hand. */
export type MaybePromise<T> = T | Promise<T>

/** Goes on at once with what is at hand: no promise, and what `go` throws is thrown. */
export function chain<T, U>(value: MaybePromise<T>, go: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(go) : go(value)
}
