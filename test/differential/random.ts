/** A generator of random choices. The same seed gives the same choices in every run and on every machine. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Returns a separate generator for one part, so that the choices of this part do not depend on other parts. */
  static of(seed: number, part: number): Random {
    return new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(part + 1, 0x85ebca6b))
  }

  /** Returns a number from 0 to 1, excluding 1. The algorithm is mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** Returns a random item. @throws Error if the list is empty */
  pick<T>(from: readonly T[]): T {
    const picked = from[this.below(from.length)]
    if (picked === undefined) throw new Error('There is nothing to pick from')
    return picked
  }

  /** Returns up to `count` different items in random order. */
  sample<T>(from: readonly T[], count: number): T[] {
    const rest = [...from]
    const picked: T[] = []
    while (picked.length < count && rest.length > 0) picked.push(...rest.splice(this.below(rest.length), 1))
    return picked
  }
}
