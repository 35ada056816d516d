import type { Config } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { createTools } from '../mcp/operation-tools.ts'
import type { ToolEndpoint } from '../mcp/tool-endpoint.ts'
import { OPERATIONS } from '../operations/all.ts'
import { isToolOperation } from '../operations/tool-operations.ts'

/** Time between two comments on a stream without messages. A proxy may close a stream that is silent for a minute. */
const KEEP_ALIVE_MS = 25_000

interface ToolEndpointSettings {
  readonly config: Config
  readonly log: Logger
  readonly version: string
}

/** Loads the SDK only here, so that it costs neither memory nor time if no tools are configured. */
export async function buildToolEndpoint({
  config,
  log,
  version,
}: ToolEndpointSettings): Promise<ToolEndpoint | null> {
  if (config.mcp === null) return null
  const { createToolServer } = await import('../mcp/tool-server.ts')
  return {
    tools: createTools(OPERATIONS, config.mcp.tools, config.mcp),
    calls: new WeakMap(),
    serve: createToolServer({
      version,
      keepAliveMs: KEEP_ALIVE_MS,
      maxBodyBytes: config.limits.body,
      onError: (error) => log.debug({ err: error }, 'a message of a client of tools was not served'),
    }),
  }
}

/** Returns a problem for each configured tool that is not an operation, or cannot be a tool. */
export function toolProblems({ mcp }: Config): string[] {
  if (mcp === null || typeof mcp.tools === 'string') return []
  const operations = new Map(OPERATIONS.map((operation) => [operation.id, operation]))
  return mcp.tools.flatMap((id, at) => {
    const operation = operations.get(id)
    if (operation === undefined) return [`mcp.tools[${at}]: there is no operation ${id}`]
    return isToolOperation(operation) ? [] : [`mcp.tools[${at}]: the operation ${id} cannot be a tool`]
  })
}
