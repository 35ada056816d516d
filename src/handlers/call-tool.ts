import { withoutMessages } from '../request/logged-causes.ts'
import type { FastifyRequest } from 'fastify'
import type { InProcessClient } from '../mcp/in-process-client.ts'
import type { OperationTool, OperationTools } from '../mcp/operation-tools.ts'
import { type ToolRequest, toolRequestOf } from '../mcp/tool-request.ts'
import { failedResult, type ToolResult, toolResultOf } from '../mcp/tool-result.ts'
import { MAX_RESULTS_PARAMETER, type PageLimits } from '../mcp/tool-schema.ts'
import type { RequestContext } from '../pipeline/context.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { hasOperation } from '../pipeline/locate-request.ts'
import { pickHeaders } from '../request/picked-headers.ts'
import { isObject, stringIn } from '../request/value.ts'

/** The message that calls a tool, and the request that contains it. */
export interface CallMessage {
  readonly request: FastifyRequest
  readonly message: Readonly<Record<string, unknown>>
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal
  /** Called when the request to the API begins. */
  readonly onSent: () => void
}

/** Calls the tool that a message names. Null if there is no such tool. */
export type CallTool = (call: CallMessage) => Promise<ToolResult | null>

interface CallToolOptions extends PageLimits {
  readonly tools: OperationTools
}

/** The result of a call, and its label for the metrics. */
interface CallOutcome {
  readonly label: string
  readonly result: ToolResult
}

/**
 * The headers of the client that the request to the API has. The stages read them like those of a request from the network: the
 * credentials, the name of the host, the address behind a trusted proxy, and the trace.
 */
const CLIENT_HEADERS = [
  'authorization',
  'forwarded',
  'host',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
] as const

/** Most operations have a response in JSON. An error message of a job, for example, is a plain text. */
const ACCEPT = 'application/json, */*;q=0.5'

/** Creates the calls. Nothing is decided here: the request of a call passes all stages. */
export function createCallTool(
  { config, metrics, log }: Pick<Dependencies, 'config' | 'metrics' | 'log'>,
  { tools, ...limits }: CallToolOptions,
  client: InProcessClient,
): CallTool {
  async function send(tool: OperationTool, built: ToolRequest, call: CallMessage): Promise<CallOutcome> {
    const { request, signal } = call
    const { context } = request
    call.onSent()
    try {
      const response = await client(
        { tool: tool.description.name, client: request.raw },
        {
          ...built,
          target: config.basePath + enginePathOf(context) + built.target,
          headers: headersOf(request),
          signal,
        },
      )
      return { label: labelOf(response.status), result: toolResultOf(response, hintOf(tool)) }
    } catch (error) {
      if (signal.aborted) return { label: 'aborted', result: failedResult('The call was aborted') }
      log.error(
        { err: withoutMessages(error), requestId: context.id },
        'the request of a tool failed in the gateway',
      )
      return { label: 'failed', result: failedResult('The gateway failed to handle the request') }
    }
  }

  return async function callTool(call) {
    const { message, request } = call
    const { engine } = request.context
    const name = stringIn(message['params'], 'name') ?? ''
    const tool = tools.get(name)
    const isKnown = tool !== undefined && hasOperation(engine?.release ?? null, tool.operation)
    const { label, result } = isKnown ? await outcomeOf(tool, call) : UNKNOWN
    metrics.toolCall({ engine: engine?.name ?? '', tool: isKnown ? name : '', result: label })
    return result
  }

  function outcomeOf(tool: OperationTool, call: CallMessage): CallOutcome | Promise<CallOutcome> {
    const built = toolRequestOf(tool, argumentsIn(call.message), limits)
    return 'problem' in built
      ? { label: 'bad-arguments', result: failedResult(built.problem) }
      : send(tool, built, call)
  }
}

const UNKNOWN = { label: 'unknown-tool', result: null } as const

/** Returns the arguments of a call. They keep the digits of numbers. */
function argumentsIn(message: CallMessage['message']): Readonly<Record<string, unknown>> {
  const { params } = message
  const given = isObject(params) ? params['arguments'] : undefined
  return isObject(given) ? given : {}
}

function enginePathOf({ isEngineNamed, engineName }: RequestContext): string {
  return isEngineNamed ? `/engine/${encodeURIComponent(engineName)}` : ''
}

function headersOf({ headers, context: { engine, id } }: FastifyRequest): Readonly<Record<string, string>> {
  const names = [...CLIENT_HEADERS, ...(engine?.addedRequestHeaders ?? [])]
  return { ...pickHeaders(headers, names), accept: ACCEPT, 'x-request-id': id }
}

function labelOf(status: number): string {
  return status < 400 ? 'success' : status < 500 ? 'refused' : 'failed'
}

function hintOf({ query }: OperationTool): string {
  return query.has(MAX_RESULTS_PARAMETER)
    ? 'Use a smaller maxResults, firstResult for the items after these, or more conditions.'
    : 'Use a tool that returns a part of it.'
}
