import { isObject } from '../../../request/value.ts'

/** What the engine answers to a request it does not take. */
export interface EngineError {
  readonly status: number
  readonly type: string
  readonly message: string
  readonly code: 0 | null
}

/** An answer that the engine gives without looking. */
export interface KnownAnswer {
  readonly status: number
  readonly body: unknown
}

/** The engine objects here, but with words that cannot be told in advance: nothing later is looked at, it shall say so itself. */
export const DEFER = 'leave'

/** Null: nothing to object to. */
export type Finding = EngineError | KnownAnswer | typeof DEFER | null

export interface Received {
  readonly params: Readonly<Record<string, string>>
  /** Decoded; of a repeated parameter the first. */
  readonly query: ReadonlyMap<string, string>
  readonly body: unknown
}

/** Whether a text can be a date of the engine. It depends on the date format that the engine is configured with. */
export type IsDateText = (text: string) => boolean

/** Facts besides the request that a rule depends on. */
export interface RuleContext {
  /** The path of the operation, with its parameters in braces. */
  readonly template: string
  readonly isDateText: IsDateText
}

/**
 * The place of a rule among the permission checks of the row: after so many of them, or after all. With `refusal of 1`
 * the rule precedes the second check, and the gateway applies it only if that check refuses. A request that passes the
 * check is forwarded, and the engine applies the rule.
 */
export type RulePlace = number | `refusal of ${number}`

/** A rule of the engine. */
export interface ValidationRule {
  readonly after: RulePlace | 'all'
  readonly find: (received: Received, context: RuleContext) => Finding
}

/** A body or part of one that has the members of its schema. */
export type Members = Readonly<Record<string, unknown>>

export function membersOf(value: unknown): Members {
  return isObject(value) ? value : {}
}

export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A scalar member as text, as the engine reads one. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

export function invalid(message: string): EngineError {
  return { status: 400, type: 'InvalidRequestException', message, code: null }
}

/** An exception of the engine proper that its REST layer shows as it is. */
export function engineException(status: number, type: string, message: string): EngineError {
  return { status, type, message, code: 0 }
}

/** A failure inside the engine's REST layer. */
export function restFailure(type: string, message: string): EngineError {
  return { status: 500, type, message, code: null }
}

/** The first finding of a row of questions that are asked one by one. */
export function firstOf<T>(items: Iterable<T>, find: (item: T) => Finding): Finding {
  for (const item of items) {
    const finding = find(item)
    if (finding !== null) return finding
  }
  return null
}
