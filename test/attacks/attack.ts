import { authorizationOf, BASE } from '../support/open-gateway.ts'
import { get, head } from '../support/raw.ts'

/** A hostile request of a caller with few permissions or without credentials, and the response that it must get. */
export interface Attack {
  readonly kind: 'path' | 'body' | 'smuggling' | 'headers' | 'credentials'
  /** The goal of the attacker. */
  readonly hope: string
  readonly bytes: string
  readonly status: number
  /** `X-Gateway-Error`. Null if the response looks like one of the engine. */
  readonly code: string | null
}

export type Outcome = readonly [status: number, code: string | null]

export const TARGET: Outcome = [400, 'GW_BAD_TARGET']
export const JSON_REFUSED: Outcome = [400, 'GW_BAD_JSON']
export const UNREADABLE: Outcome = [400, 'GW_BAD_REQUEST']
export const HAZARD: Outcome = [400, 'GW_HAZARD']
export const MEDIA: Outcome = [415, 'GW_UNSUPPORTED_MEDIA']
export const HIDDEN: Outcome = [404, null]
export const STRANGER: Outcome = [401, null]

const MARY = authorizationOf('mary')

function ofMary(bytes: string): string {
  return bytes.replace(authorizationOf('demo'), MARY)
}

export function path(hope: string, target: string, [status, code]: Outcome = TARGET): Attack {
  return { kind: 'path', hope, bytes: ofMary(get(target)), status, code }
}

export function raw(kind: Attack['kind'], hope: string, bytes: string, [status, code]: Outcome): Attack {
  return { kind, hope, bytes: ofMary(bytes), status, code }
}

export function body(
  hope: string,
  text: string,
  [status, code]: Outcome = JSON_REFUSED,
  type = 'application/json',
): Attack {
  const bytes = Buffer.from(text, 'utf8').toString('latin1')
  const lines = [`Content-Type: ${type}`, `Content-Length: ${bytes.length}`]
  return { kind: 'body', hope, bytes: ofMary(head(`POST ${BASE}/task`, ...lines)) + bytes, status, code }
}

export function withJson(method: string, target: string, text: string): string {
  const lines = ['Content-Type: application/json', `Content-Length: ${text.length}`]
  return head(`${method} ${BASE}${target}`, ...lines) + text
}

export function withForm(fileName: string, content: string): string {
  const disposition = `Content-Disposition: form-data; name="data"; filename="${fileName}"`
  const text = `--b\r\n${disposition}\r\n\r\n${content}\r\n--b--\r\n`
  const lines = ['Content-Type: multipart/form-data; boundary=b', `Content-Length: ${text.length}`]
  return head(`POST ${BASE}/deployment/create`, ...lines) + text
}
