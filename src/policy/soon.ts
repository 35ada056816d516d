/** What is at hand, or comes: a decision that need not wait is not made to, which would cost it two microseconds. */
export type Soon<T> = T | Promise<T>

export function andThen<T, U>(value: Soon<T>, go: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(go) : go(value)
}
