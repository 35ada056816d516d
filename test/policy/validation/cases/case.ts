import { OPERATIONS } from '../../../../src/operations/all.ts'
import type { Operation } from '../../../../src/operations/table.ts'
import type { EngineError } from '../../../../src/policy/validation/schemas/engine-error.ts'

/**
 * One request and the response of the engine. If `engine` is only a status, the request is left to the engine. Otherwise the
 * gateway gives this response itself. `unmapped` is a 400 in one of the two forms that the engine uses for a body that it
 * cannot map. `{name}` in a path parameter or a body is an id from the seed data.
 */
export interface Case {
  readonly operation: string
  readonly params: Readonly<Record<string, string>>
  readonly query: string
  /** Text is sent unchanged. */
  readonly body: unknown
  readonly engine: ExpectedError | 'unmapped' | number
  /** The number of permission checks that the engine makes before this response. */
  readonly after: number
}

/** The engine's error as the caller reads it. */
export type ExpectedError = Omit<EngineError, 'message'> & { readonly message: string }

type Row = readonly [sent: unknown, engine: Case['engine'], after?: number]

/** Returns cases that differ in the body. */
export function bodies(operation: string, rows: readonly Row[], params: Case['params'] = {}): Case[] {
  return rows.map(([body, engine, after = 0]) => ({ operation, params, query: '', body, engine, after }))
}

/** Returns cases that differ in the query string. `body` is sent with each. */
export function queries(
  operation: string,
  rows: readonly (readonly [string, Case['engine']])[],
  body?: unknown,
): Case[] {
  return rows.map(([query, engine]) => ({ operation, params: {}, query, body, engine, after: 0 }))
}

/** Returns the 400 response of the engine's REST layer. */
export function invalid(message: string): ExpectedError {
  return { status: 400, type: 'InvalidRequestException', message, code: null }
}

export function answer(status: number, type: string, message: string, code: 0 | null = 0): ExpectedError {
  return { status, type, message, code }
}

export function operationOf({ operation }: Pick<Case, 'operation'>): Operation {
  const found = OPERATIONS.find(({ id }) => id === operation)
  if (found === undefined) throw new Error(`no operation ${operation}`)
  return found
}

export function titleOf({ operation, query, body }: Case): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return `${operation} ${query}${text === undefined ? '' : ` ${text}`}`.slice(0, 200)
}
