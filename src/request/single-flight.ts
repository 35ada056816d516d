interface Flight<Value, State> {
  readonly state: State
  readonly result: Promise<Value>
}

/** Running calls by key. A caller can share the result of a running call. There are no more calls than callers that wait for them. */
export class SingleFlight<Value, State = null> {
  readonly #flights = new Map<string, Flight<Value, State>>()

  /** Returns the running call for a key, with the state at its start. */
  running(key: string): Flight<Value, State> | undefined {
    return this.#flights.get(key)
  }

  /** Starts a call that later callers find. It replaces a running call for the same key. */
  begin(key: string, state: State, call: () => Promise<Value>): Promise<Value> {
    const flight = {
      state,
      result: call().finally(() => {
        if (this.#flights.get(key) === flight) this.#flights.delete(key)
      }),
    }
    this.#flights.set(key, flight)
    return flight.result
  }

  /**
   * Removes calls, so that later callers do not find them. Callers that already wait still get the result. Returns the states of
   * the removed calls.
   */
  abandon(isAffected: (state: State) => boolean): readonly State[] {
    const abandoned = [...this.#flights].filter(([, { state }]) => isAffected(state))
    for (const [key] of abandoned) this.#flights.delete(key)
    return abandoned.map(([, { state }]) => state)
  }
}

/**
 * Returns a function that never runs twice at the same time. A call during a run shares the next run, because the current run may
 * have begun before the change that the caller needs.
 */
export function oneAfterAnother<Args extends readonly unknown[], Result>(
  run: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  let running: Promise<Result> | null = null
  let next: Promise<Result> | null = null
  return function runOrShare(...args) {
    if (running === null) {
      running = run(...args).finally(() => (running = null))
      return running
    }
    next ??= running.then(again, again)
    return next
    function again(): Promise<Result> {
      next = null
      return runOrShare(...args)
    }
  }
}
