import { basicOf, type Answer, type Ask, type Client, jsonOf, type Method, type Part } from './http.ts'

/** The API of an engine, called directly as a user with all permissions. */
export interface Admin {
  /** Sends a request. Resolves to the JSON of the response. @throws Error if the response is not successful */
  readonly call: (method: Method, path: string, body?: unknown) => Promise<unknown>
  readonly upload: (path: string, form: readonly Part[]) => Promise<unknown>
  /** Sends a request. Resolves to the response, whatever its status is. */
  readonly attempt: (method: Method, path: string, body?: unknown) => Promise<Answer>
}

/** The administrator of both engines. The bare engine requires no credentials and ignores them. */
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

/** Returns the text of a member, or the empty string if the member is not a text. */
export function textOf(value: unknown, member: string): string {
  const text = isJson(value) ? value[member] : undefined
  return typeof text === 'string' ? text : ''
}

/** Returns the id of a resource, or of the first one in a list. @throws Error if it has no id */
export function idOf(value: unknown): string {
  const id = textOf(Array.isArray(value) ? value[0] : value, 'id')
  if (id === '') throw new Error(`No id in ${JSON.stringify(value)}`)
  return id
}
