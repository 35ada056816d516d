import type { Test } from 'tap'
import { type Seen, startNode } from './fake-engine.ts'

interface Record {
  readonly id: string
  readonly type: number
  readonly permissions: readonly string[]
  readonly userId: string | null
  readonly groupId: string | null
  readonly resourceType: number
  readonly resourceId: string
}

/** An engine that has only users, groups and records. The password of each user is the user's name. */
export interface StandIn {
  readonly base: string
  readonly records: Map<string, Record>
  /** Users by group. */
  readonly members: Map<string, Set<string>>
  /** Method and path of all requests that it received. */
  readonly asked: readonly string[]
  /** Returns the `Authorization` header of the last request with that method and path. */
  readonly askedAs: (line: string) => string | undefined
  /** Whether it executes deletions but closes the connection instead of responding to them. */
  breaksOff: boolean
  /** The requests to which it does not respond. */
  hangsOn: RegExp | null
  /** The user whose password is wrong. */
  refuses: string | null
}

const VERSION = { version: '7.22.0' }

export async function startStandIn(t: Test): Promise<StandIn> {
  const records = new Map<string, Record>()
  const members = new Map<string, Set<string>>()
  const routes: readonly (readonly [RegExp, (parts: readonly string[], body: string) => unknown])[] = [
    [/^POST \/identity\/verify$/, (_, body) => verdictOf(JSON.parse(body), engine.refuses)],
    [/^GET \/user\?id=(\w+)$/, ([, id]) => [{ id }]],
    [/^GET \/group\?member=(\w+)$/, ([, id = '']) => groupsOf(members, id)],
    [/^GET \/tenant\?/, () => []],
    [/^GET \/authorization$/, () => [...records.values()]],
    [/^GET \/authorization\/([\w-]+)$/, ([, id = '']) => records.get(id)],
    [/^DELETE \/authorization\/([\w-]+)$/, ([, id = '']) => void records.delete(id)],
    [
      /^DELETE \/group\/(\w+)\/members\/(\w+)$/,
      ([, group = '', id = '']) => void members.get(group)?.delete(id),
    ],
    [/^GET \/history\/identity-link-log\/count/, () => ({ count: 0 })],
    [/^GET \/history\/identity-link-log/, () => []],
    [/^GET \/version$/, () => VERSION],
    [/^GET \/engine$/, () => [{ name: 'default' }]],
  ]
  const { url, seen } = await startNode(t, (request, response) => {
    const line = lineOf(request)
    if (engine.hangsOn?.test(line) === true) return
    for (const [pattern, answer] of routes) {
      const parts = pattern.exec(line)
      if (parts === null) continue
      const body = answer(parts, request.body.toString())
      if (engine.breaksOff && request.method === 'DELETE') response.destroy()
      else if (body === undefined) response.writeHead(request.method === 'GET' ? 404 : 204).end()
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      return
    }
    response.writeHead(404).end()
  })
  const engine: StandIn = {
    base: `${url}/engine-rest`,
    records,
    members,
    get asked() {
      return seen.map(lineOf)
    },
    askedAs: (line) => seen.findLast((one) => lineOf(one) === line)?.headers.authorization,
    breaksOff: false,
    hangsOn: null,
    refuses: null,
  }
  return engine
}

function lineOf({ method, url }: Pick<Seen, 'method' | 'url'>): string {
  return `${method} ${url.replace('/engine-rest', '')}`
}

function verdictOf(
  { username, password }: { readonly username: string; readonly password: string },
  refused: string | null,
) {
  return { authenticatedUser: username, authenticated: username === password && username !== refused }
}

function groupsOf(members: StandIn['members'], id: string) {
  return [...members].filter(([, users]) => users.has(id)).map(([group]) => ({ id: group }))
}

/** Adds a record with all permissions on a resource type, for a user or (`@`) a group. */
export function allOn(engine: StandIn, subject: string, resourceType: number): void {
  const isGroup = subject.startsWith('@')
  const id = `${subject.replace('@', 'g-')}-${resourceType}`
  engine.records.set(id, {
    id,
    type: 1,
    permissions: ['ALL'],
    userId: isGroup ? null : subject,
    groupId: isGroup ? subject.slice(1) : null,
    resourceType,
    resourceId: '*',
  })
}
