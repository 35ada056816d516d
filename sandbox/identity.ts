import type { StoredItem } from './data.ts'
import { RestError, json } from './http.ts'
import type { SandboxRequest, SandboxResponse } from './http.ts'
import { among, equals, page, queryOf, select } from './query.ts'
import type { Tests } from './query.ts'
import { get, post } from './router.ts'
import type { Route } from './router.ts'

/** The routes for authorizations and identities. Authorizations are stored but never applied. There are no users, groups or tenants. */
export const identityRoutes: readonly Route[] = [
  get('/authorization', (ask) => json(page(ask, find(ask)))),
  get('/authorization/count', (ask) => json({ count: find(ask).length })),
  post('/authorization/create', create),
  ...['user', 'group', 'tenant'].flatMap((kind) => [
    get(`/${kind}`, () => json([])),
    get(`/${kind}/count`, () => json({ count: 0 })),
  ]),
  post('/identity/verify', ({ body }) =>
    json({ authenticatedUser: body['username'] ?? null, groups: null, tenants: null, authenticated: false }),
  ),
]

const tests: Tests<StoredItem> = {
  ...equals<StoredItem>({ id: 'id', type: 'type', resourceType: 'resourceType', resourceId: 'resourceId' }),
  ...among<StoredItem>({ userIdIn: 'userId', groupIdIn: 'groupId' }),
}

function find(ask: SandboxRequest): StoredItem[] {
  return select(ask.engine.authorizations.values(), queryOf(ask), tests)
}

function create({ engine, body }: SandboxRequest): SandboxResponse {
  const { type = null, permissions = [], userId = null, groupId = null } = body
  const { resourceType = null, resourceId = null } = body
  if ((userId === null) === (groupId === null)) {
    const message = "Authorization must either have a 'userId' or a 'groupId'."
    throw new RestError(500, 'NullValueException', message, 0)
  }
  const unique = { type, userId, groupId, resourceType, resourceId }
  if ([...engine.authorizations.values()].some((row) => isSame(row, unique))) throw doubled()
  const row = { id: engine.nextId(), ...unique, permissions, removalTime: null, rootProcessInstanceId: null }
  engine.authorizations.set(row.id, row)
  return json(row)
}

function isSame(row: StoredItem, unique: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(unique).every(([name, value]) => row[name] === value)
}

function doubled(): RestError {
  const message = 'An exception occurred in the persistence layer. Please check the server logs.'
  return new RestError(500, 'ProcessEnginePersistenceException', message, 0)
}
