import { EngineRefusal, GatewayError } from '../errors.ts'

/*
 * The errors of JavaScript, of Node and of libraries quote the values that they could not use: `"secret" is not valid JSON`,
 * `Received type string ('secret')`. Only messages that this file knows to quote nothing are logged for a request.
 */

/** Codes of Undici, of Node's HTTP parser and of TLS. The messages of these errors describe a connection. */
const CONNECTION_CODE = /^(?:UND_ERR_(?!INVALID_ARG)|HPE_|ERR_TLS_|ERR_SSL_)/

/** Maximum number of causes of causes in a line. */
const MAX_DEPTH = 4

/** Formats the cause of a refusal: `UND_ERR_SOCKET: other side closed`. */
export function loggedCauseOf(cause: Error): string {
  const code = codeOf(cause)
  const message = quotesNothing(cause) ? cause.message : ''
  const parts = [code ?? (message === '' ? cause.name : ''), message]
  return parts.filter((part) => part !== '').join(': ')
}

/** An error as a log line may show it. */
export interface LoggedError {
  readonly type: string
  readonly code?: string
  readonly message?: string
  /** The lines of the stack after the message. */
  readonly stack: string
  readonly cause?: LoggedError
}

/** Returns an error for a log line about a request, with the places in the code instead of messages that may quote the request. */
export function withoutMessages(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, stack: '' }
  const { name, cause } = error
  const code = codeOf(error)
  return {
    type: name,
    ...(code === null ? {} : { code }),
    ...(quotesNothing(error) ? { message: error.message } : {}),
    stack: placesIn(error),
    ...(cause instanceof Error && depth < MAX_DEPTH ? { cause: withoutMessages(cause, depth + 1) } : {}),
  }
}

function quotesNothing(error: Error): boolean {
  if (error instanceof GatewayError || error instanceof EngineRefusal) return true
  // `connect ECONNREFUSED 10.0.0.1:8080`: the operating system refused a call for a connection or a file of the gateway.
  return 'syscall' in error || CONNECTION_CODE.test(codeOf(error) ?? '')
}

function codeOf(error: Error): string | null {
  return 'code' in error && typeof error.code === 'string' ? error.code : null
}

/** A line of a stack that names a place. A message cannot have such lines in a form that is taken for one: all its text is removed. */
const PLACE = /^ {4}at .*$/

function placesIn({ stack, message }: Error): string {
  const places = (stack ?? '').replace(message, '').split('\n')
  return places.filter((line) => PLACE.test(line)).join('\n')
}
