/** The same seed gives the same choices, in every run and on every machine. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A generator of its own for one part, so that leaving out another part changes nothing here. */
  static of(seed: number, part: number): Random {
    return new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(part + 1, 0x85ebca6b))
  }

  /** From 0 to 1, without 1: mulberry32. */
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

  /** @throws Error when there is nothing to pick from */
  pick<T>(from: readonly T[]): T {
    const picked = from[this.below(from.length)]
    if (picked === undefined) throw new Error('There is nothing to pick from')
    return picked
  }

  /** Up to `count` different members, in random order. */
  sample<T>(from: readonly T[], count: number): T[] {
    const rest = [...from]
    const picked: T[] = []
    while (picked.length < count && rest.length > 0) picked.push(...rest.splice(this.below(rest.length), 1))
    return picked
  }
}
