import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Why two connected sockets were closed. `peer`: the client or the node closed the connection. */
export type SocketEnd = 'peer' | 'idle' | 'age' | 'revoked' | 'drain'

/** How long one side may deliver its last bytes after the other side has ended. */
const LINGER_MS = 5000

interface SpliceOptions {
  readonly client: Socket
  readonly node: Duplex
  /** The longest time without a byte in either direction. */
  readonly idleMs: number
  /** Called for each part that the node sent, with its length. */
  readonly onBytes: (length: number) => void
  /** Called once, when both sockets are closed. */
  readonly onEnd: (end: SocketEnd) => void
}

/**
 * Connects two sockets. Each side is read only as fast as the other side accepts the bytes, and the bytes are not interpreted.
 * Returns a function that closes both.
 */
export function spliceSockets({
  client,
  node,
  idleMs,
  onBytes,
  onEnd,
}: SpliceOptions): (end: SocketEnd) => void {
  let open = 2
  let reason: SocketEnd = 'peer'
  let linger: NodeJS.Timeout | undefined

  function cut(): void {
    client.destroy()
    node.destroy()
  }

  function limitTime(): void {
    linger ??= setTimeout(cut, LINGER_MS)
  }

  function onClose(other: Socket | Duplex): void {
    open -= 1
    if (open > 0) {
      limitTime()
      if (!other.writableEnded) other.end()
      return
    }
    clearTimeout(linger)
    onEnd(reason)
  }

  /** Ends the connection of the client after the bytes that were already written. */
  function close(end: SocketEnd): void {
    if (linger !== undefined || open < 2) return
    reason = end
    limitTime()
    client.unpipe(node)
    node.unpipe(client)
    node.destroy()
    client.destroySoon()
  }

  for (const [one, other] of [
    [client, node],
    [node, client],
  ] as const) {
    one.on('error', () => one.destroy())
    one.once('end', limitTime)
    // A socket that is already closed emits no further event.
    if (one.closed) queueMicrotask(() => onClose(other))
    else one.once('close', () => onClose(other))
  }
  client.setTimeout(idleMs, () => close('idle'))
  node.on('data', (chunk: Buffer) => onBytes(chunk.length))
  client.pipe(node)
  node.pipe(client)
  if (client.destroyed || node.destroyed) cut()
  return close
}
