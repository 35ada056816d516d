import type { OperationTools } from './operation-tools.ts'
import type { ToolCalls } from './tool-calls.ts'
import type { ServeToolMessage } from './tool-server.ts'
import type { ToolStreams } from './tool-streams.ts'

/** The parts of the endpoint for tools that live as long as a configuration. */
export interface ToolEndpoint {
  readonly tools: OperationTools
  readonly calls: ToolCalls
  readonly serve: ServeToolMessage
  readonly streams: ToolStreams
  /** The issuers whose tokens each engine accepts, by the name of the engine. */
  readonly issuers: ReadonlyMap<string, readonly string[]>
}
