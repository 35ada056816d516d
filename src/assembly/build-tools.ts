import { withoutMessages } from '../request/logged-causes.ts'
import { setImmediate } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { MCP_PATH } from '../config/mcp-settings.ts'
import type { Logger } from '../log.ts'
import { createTools } from '../mcp/operation-tools.ts'
import type { ToolEndpoint } from '../mcp/tool-endpoint.ts'
import type { ToolMessage } from '../mcp/tool-server.ts'
import { KEEP_ALIVE_MS, ToolStreams } from '../mcp/tool-streams.ts'
import { OPERATIONS } from '../operations/all.ts'
import { isToolOperation } from '../operations/tool-operations.ts'
import type { Component } from '../component.ts'
import { acceptedTokensOf } from './token-issuers.ts'

interface ToolEndpointSettings {
  readonly config: Config
  readonly log: Logger
  readonly version: string
  /** Returns whether another configuration is in force. */
  readonly isReplaced: () => boolean
}

/** Loads the SDK only here, so that it costs neither memory nor time if no tools are configured. */
export async function buildToolEndpoint({
  config,
  log,
  version,
  isReplaced,
}: ToolEndpointSettings): Promise<ToolEndpoint | null> {
  if (config.mcp === null) return null
  const { open, perUser, maxAge: maxAgeMs } = config.mcp.streams
  const { createToolServer } = await import('../mcp/tool-server.ts')
  return {
    tools: await createTools(OPERATIONS, config.mcp.tools, config.mcp),
    calls: new WeakMap(),
    issuers: new Map(
      Object.entries(config.engines).map(([name, engine]) => [
        name,
        (acceptedTokensOf(config, engine)?.issuers ?? []).map(({ issuer }) => issuer),
      ]),
    ),
    streams: new ToolStreams({ limits: { open, perUser, maxAgeMs }, isReplaced }),
    serve: createToolServer({
      version,
      keepAliveMs: KEEP_ALIVE_MS,
      maxBodyBytes: config.limits.body,
      onError: (error) =>
        log.debug({ err: withoutMessages(error) }, 'a message of a client of tools was not served'),
    }),
  }
}

/**
 * The number of tools in each list that the preparation writes. V8 compiles the code while it writes the short lists, so the long lists
 * do not take long either.
 */
const PREPARED_LISTS = [1, 20, 100, Infinity]
const PREPARED_MESSAGE: Omit<ToolMessage, 'list' | 'signal'> = {
  url: `http://localhost${MCP_PATH}`,
  headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
  message: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
  call: async () => null,
}

/**
 * Creates the component that writes lists of tools before the gateway is ready. Without it, the first client would wait while V8
 * compiles the code.
 */
export function createToolPreparation(endpoint: Pick<ToolEndpoint, 'tools' | 'serve'> | null): Component {
  if (endpoint === null) return {}
  const descriptions = [...endpoint.tools.values()].map(({ description }) => description)
  return {
    start: async () => {
      for (const count of PREPARED_LISTS) {
        const { response } = await endpoint.serve({
          ...PREPARED_MESSAGE,
          signal: new AbortController().signal,
          list: async () => descriptions.slice(0, count),
        })
        await response.text()
        await setImmediate()
      }
    },
  }
}

/** Creates the component that ends the streams of clients, and shows how many are open. */
export function createToolStreamWatch(endpoint: ToolEndpoint | null): Component {
  return {
    activate: (metrics) =>
      metrics.gauges(
        { name: 'gateway_mcp_streams', help: 'Number of open streams of clients of tools.', labels: [] },
        () => (endpoint === null ? [] : [{ labels: {}, value: endpoint.streams.size }]),
      ),
    // The users and records of a runtime that was stopped are no longer read, so their changes would not be noticed.
    stop: () => endpoint?.streams.drain(),
  }
}

/** Returns a problem for each configured tool that is not an operation, or cannot be a tool. */
export function toolProblems({ mcp }: Config): string[] {
  if (mcp === null || typeof mcp.tools === 'string') return []
  const operations = new Map(OPERATIONS.map((operation) => [operation.id, operation]))
  return mcp.tools.flatMap((id, at) => {
    const operation = operations.get(id)
    if (id === '*') return [`mcp.tools[${at}]: * is no operation: write tools: all`]
    if (operation === undefined) return [`mcp.tools[${at}]: there is no operation ${id}`]
    return isToolOperation(operation) ? [] : [`mcp.tools[${at}]: the operation ${id} cannot be a tool`]
  })
}
