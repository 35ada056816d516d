import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Test } from 'tap'
import { authorizationOf } from './open-gateway.ts'

/** The result of a call, as far as tests need it. */
export interface CalledTool {
  readonly isError: boolean
  /** The texts of the content. */
  readonly texts: readonly string[]
  readonly structured: unknown
}

/** A client of the official SDK that is connected as a user. */
export interface ToolClient {
  readonly client: Client
  readonly names: () => Promise<readonly string[]>
  readonly call: (name: string, args?: Readonly<Record<string, unknown>>) => Promise<CalledTool>
}

export interface ToolClientOptions {
  /** Default: `/mcp`. */
  readonly path?: string
  readonly authorization?: string
  /** `auto`: the newest version of the protocol that both sides know. Default: the version with a handshake. */
  readonly mode?: 'legacy' | 'auto'
  readonly onToolsChanged?: () => void
}

/** Connects a client. It ends with the test. */
export async function connectTools(
  t: Test,
  origin: string,
  user: string,
  {
    path = '/mcp',
    authorization = authorizationOf(user),
    mode = 'legacy',
    onToolsChanged,
  }: ToolClientOptions = {},
): Promise<ToolClient> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      versionNegotiation: { mode },
      ...(onToolsChanged === undefined
        ? {}
        : { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } } }),
    },
  )
  const transport = new StreamableHTTPClientTransport(new URL(origin + path), {
    requestInit: { headers: { authorization } },
  })
  t.teardown(() => client.close())
  await client.connect(transport)
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => {
      const {
        isError = false,
        content,
        structuredContent,
      } = await client.callTool({ name, arguments: { ...args } })
      const texts = content.flatMap((one) => (one.type === 'text' ? [one.text] : []))
      return { isError, texts, structured: structuredContent }
    },
  }
}
