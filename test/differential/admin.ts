import { basicOf, type Answer, type Ask, type Client, jsonOf, type Method, type Part } from './http.ts'

/** An engine asked directly, as somebody who may do everything. */
export interface Admin {
  /** Insists on success; the answer's JSON. */
  readonly call: (method: Method, path: string, body?: unknown) => Promise<unknown>
  readonly upload: (path: string, form: readonly Part[]) => Promise<unknown>
  /** Whatever comes of it. */
  readonly attempt: (method: Method, path: string, body?: unknown) => Promise<Answer>
}

/** The engines' administrator; the bare engine asks for no credentials, and does not mind them. */
const DEMO = basicOf('demo', 'demo')

export function createAdmin(client: Client): Admin {
  const insist = async (ask: Ask): Promise<unknown> => {
    const answer = await client.send(ask, DEMO)
    if (answer.status < 300) return answer.type.startsWith('application/json') ? jsonOf(answer) : null
    throw new Error(`${ask.method} ${ask.path}: ${answer.status} ${answer.bytes.toString('utf8')}`)
  }
  return {
    call: (method, path, body) => insist({ method, path, ...(body !== undefined && { body }) }),
    upload: (path, form) => insist({ method: 'POST', path, form }),
    attempt: (method, path, body) => client.send({ method, path, ...(body !== undefined && { body }) }, DEMO),
  }
}

export type Json = Readonly<Record<string, unknown>>

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}

export function rowsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : []
}

/** A member's text; the empty string when it is something else. */
export function textOf(value: unknown, member: string): string {
  const text = isJson(value) ? value[member] : undefined
  return typeof text === 'string' ? text : ''
}

/** The id of a resource, or of the first in a list. @throws Error when there is none */
export function idOf(value: unknown): string {
  const id = textOf(Array.isArray(value) ? value[0] : value, 'id')
  if (id === '') throw new Error(`No id in ${JSON.stringify(value)}`)
  return id
}
