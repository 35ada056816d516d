/** A value or a promise of it. Nearly every request is decided without a promise. */
export type MaybePromise<T> = T | Promise<T>

/** Calls `go` at once if the value is not a promise. In this case it creates no promise, and an error of `go` is thrown. */
export function chain<T, U>(value: MaybePromise<T>, go: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(go) : go(value)
}
