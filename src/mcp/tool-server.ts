import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import type { ServerEvent, Tool } from '@modelcontextprotocol/server'
import type { ToolDescription } from './operation-tools.ts'
import type { ToolResult } from './tool-result.ts'

/** One message of a client, and the functions that serve its caller. */
export interface ToolMessage {
  /** The address of the endpoint. */
  readonly url: string
  /** The headers that the protocol reads. */
  readonly headers: Readonly<Record<string, string>>
  /** The message. It is one JSON object, and no list of messages. */
  readonly message: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  /** Returns the tools that the caller may use. */
  readonly list: () => Promise<readonly ToolDescription[]>
  /** Calls the tool that the message names. Null if there is no such tool. */
  readonly call: () => Promise<ToolResult | null>
}

/** The response to a message. */
export interface ServedMessage {
  readonly response: Response
  /** Notifies the client that its tools have changed, if the message has opened a stream. */
  readonly notify: () => void
  /** Ends the stream that the message has opened. */
  readonly end: () => void
}

/** Serves one message. This module is loaded only if the endpoint is configured, because it loads the SDK of the protocol. */
export type ServeToolMessage = (message: ToolMessage) => Promise<ServedMessage>

export interface ToolServerOptions {
  readonly version: string
  readonly keepAliveMs: number
  readonly maxBodyBytes: number
  readonly onError: (error: Error) => void
}

const INSTRUCTIONS =
  'The tools are operations of a process engine. The list has only tools that the caller may use for some arguments. ' +
  'A result that is too long is cut, and says so.'

/** The server asks clients for nothing, so it validates no responses. */
const NO_VALIDATOR = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'not supported' }) as const,
}

/**
 * Creates a server without sessions: each message is served alone, so every process and every replica can serve it, and nothing of a
 * caller is kept.
 */
export function createToolServer({
  version,
  keepAliveMs,
  maxBodyBytes,
  onError,
}: ToolServerOptions): ServeToolMessage {
  return async ({ url, headers, message, signal, list, call }) => {
    const listeners = new Set<(event: ServerEvent) => void>()
    const bus = {
      publish: (event: ServerEvent) => listeners.forEach((listener) => listener(event)),
      subscribe: (listener: (event: ServerEvent) => void) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    }
    const handler = createMcpHandler(
      () => {
        const server = new Server(
          { name: 'engine-gateway', version },
          {
            capabilities: { tools: { listChanged: true } },
            instructions: INSTRUCTIONS,
            jsonSchemaValidator: NO_VALIDATOR,
          },
        )
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK declares the schema of arguments with mutable lists
        server.setRequestHandler('tools/list', async () => ({ tools: (await list()) as unknown as Tool[] }))
        server.setRequestHandler('tools/call', async ({ params: { name } }) => {
          const result = await call()
          if (result === null)
            throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name.slice(0, 64)}`)
          return { ...result }
        })
        return server
      },
      { bus, keepAliveMs, maxRequestBodySize: maxBodyBytes, onerror: onError },
    )
    const request = new Request(url, { method: 'POST', headers, signal })
    return {
      response: await handler.fetch(request, { parsedBody: message }),
      notify: () => handler.notify.toolsChanged(),
      end: () => void handler.close().catch(onError),
    }
  }
}
