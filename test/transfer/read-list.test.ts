import t from 'tap'
import type { EngineRequest } from '../../src/request/engine-request.ts'
import { checkReadable, readEngineList, withDeadline } from '../../src/transfer/read-list.ts'

const LIST = {
  path: '/user?memberOfGroup=a',
  what: 'users',
  itemsIn: (body: Buffer) => JSON.parse(String(body)),
}

/** Returns an engine with users, whose ids are letters. `change` is called before each page with the number of the request. */
function engineWith(letters: string, change: (request: number, ids: string[]) => void = () => undefined) {
  const ids = letters.split('')
  const asked: string[] = []
  const ask = async ({ path }: EngineRequest) => {
    asked.push(path)
    change(asked.length, ids)
    const query = new URL(path, 'http://x').searchParams
    const first = Number(query.get('firstResult'))
    const page = ids.slice(first, first + Number(query.get('maxResults')))
    return { status: 200, body: Buffer.from(JSON.stringify(page.map((id) => ({ id })))) }
  }
  return { ask, asked }
}

function read({ ask }: ReturnType<typeof engineWith>, pageSize = 3) {
  return readEngineList<{ readonly id: string }>({ ask, pageSize, onProgress: () => undefined }, LIST)
}

const idsOf = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id).join('')

t.test('a list is read in pages that overlap by one item', async (t) => {
  const engine = engineWith('abcdef')
  t.equal(idsOf(await read(engine)), 'abcdef')
  t.same(engine.asked, [
    '/user?memberOfGroup=a&firstResult=0&maxResults=3',
    '/user?memberOfGroup=a&firstResult=2&maxResults=3',
    '/user?memberOfGroup=a&firstResult=4&maxResults=3',
  ])
  for (const length of [0, 1, 2, 3, 4, 5, 7])
    t.equal(idsOf(await read(engineWith('abcdefg'.slice(0, length)))), 'abcdefg'.slice(0, length))
})

t.test('a list that another client changes between two pages is read again', async (t) => {
  const removed = engineWith('abcdef', (request, ids) => {
    if (request === 2) ids.shift()
  })
  t.equal(idsOf(await read(removed)), 'bcdef', 'no item is left out')
  const added = engineWith('bcdef', (request, ids) => {
    if (request === 2) ids.unshift('a')
  })
  t.equal(idsOf(await read(added)), 'abcdef', 'no item occurs twice')
})

t.test('a list that changes all the time, or that is not ordered, is not read', async (t) => {
  const changing = engineWith('abcdef', (_request, ids) => ids.push(ids.shift() ?? ''))
  await t.rejects(read(changing), { message: /the users of the engine have changed during each of 3 reads/ })
  const repeating = engineWith('abcabc')
  await t.rejects(read(repeating, 4), { message: /have changed/ })
})

const respondWith = (status: number) => async () => ({ status, body: Buffer.from('{}') })

t.test('a response that is not 200 is an error', async (t) => {
  await t.rejects(read({ ask: respondWith(403), asked: [] }), {
    message: 'The engine responded to /user?memberOfGroup=a with status 403',
  })
})

t.test('an account that the engine does not accept is reported', async (t) => {
  await t.rejects(read({ ask: respondWith(401), asked: [] }), {
    message: /status 401: check the account and its password$/,
  })
})

t.test('after the deadline no request is sent', async (t) => {
  let nowMs = 0
  const sent: EngineRequest[] = []
  const ask = withDeadline(
    async (request) => {
      sent.push(request)
      return { status: 200, body: Buffer.from('[]') }
    },
    90_000,
    () => nowMs,
  )
  const request = { method: 'GET', path: '/user', limitBytes: 1 } as const
  await ask(request)
  nowMs = 50_000
  await ask(request)
  nowMs = 90_000
  await t.rejects(ask(request), { message: 'not finished within 90 s: set --timeout' })
  t.same(
    sent.map(({ headersMs }) => headersMs),
    [60_000, 40_000],
  )
})

/** Returns an engine that responds to checks of permissions. */
const checking =
  (status: number, isAuthorized: (path: string) => unknown) => async (request: EngineRequest) => ({
    status,
    body: Buffer.from(JSON.stringify({ authorized: isAuthorized(request.path) })),
  })

t.test('an account must be allowed to read everything, unless the engine knows no callers', async (t) => {
  await checkReadable(checking(200, () => true))
  await checkReadable(checking(401, () => false))
  for (const [name, type] of [
    ['Authorization', 4],
    ['User', 1],
    ['Group', 2],
    ['Tenant', 11],
  ] as const)
    await t.rejects(checkReadable(checking(200, (path) => !path.includes(`resourceName=${name}&`))), {
      message: `the account may not read every ${name}: it needs a record with READ on resource type ${type} and id *`,
    })
  const first = checking(200, () => true)
  const later = checking(401, () => true)
  await t.rejects(
    checkReadable((request) => (request.path.includes('=Authorization&') ? first(request) : later(request))),
    { message: /may not read every User/ },
    'an engine that knows the caller of one request knows the caller of all',
  )
  await t.rejects(checkReadable(checking(200, () => 'yes')), { message: /may not read every Authorization/ })
  await t.rejects(checkReadable(checking(403, () => true)), { message: /may not read every Authorization/ })
})
