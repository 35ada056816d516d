/** What is at hand, or comes. Nearly every request is decided by what is at hand. */
export type Soon<T> = T | Promise<T>

/** Goes on at once with what is at hand: no promise, and what `go` throws is thrown. */
export function andThen<T, U>(value: Soon<T>, go: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(go) : go(value)
}
