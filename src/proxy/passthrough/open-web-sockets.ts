import type { SocketEnd } from './splice-sockets.ts'

export interface WebSocketLimits {
  /** The number of open sockets of the application, and of one user. */
  readonly open: number
  readonly perUser: number
  /** The longest time without a byte in either direction. */
  readonly idleMs: number
  /** The age after which a socket is closed. */
  readonly maxAgeMs: number
}

/** Why no socket can be opened. */
export type NoPlace = 'draining' | 'application' | 'user'

export interface OpenWebSocket {
  readonly close: (end: SocketEnd) => void
  /**
   * Resolves to false if a new request of the client would be refused. It rejects if this is not known now, for example because the
   * source of users does not respond.
   */
  readonly isPermitted: () => Promise<boolean>
}

/** The place of one socket, from its handshake to its end. */
export interface SocketPlace {
  /** Watches the socket that was opened. */
  readonly watch: (socket: OpenWebSocket) => void
  /** Frees the place and ends the watch. It has an effect only once. */
  readonly release: () => void
}

interface WatchedSocket extends OpenWebSocket {
  readonly openedAtMs: number
  permittedAtMs: number
  /** Whether a check of the caller is in progress. */
  isChecked: boolean
}

/** How often the age and the caller of each socket are checked. */
const CHECK_EVERY_MS = 5000
/** How long a socket stays open while it is not known whether its caller is still permitted. */
const UNKNOWN_MS = 60_000

/** The open WebSockets of one application in one process, with their limits. */
export class OpenWebSockets {
  readonly limits: WebSocketLimits
  readonly #now: () => number
  /** Handshakes in progress and open sockets by user. Each of them counts. */
  readonly #places = new Map<string, number>()
  readonly #sockets = new Set<WatchedSocket>()
  #taken = 0
  #isDraining = false
  #timer: NodeJS.Timeout | undefined

  constructor(limits: WebSocketLimits, now: () => number = () => performance.now()) {
    this.limits = limits
    this.#now = now
  }

  get size(): number {
    return this.#sockets.size
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** Takes a place for a handshake and its socket. Returns the reason if no place is free. */
  take(user: string): SocketPlace | NoPlace {
    if (this.#isDraining) return 'draining'
    if (this.#taken >= this.limits.open) return 'application'
    const own = this.#places.get(user) ?? 0
    if (own >= this.limits.perUser) return 'user'
    this.#taken += 1
    this.#places.set(user, own + 1)
    let isReleased = false
    let watched: WatchedSocket | null = null
    return {
      watch: (socket) => {
        if (!isReleased) watched = this.#watch(socket)
      },
      release: () => {
        if (isReleased) return
        isReleased = true
        this.#free(user)
        if (watched !== null) this.#forget(watched)
      },
    }
  }

  /** Closes the sockets that are too old, and those whose callers are no longer permitted. */
  check(): void {
    for (const socket of this.#sockets) {
      if (this.#now() - socket.openedAtMs >= this.limits.maxAgeMs) socket.close('age')
      else if (!socket.isChecked) void this.#checkCaller(socket)
      else this.#closeIfUnknown(socket)
    }
  }

  /** Refuses new sockets, and closes each open one at a random time within `withinMs`, so that clients do not all reconnect at once. */
  drain(withinMs: number, random: () => number = Math.random): void {
    if (this.#isDraining) return
    this.#isDraining = true
    for (const socket of this.#sockets) setTimeout(() => socket.close('drain'), random() * withinMs).unref()
  }

  /** Refuses new sockets, and closes all open ones. */
  stop(): void {
    this.#isDraining = true
    for (const socket of this.#sockets) socket.close('drain')
  }

  #free(user: string): void {
    const left = (this.#places.get(user) ?? 0) - 1
    this.#taken -= 1
    if (left > 0) this.#places.set(user, left)
    else this.#places.delete(user)
  }

  #watch(socket: OpenWebSocket): WatchedSocket {
    const nowMs = this.#now()
    const watched = { ...socket, openedAtMs: nowMs, permittedAtMs: nowMs, isChecked: false }
    this.#sockets.add(watched)
    this.#timer ??= setInterval(() => this.check(), CHECK_EVERY_MS).unref()
    return watched
  }

  #forget(watched: WatchedSocket): void {
    this.#sockets.delete(watched)
    if (this.#sockets.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #checkCaller(socket: WatchedSocket): Promise<void> {
    socket.isChecked = true
    try {
      if (await socket.isPermitted()) socket.permittedAtMs = this.#now()
      else socket.close('revoked')
    } catch {
      this.#closeIfUnknown(socket)
    }
    socket.isChecked = false
  }

  #closeIfUnknown({ permittedAtMs, close }: WatchedSocket): void {
    if (this.#now() - permittedAtMs >= UNKNOWN_MS) close('revoked')
  }
}
