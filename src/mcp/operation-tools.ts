import { setImmediate } from 'node:timers/promises'
import { ceilingPermits } from '../operations/ceilings.ts'
import { publishedOperation } from '../operations/published/facts.ts'
import { SUMMARIES } from '../operations/published/summaries.ts'
import type { Operation } from '../operations/table.ts'
import { DEFAULT_TOOLS, isToolOperation } from '../operations/tool-operations.ts'
import { inputSchemaOf, type PageLimits, type ToolInputSchema } from './tool-schema.ts'

/** The description of a tool, as `tools/list` returns it. */
export interface ToolDescription {
  readonly name: string
  readonly description: string
  readonly inputSchema: ToolInputSchema
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
}

/** An operation as a tool. */
export interface OperationTool {
  readonly operation: Operation
  /** The names of the parameters in the query string. */
  readonly query: ReadonlySet<string>
  readonly hasBody: boolean
  readonly description: ToolDescription
}

/** Tools by name. The name of a tool is the id of its operation, so it stays the same in all versions. */
export type OperationTools = ReadonlyMap<string, OperationTool>

/** Number of tools that are described in one turn of the event loop. All of them take 30 ms. */
const A_TURN = 40

/**
 * Creates the tools. `ids` selects the operations: `default` is the list of `DEFAULT_TOOLS`, and `all` every operation that can be a
 * tool. Other ids are left out, because the configuration has checked them. Other work runs between the tools.
 */
export async function createTools(
  operations: readonly Operation[],
  ids: 'default' | 'all' | readonly string[],
  limits: PageLimits,
): Promise<OperationTools> {
  const selected = ids === 'all' ? null : new Set(ids === 'default' ? DEFAULT_TOOLS : ids)
  const tools = new Map<string, OperationTool>()
  for (const operation of operations) {
    if (!isToolOperation(operation) || selected?.has(operation.id) === false) continue
    tools.set(operation.id, createTool(operation, limits))
    if (tools.size % A_TURN === 0) await setImmediate()
  }
  return tools
}

function createTool(operation: Operation, limits: PageLimits): OperationTool {
  const published = publishedOperation(operation.id)
  if (published === null) throw new Error(`No document publishes ${operation.id}`)
  // A GET has no body, also if the document describes one.
  const body = operation.media === 'none' || operation.method === 'GET' ? null : published.body
  return {
    operation,
    query: new Set(published.query.keys()),
    hasBody: body !== null,
    description: {
      name: operation.id,
      description: `${SUMMARIES[operation.id] ?? operation.id} (${operation.method} ${operation.template})`,
      inputSchema: inputSchemaOf({ query: published.query, body }, pathParametersOf(operation), limits),
      annotations: annotationsOf(operation),
    },
  }
}

/** Returns the names of the parameters in the path of an operation. */
export function pathParametersOf({ template }: Pick<Operation, 'template'>): readonly string[] {
  return [...template.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
}

/** Hints for the user of a client. They protect nothing: the gateway decides about each call. */
function annotationsOf(operation: Operation): ToolDescription['annotations'] {
  const isRead = operation.effect === 'read'
  return {
    readOnlyHint: isRead,
    destructiveHint: !ceilingPermits('safe', operation),
    idempotentHint: isRead || operation.method === 'PUT' || operation.method === 'DELETE',
    openWorldHint: false,
  }
}
