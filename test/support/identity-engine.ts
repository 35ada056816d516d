import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { isRecord } from '../../src/request/value.ts'
import { type FakeNode, type Seen, startNode } from './fake-engine.ts'

/** The content of an engine: records, and the ids of users, groups and tenants with their members. */
export interface IdentityContent {
  readonly records: Readonly<Record<string, unknown>>[]
  readonly users: string[]
  readonly groups: Record<string, string[]>
  readonly tenants: Record<string, string[]>
}

/** An engine with users and records only. It executes the requests of an export and an import. */
export interface IdentityEngine extends FakeNode {
  readonly content: IdentityContent
  /** Called before each request. Returns true if it has responded. */
  before: (request: Seen, response: ServerResponse) => boolean
}

export async function startIdentityEngine(
  t: Test,
  content: Partial<IdentityContent> = {},
): Promise<IdentityEngine> {
  const all: IdentityContent = { records: [], users: [], groups: {}, tenants: {}, ...content }
  const engine = { content: all, before: (): boolean => false }
  const node = await startNode(t, (request, response) => {
    if (state.before(request, response)) return
    const { status, body } = respond(all, request)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(body === undefined ? '' : JSON.stringify(body))
  })
  const state: IdentityEngine = { ...engine, ...node }
  return state
}

interface FakeResponse {
  readonly status: number
  readonly body?: unknown
}

function respond(content: IdentityContent, request: Seen): FakeResponse {
  const { pathname, searchParams } = new URL(request.url, 'http://engine')
  const path = pathname.replace('/engine-rest', '')
  if (path === '/authorization/check') return { status: 401, body: {} }
  if (request.method !== 'GET') return write(content, request, path)
  const first = Number(searchParams.get('firstResult') ?? 0)
  const list = listAt(content, path, searchParams)
  return { status: 200, body: list.slice(first, first + Number(searchParams.get('maxResults') ?? Infinity)) }
}

function named(ids: readonly string[]): readonly object[] {
  return ids.map((id) => ({ id }))
}

function listAt(content: IdentityContent, path: string, query: URLSearchParams): readonly object[] {
  const { records, users, groups, tenants } = content
  const [group, tenant] = [query.get('memberOfGroup'), query.get('memberOfTenant')]
  if (path === '/authorization') return records
  if (path === '/group') return tenant === null ? named(Object.keys(groups)) : []
  if (path === '/tenant') return named(Object.keys(tenants))
  if (group !== null) return named(groups[group] ?? [])
  return named(tenant === null ? users : (tenants[tenant] ?? []))
}

function write({ records, groups, tenants }: IdentityContent, seen: Seen, path: string): FakeResponse {
  if (path.startsWith('/authorization/')) return writeRecord(records, seen, path)
  const entities = path.startsWith('/group/') ? groups : tenants
  const [id = '', , member = ''] = path.split('/').slice(2).map(decodeURIComponent)
  if (id === 'create') entities[String(valueOf(seen)['id'])] = []
  else if (seen.method === 'PUT') entities[id]?.push(member)
  else entities[id] = (entities[id] ?? []).filter((one) => one !== member)
  return { status: 204 }
}

function writeRecord(records: IdentityContent['records'], seen: Seen, path: string): FakeResponse {
  const id = path.slice('/authorization/'.length)
  const given = valueOf(seen)
  if (id === 'create') {
    const created = { ...given, id: String(records.length + 1) }
    records.push(created)
    return { status: 200, body: created }
  }
  const at = records.findIndex((record) => record['id'] === id)
  if (at === -1) return { status: 404, body: { message: 'missing' } }
  records.splice(at, 1, ...(seen.method === 'PUT' ? [{ ...records[at], ...given, id }] : []))
  return { status: 204 }
}

function valueOf({ body }: Seen): Readonly<Record<string, unknown>> {
  const value: unknown = body.length === 0 ? {} : JSON.parse(body.toString())
  return isRecord(value) ? value : {}
}
