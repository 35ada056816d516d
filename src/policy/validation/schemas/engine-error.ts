import type { RefusalText } from '../../../errors.ts'
import type { CheckName } from '../../../operations/notation.ts'
import { isObject } from '../../../request/value.ts'

/** The engine's response to a request that it refuses. */
export interface EngineError {
  readonly status: number
  readonly type: string
  readonly message: RefusalText
  readonly code: 0 | null
}

/** A response that does not depend on the engine's data. */
export interface KnownResponse {
  readonly status: number
  readonly body: unknown
}

/** The engine refuses the request, but its message cannot be predicted. No later rule is applied, and the engine responds itself. */
export const DEFER = 'leave'

/** Null if the rule does not object. */
export type RuleResult = EngineError | KnownResponse | typeof DEFER | null

export interface RequestData {
  readonly params: Readonly<Record<string, string>>
  /** Decoded. If a parameter is repeated, its first value. */
  readonly query: ReadonlyMap<string, string>
  readonly body: unknown
}

/** Returns whether a text can be a date of the engine. This depends on the engine's configured date format. */
export type IsDateText = (text: string) => boolean

/** Facts besides the request that a rule depends on. */
export interface RuleContext {
  /** The path of the operation, with its parameters in braces. */
  readonly template: string
  readonly isDateText: IsDateText
}

/** A rule of the engine. Without `after` and `beforeRefusalOf`, it precedes all permission checks of the operation. */
export interface ValidationRule {
  /** The check after which the engine applies the rule. */
  readonly after?: CheckName | 'all checks' | undefined
  /**
   * The check that the rule precedes. The gateway applies the rule only if this check refuses. A request that passes the check is
   * forwarded, and the engine applies the rule.
   */
  readonly beforeRefusalOf?: CheckName
  readonly find: (received: RequestData, context: RuleContext) => RuleResult
}

/** A body, or a part of a body, that has the members of its schema. */
export type Members = Readonly<Record<string, unknown>>

export function membersOf(value: unknown): Members {
  return isObject(value) ? value : {}
}

export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns a scalar member as text, as the engine reads it. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

export function invalid(message: RefusalText): EngineError {
  return { status: 400, type: 'InvalidRequestException', message, code: null }
}

/** Returns an exception of the engine itself that its REST layer passes on unchanged. */
export function engineException(status: number, type: string, message: RefusalText): EngineError {
  return { status, type, message, code: 0 }
}

/** Returns a failure inside the engine's REST layer. */
export function restFailure(type: string, message: RefusalText): EngineError {
  return { status: 500, type, message, code: null }
}

/** Returns the first finding for items that are checked one after another. */
export function firstOf<T>(items: Iterable<T>, find: (item: T) => RuleResult): RuleResult {
  for (const item of items) {
    const finding = find(item)
    if (finding !== null) return finding
  }
  return null
}
