interface Flight<Value, State> {
  readonly state: State
  readonly result: Promise<Value>
}

/** Calls under way by key: who asks while one runs may share its result. They are bounded by what waits for them. */
export class SingleFlight<Value, State = null> {
  readonly #flights = new Map<string, Flight<Value, State>>()

  /** The call that runs for a key, and the state it was begun with. */
  running(key: string): Flight<Value, State> | undefined {
    return this.#flights.get(key)
  }

  /** Begins a call that later callers find, in the place of one that runs for the key. */
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

  /** Those who wait get the result all the same; later callers do not find these calls. Returns their states. */
  abandon(isAffected: (state: State) => boolean): readonly State[] {
    const abandoned = [...this.#flights].filter(([, { state }]) => isAffected(state))
    for (const [key] of abandoned) this.#flights.delete(key)
    return abandoned.map(([, { state }]) => state)
  }
}

/** One run after the other. Who calls during a run, which may have begun before what is to be seen, shares the next one. */
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
