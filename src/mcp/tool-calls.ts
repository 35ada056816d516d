import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** A call of a tool, and the request of the client that called it. */
export interface ToolCall {
  /** The name of the tool. */
  readonly tool: string
  readonly client: IncomingMessage
}

/**
 * The calls whose requests run in this process, by the connection of the request. Only this process writes to the map, so no header of
 * a client can claim that a request is the call of a tool.
 */
export type ToolCalls = WeakMap<object, ToolCall>

/**
 * Returns the connection of the client, which has its certificate. The request of a tool has a connection in memory, and its client is
 * the one that called the tool.
 */
export function clientSocketOf({ socket }: IncomingMessage, calls: ToolCalls | undefined): Socket {
  return calls?.get(socket)?.client.socket ?? socket
}
