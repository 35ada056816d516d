/**
 * All errors that the gateway itself writes: status, `type` in the engine's shape, and the public message.
 * A code is public (header `X-Gateway-Error`) and never reused for another meaning.
 */
export const CODES = {
  GW_BAD_TARGET: [400, 'InvalidRequestException', 'The request target is not in canonical form'],
  GW_BAD_HOST: [
    400,
    'InvalidRequestException',
    'The request must have exactly one Host header, with a permitted value',
  ],
  GW_BAD_HEADER: [400, 'InvalidRequestException', 'A request header is repeated or malformed'],
  GW_FOREIGN_ORIGIN: [403, 'InvalidRequestException', 'A page of another origin may send only read requests'],
  GW_USER_NOT_TOLD: [
    403,
    'InvalidRequestException',
    'The id of this user cannot be sent to the engine in a header',
  ],
  GW_BAD_REQUEST: [400, 'InvalidRequestException', 'The request could not be read'],
  GW_BAD_JSON: [400, 'InvalidRequestException', 'The request body is not acceptable JSON'],
  GW_BAD_MULTIPART: [400, 'InvalidRequestException', 'The multipart body is not acceptable'],
  GW_INVALID_BODY: [400, 'InvalidRequestException', 'The request body does not match the operation'],
  GW_INVALID_QUERY: [400, 'InvalidRequestException', 'The query string does not match the operation'],
  GW_HAZARD: [400, 'InvalidRequestException', 'The request contains a construct that the gateway refuses'],
  GW_FOREIGN_NAMESPACE: [
    400,
    'InvalidRequestException',
    'A model has a namespace that not every group of nodes can read',
  ],
  GW_ITEMS_NOT_EXACT: [
    403,
    'AuthorizationException',
    'The visible items of this query cannot be determined exactly',
  ],
  GW_CHECK_NOT_EXACT: [
    403,
    'AuthorizationException',
    'The permission for this request cannot be determined exactly',
  ],
  GW_CEILING: [403, 'AuthorizationException', 'The ceiling of the caller does not permit this operation'],
  GW_NOT_SERVED: [403, 'InvalidRequestException', 'The gateway does not forward this path'],
  GW_HEADERS_TOO_LARGE: [431, 'InvalidRequestException', 'The request headers are too large'],
  GW_BODY_TOO_LARGE: [413, 'InvalidRequestException', 'The request body is too large'],
  GW_REQUEST_TIMEOUT: [408, 'InvalidRequestException', 'The request was not received in time'],
  GW_UNSUPPORTED_MEDIA: [415, 'NotSupportedException', 'HTTP 415 Unsupported Media Type'],
  GW_EXPECTATION: [417, 'InvalidRequestException', 'The value of the Expect header is not supported'],
  GW_OPERATION_MISSING: [404, 'NotFoundException', 'The engine does not have this operation'],
  GW_METHOD_UNKNOWN: [501, 'InvalidRequestException', 'The request method is not supported'],
  GW_TOKEN_INVALID: [401, 'NotAuthorizedException', 'The bearer token is not valid'],
  GW_THROTTLED: [429, 'TooManyRequestsException', 'Too many failed attempts to authenticate'],
  GW_RATE_LIMITED: [429, 'TooManyRequestsException', 'Too many requests'],
  GW_RECORDS_UNAVAILABLE: [503, 'ServiceUnavailableException', 'The authorization records are not available'],
  GW_DECISION_OUTDATED: [
    503,
    'ServiceUnavailableException',
    'Permissions changed while the request waited; nothing was sent',
  ],
  GW_AUDIT_UNAVAILABLE: [
    503,
    'ServiceUnavailableException',
    'Audit lines cannot be written; nothing was sent',
  ],
  GW_OVERLOADED: [503, 'ServiceUnavailableException', 'The gateway is overloaded'],
  GW_DRAINING: [503, 'ServiceUnavailableException', 'The gateway is shutting down'],
  GW_NO_NODE: [503, 'ServiceUnavailableException', 'No node of the engine can be reached'],
  GW_UPSTREAM_FAILED: [502, 'BadGatewayException', 'The engine closed the connection'],
  GW_UPSTREAM_INVALID: [502, 'BadGatewayException', 'The response of the engine is not valid'],
  GW_OUTCOME_UNKNOWN: [
    502,
    'BadGatewayException',
    'The engine closed the connection; it is unknown whether the request took effect',
  ],
  GW_IDEMPOTENCY_IN_PROGRESS: [
    409,
    'InvalidRequestException',
    'A request with this Idempotency-Key is in progress',
  ],
  GW_IDEMPOTENCY_KEY_REUSED: [
    422,
    'InvalidRequestException',
    'This Idempotency-Key was used for another request',
  ],
  GW_IDEMPOTENCY_NOT_KEPT: [
    422,
    'InvalidRequestException',
    'The request was executed; its response was too large to be stored',
  ],
  GW_IDEMPOTENCY_UNSUPPORTED: [
    501,
    'InvalidRequestException',
    'Idempotency-Key needs cache.redis, which is not configured; nothing was sent',
  ],
  GW_IDEMPOTENCY_UNAVAILABLE: [
    503,
    'ServiceUnavailableException',
    'Idempotency-Key needs Redis, which does not respond; nothing was sent',
  ],
  GW_UPSTREAM_TIMEOUT: [504, 'GatewayTimeoutException', 'The engine did not respond in time'],
  GW_INTERNAL: [500, 'RestException', 'The gateway failed to handle the request'],
} as const satisfies Record<string, readonly [status: number, type: string, message: string]>

export type GatewayCode = keyof typeof CODES

declare const OPERATOR_TEXT: unique symbol

/**
 * A text that may be logged: it quotes no value of a request or of a response. Only `operatorText`, `ownText` and `placeText`
 * (operations/published/declared-names.ts) create it.
 */
export type OperatorText = string & { readonly [OPERATOR_TEXT]: true }

/** Writes a text for operators. Its pieces are literals of the code. Each inserted value is a number or another text for operators. */
export function operatorText(
  pieces: TemplateStringsArray,
  ...inserted: readonly (number | OperatorText)[]
): OperatorText {
  return ownText(String.raw({ raw: pieces }, ...inserted))
}

/** Marks a text of the table, of the configuration or of the code. Never pass a text of a request or of a response. */
export function ownText(text: string): OperatorText {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the mark exists only in the types
  return text as OperatorText
}

/** The text of a refusal: one text for both readers, or a text that quotes the request and another text for operators. */
export type RefusalText = OperatorText | { readonly caller: string; readonly operator: OperatorText }

/** Returns the text for the caller. It may quote the request, so it must not be logged. */
export function callerTextOf(text: RefusalText): string {
  return typeof text === 'string' ? text : text.caller
}

export function operatorTextOf(text: RefusalText): OperatorText {
  return typeof text === 'string' ? text : text.operator
}

/** The members of every engine error; `code` is a number only if the engine set it. */
export interface ErrorBody {
  readonly type: string
  readonly message: string
  readonly code: number | null
}

/** A permission that a refused caller lacks. It is for the audit log and explanations, never for a response. */
export interface MissingPermission {
  readonly permission: string
  /** As in the engine's messages: `ProcessDefinition`. */
  readonly resource: string
  /** `*` means all resources of this type. It is also used if the engine checks without an id. */
  readonly resourceId: string
  /** Alternatives have the same number. One permission of each number is needed. */
  readonly need: number
}

/** The rule that refused a request, and the missing permissions. */
export interface DenialReason {
  /** `check 0`, by its position in the operation, or another name. */
  readonly rule: OperatorText
  readonly missing: readonly MissingPermission[]
  /**
   * A refusal that remains if everything in `missing` is granted: its `GW_…` code or its reason. Absent if no other refusal is
   * known.
   */
  readonly otherRefusal?: OperatorText
}

interface GatewayErrorOptions {
  /** Replaces the code's public message. State the problem and its place, never a secret. */
  readonly message?: RefusalText
  readonly cause?: unknown
  /** Whole seconds for `Retry-After`. */
  readonly retryAfterSeconds?: number | null
  /** The rule that refused, if several rules have the same code. It is for the audit log. */
  readonly rule?: OperatorText | null
  /** The result of the permission check that refused. It is for the audit log. */
  readonly denialReason?: DenialReason
  /** Headers of the response, in addition to those of every error. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * An error response of the gateway. It has the header `X-Gateway-Error: <code>`. The inherited `message` is the text for operators;
 * `body` has the text for the caller.
 */
export class GatewayError extends Error {
  readonly code: GatewayCode
  readonly statusCode: number
  readonly text: RefusalText
  readonly retryAfterSeconds: number | null
  readonly rule: OperatorText | null
  readonly denialReason: DenialReason | null
  /** Fastify also adds these headers if it creates the response from the error itself. */
  readonly headers: Readonly<Record<string, string>>

  constructor(code: GatewayCode, options: GatewayErrorOptions = {}) {
    const text = options.message ?? ownText(CODES[code][2])
    super(operatorTextOf(text), { cause: options.cause })
    this.name = 'GatewayError'
    this.text = text
    this.code = code
    this.statusCode = CODES[code][0]
    this.retryAfterSeconds = options.retryAfterSeconds ?? null
    this.rule = options.rule ?? null
    this.denialReason = options.denialReason ?? null
    this.headers = options.headers ?? {}
  }

  get body(): ErrorBody {
    return { type: CODES[this.code][1], message: callerTextOf(this.text), code: null }
  }

  /** Returns a copy, because an error may be shared by many requests. */
  withDenialReason(denialReason: DenialReason): GatewayError {
    const { code, text: message, cause, retryAfterSeconds, rule, headers } = this
    return new GatewayError(code, { message, cause, retryAfterSeconds, rule, headers, denialReason })
  }
}

/**
 * A refusal in the engine's own form: 401, 403, or the 404, 400, 500 or empty response with which the engine hides a refusal. It
 * is identical to the engine's response. `reason` and `denialReason` are only for logs, so they quote no value of the request.
 */
export class EngineRefusal extends Error {
  readonly statusCode: number
  /** `undefined` means an empty body without content type. */
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly reason: OperatorText
  readonly denialReason: DenialReason | null

  constructor(decision: {
    readonly status: number
    readonly body?: unknown
    readonly headers?: Readonly<Record<string, string>>
    readonly reason: OperatorText
    readonly denialReason?: DenialReason
  }) {
    // A refusal is a result, and its stack is never read. To collect the stack takes 15 µs, longer than most decisions.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(decision.reason)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'EngineRefusal'
    this.statusCode = decision.status
    this.body = decision.body
    this.headers = decision.headers ?? {}
    this.reason = decision.reason
    this.denialReason = decision.denialReason ?? null
  }

  /** Returns a copy, because a refusal may be shared by many requests. */
  withDenialReason(denialReason: DenialReason): EngineRefusal {
    const { statusCode: status, body, headers, reason } = this
    return new EngineRefusal({ status, body, headers, reason, denialReason })
  }
}

/**
 * Returns a refusal with a JSON body in the engine's form.
 * @param reason for logs only
 */
export function jsonRefusalOf(
  status: number,
  body: unknown,
  reason: OperatorText,
  headers: Readonly<Record<string, string>> = {},
): EngineRefusal {
  return new EngineRefusal({
    status,
    body,
    headers: { 'content-type': 'application/json', ...headers },
    reason,
  })
}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
