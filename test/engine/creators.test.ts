import t, { type Test } from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { rowsOf } from '../differential/admin.ts'
import type { Ask } from '../differential/http.ts'
import type { AskAs, PairAnswer } from './secured-pair.ts'
import { startSecuredPair } from './secured-pair.ts'

const USERS = ['amy', 'bob', 'cid'] as const
const QUERY = { resourceType: 'Task', query: {}, properties: {} }

/** The requests to one filter, in the order in which they are sent. */
const REQUESTS: readonly (readonly [method: Ask['method'], path: string, body?: unknown])[] = [
  ['GET', ''],
  ['GET', '?itemCount=true'],
  ['OPTIONS', ''],
  ['GET', '/list'],
  ['POST', '/list', {}],
  ['GET', '/count'],
  ['POST', '/count', {}],
  ['GET', '/singleResult'],
]

t.test(
  'the owner of a filter may do what they may do at a secured engine, and nobody else',
  {
    skip: javaSkip,
  },
  async (t) => {
    const pair = await startSecuredPair(t, 'camunda')
    const create = { resourceType: 5, permissions: ['CREATE'] }
    const change = { resourceType: 5, permissions: ['CREATE', 'READ', 'UPDATE'] }
    const callers = [
      { user: 'amy', records: [create] },
      { user: 'bob', records: [create] },
      { user: 'cid', records: [change] },
    ]
    // More filters than this are in the database.
    const { engine, gateway } = await pair.open(callers, { scannedItems: 1 })
    /** Sends the same request at both sides, each about the filter that was created there. */
    const compare = async (ids: Ids, user: string, request: (typeof REQUESTS)[number]) => {
      const [method, rest, body] = request
      const send = async (ask: AskAs, id: string) =>
        plain(await ask(user, { method, path: `/filter/${id}${rest}`, body }), id)
      const expected = await send(engine, ids.engine)
      t.same(await send(gateway, ids.gateway), expected, `${user} ${method} ${rest}`)
      return expected.status
    }

    for (const owner of ['amy', 'bob', null]) {
      const ids = { engine: await create1(engine, owner), gateway: await create1(gateway, owner) }
      for (const user of USERS)
        for (const request of [...REQUESTS, ['PUT', '', { ...QUERY, name: 'renamed', owner }] as const]) {
          const status = await compare(ids, user, request)
          if (isRefused(user, owner, request)) t.equal(status, 403, `${user} is refused at the engine`)
        }
      for (const user of USERS) {
        const path = `/authorization/check?permissionName=DELETE&resourceName=x&resourceType=5&resourceId=`
        const checked = await engine(user, { method: 'GET', path: path + ids.engine })
        const here = await gateway(user, { method: 'GET', path: path + ids.gateway })
        t.same(plain(here, ids.gateway), plain(checked, ids.engine), `check of ${user}`)
      }
      for (const user of USERS) await compareLists(t, { engine, gateway }, user, ids)
      for (const user of USERS) await compare(ids, user, ['DELETE', ''])
    }

    const absent = { engine: 'absent', gateway: 'absent' }
    for (const user of USERS)
      for (const request of [
        ...REQUESTS,
        ['PUT', '', { ...QUERY, name: 'renamed' }] as const,
        ['DELETE', ''] as const,
      ])
        await compare(absent, user, request)

    t.comment('only who may create records changes the owner, because the owner has all permissions here')
    const id = await create1(gateway, 'amy')
    for (const owner of ['cid', null]) {
      const body = { ...QUERY, name: 'taken', owner }
      const taken = await gateway('cid', { method: 'PUT', path: `/filter/${id}`, body })
      t.match(taken, { status: 403, body: { resourceName: 'Authorization', permissionName: 'CREATE' } })
    }
    t.match(await engine('amy', { method: 'GET', path: `/filter/${id}` }), { status: 403 })
    t.match(await gateway('amy', { method: 'GET', path: `/filter/${id}` }), {
      status: 200,
      body: { name: 'mine', owner: 'amy' },
    })
  },
)

t.test(
  'with the records of an engine, the gateway writes the records that a secured engine writes',
  {
    skip: javaSkip,
  },
  async (t) => {
    const pair = await startSecuredPair(t, 'camunda')
    const create = [5, 9].map((resourceType) => ({ resourceType, permissions: ['CREATE'] }))
    const callers = ['amy', 'bob'].map((user) => ({ user, records: create }))
    const { engine, gateway } = await pair.open(callers, { source: 'engine' })
    const recordsOn = async (resourceType: number, id: string) =>
      rowsOf(
        await pair.admin.call('GET', `/authorization?resourceType=${resourceType}&resourceId=${id}`),
      ).map(({ type, userId, groupId, permissions }) => ({ type, userId, groupId, permissions }))
    for (const ask of [engine, gateway]) {
      const side = ask === engine ? 'engine' : 'gateway'
      const own = { type: 1, userId: 'amy', groupId: null, permissions: ['READ', 'DELETE'] }
      const id = await deploy(ask, 'amy', side)
      t.same(await recordsOn(9, id), [own], `${side}: a deployment`)
      t.match(await ask('bob', { method: 'GET', path: `/deployment/${id}` }), { status: 404 })
      t.equal(await deploy(ask, 'bob', side, true), id, `${side}: an unchanged deployment is the former one`)
      t.same(await recordsOn(9, id), [own], `${side}: which gets no record for another deployer`)
      const path = `/deployment/${id}/redeploy`
      const again = idIn((await ask('amy', { method: 'POST', path, body: {} })).body)
      t.same(await recordsOn(9, again), [own], `${side}: a redeployment`)
      t.match(await ask('amy', { method: 'GET', path: `/deployment/${again}` }), { status: 200 })
      t.match(await ask('amy', { method: 'DELETE', path: `/deployment/${id}` }), { status: 204 })
      t.same(await recordsOn(9, id), [], `${side}: deleted with its deployment`)

      const body = { ...QUERY, name: 'theirs', owner: 'bob' }
      const filter = idIn((await ask('amy', { method: 'POST', path: '/filter/create', body })).body)
      t.same(
        await recordsOn(5, filter),
        [{ ...own, userId: 'bob', permissions: ['ALL'] }],
        `${side}: a filter`,
      )
      const at = `/filter/${filter}`
      t.match(await ask('amy', { method: 'GET', path: at }), { status: 403 })
      t.match(await ask('bob', { method: 'PUT', path: at, body: { ...body, owner: 'amy' } }), { status: 204 })
      t.match(await ask('amy', { method: 'GET', path: at }), { status: 403 }, `${side}: a later owner`)
      t.match(await ask('bob', { method: 'GET', path: at }), { status: 200 }, `${side}: the first owner`)
      t.match(await ask('bob', { method: 'DELETE', path: at }), { status: 204 })
      t.same(await recordsOn(5, filter), [], `${side}: deleted with its filter`)
    }
  },
)

const create1 = async (ask: AskAs, owner: string | null) => {
  const path = '/filter/create'
  const { body } = await ask('amy', { method: 'POST', path, body: { ...QUERY, name: 'mine', owner } })
  return idIn(body)
}

const deploy = async (ask: AskAs, user: string, name: string, isFiltered = false) => {
  const form = [
    { name: 'deployment-name', value: name },
    ...(isFiltered ? [{ name: 'enable-duplicate-filtering', value: 'true' }] : []),
    { name: 'note', value: `about ${name}`, file: 'note.txt', type: 'text/plain' },
  ]
  return idIn((await ask(user, { method: 'POST', path: '/deployment/create', form })).body)
}

/** Filters of both sides are in one database, so each side is asked for its own. */
async function compareLists(
  t: Test,
  { engine, gateway }: { readonly engine: AskAs; readonly gateway: AskAs },
  user: string,
  ids: Ids,
): Promise<void> {
  for (const query of ['', '&owner=amy', '&owner=bob', '&filterId=@id', '&itemCount=true']) {
    const here = await listed(gateway, user, query.replace('@id', ids.gateway))
    const there = await listed(engine, user, query.replace('@id', ids.engine))
    t.equal(here.includes(ids.gateway), there.includes(ids.engine), `list of ${user} ${query}`)
    const count = await gateway(user, {
      method: 'GET',
      path: `/filter/count?name=renamed${query.replace('@id', ids.gateway)}`,
    })
    t.same(count.body, { count: here.length }, `count of ${user} ${query}`)
  }
}

async function listed(ask: AskAs, user: string, query: string): Promise<readonly string[]> {
  const { status, body } = await ask(user, { method: 'GET', path: `/filter?name=renamed${query}` })
  return status === 200 ? rowsOf(body).map(idIn) : [`status ${status}`]
}

/** Returns whether the engine refuses a request with 403. OPTIONS is never refused, and a single result is hidden. */
function isRefused(user: string, owner: string | null, [method, rest]: (typeof REQUESTS)[number]): boolean {
  return user !== 'cid' && user !== owner && rest !== '/singleResult' && method !== 'OPTIONS'
}

interface Ids {
  readonly engine: string
  readonly gateway: string
}

function idIn(body: unknown): string {
  return typeof body === 'object' && body !== null && 'id' in body ? String(body.id) : ''
}

/** Returns a response without what differs between two filters. */
function plain({ status, body }: PairAnswer, id: string): { readonly status: number; readonly text: string } {
  const text = JSON.stringify(body)
    .replaceAll(id, '@id')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '')
  return { status, text }
}
