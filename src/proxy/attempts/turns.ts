import { type Node as ListNode, Yallist } from 'yallist'

interface Waiting {
  /** The id of the caller. Undefined for a request of the gateway itself. */
  readonly user?: string | undefined
}

/**
 * The order in which waiting requests start. Users take turns, so that the requests of one user do not delay all others. The requests
 * of one user keep their order. Requests of the gateway itself are needed for the decisions about all users. Therefore they alternate
 * with the requests of users.
 */
export class Turns<T extends Waiting> {
  /** The first user is the next. */
  readonly #byUser = new Map<string, Yallist<T>>()
  readonly #own = new Yallist<T>()
  #isOwnNext = true

  add(place: ListNode<T>): void {
    const { user } = place.value
    const others = user === undefined ? this.#own : (this.#byUser.get(user) ?? new Yallist<T>())
    others.pushNode(place)
    if (user !== undefined) this.#byUser.set(user, others)
  }

  delete(place: ListNode<T>): void {
    const { list, value } = place
    list?.removeNode(place)
    if (value.user !== undefined && list?.length === 0) this.#byUser.delete(value.user)
  }

  /** Ends the turn of the user whose request has started. */
  onStarted({ user }: T): void {
    this.#isOwnNext = user !== undefined
    const others = user === undefined ? undefined : this.#byUser.get(user)
    if (user === undefined || others === undefined) return
    this.#byUser.delete(user)
    this.#byUser.set(user, others)
  }

  /** Yields the requests of the user whose turn is the next, then those of the user after it. */
  *inOrder(): Generator<T> {
    if (this.#isOwnNext) yield* this.#own
    for (const requests of this.#byUser.values()) yield* requests
    if (!this.#isOwnNext) yield* this.#own
  }

  /**
   * Returns the newest request of the user with the most requests. Returns null if no user has more requests than the user of `waiting`
   * would have.
   */
  replaceableBy({ user }: T): T | null {
    const mine = user === undefined ? this.#own : this.#byUser.get(user)
    let longest = new Yallist<T>()
    for (const requests of this.#byUser.values()) if (requests.length > longest.length) longest = requests
    return longest.length > (mine?.length ?? 0) + 1 ? (longest.tail?.value ?? null) : null
  }
}
