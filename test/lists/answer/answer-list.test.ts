import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const MAX_ROWS = 150

/** Number of process instances in the engine. Every fiftieth belongs to the process `review`. */
let total = 0
/** Whether the engine returns the whole list, whatever page is requested. */
let isWhole = false

const gateway = await openGateway(t, {
  records: ['grant mary PROCESS_DEFINITION:review READ_INSTANCE'],
  settings: { limits: { scannedItems: MAX_ROWS }, cache: { memory: { maxBytes: '0B' } } },
  engine: ({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://engine')
    response.setHeader('content-type', 'application/json')
    const from = Number(searchParams.get('firstResult') ?? 0)
    const size = isWhole ? total : Number(searchParams.get('maxResults') ?? total)
    if (pathname === `${BASE}/process-instance`) response.end(JSON.stringify(rowsOf(from, size)))
    else if (pathname === `${BASE}/process-definition`) response.end(JSON.stringify(DEFINITIONS))
    else response.writeHead(404).end('{}')
  },
})

const DEFINITIONS = [
  { id: 'review:1', key: 'review', tenantId: null },
  { id: 'other:1', key: 'other', tenantId: null },
]

function rowsOf(from: number, size: number) {
  return Array.from({ length: Math.max(0, Math.min(size, total - from)) }, (_, index) => {
    const at = from + index
    return { id: `i${at}`, definitionId: at % 50 === 0 ? 'review:1' : 'other:1', tenantId: null }
  })
}

/** Returns the ids that mary gets or the code of the refusal, and the pages that were requested from the engine. */
async function ask(route: string) {
  const { status, headers, body, forwarded } = await gateway.ask('mary', route, { body: BODY })
  const pages = forwarded.flatMap(({ url }) => {
    const { pathname, searchParams } = new URL(url, 'http://engine')
    const page = `${searchParams.get('firstResult')}+${searchParams.get('maxResults')}`
    return pathname === `${BASE}/process-instance` ? [page] : []
  })
  const items = Array.isArray(body) ? body.map((item: { readonly id: string }) => item.id) : body
  return { answer: status === 200 ? items : headers['x-gateway-error'], pages }
}

/** A query with or-blocks has no plan. */
const BODY = { orQueries: [] }
const LIST = 'POST /process-instance'
const COUNT = 'POST /process-instance/count'

t.test('all items are read, and the caller gets those that they may see', async (t) => {
  total = MAX_ROWS
  const pages = ['0+100', '99+52']
  t.same(await ask(LIST), { answer: ['i0', 'i50', 'i100'], pages: [`0+${MAX_ROWS + 1}`] })
  t.same(await ask(`${LIST}?maxResults=5`), { answer: ['i0', 'i50', 'i100'], pages })
  t.same(await ask(`${LIST}?firstResult=1&maxResults=5`), { answer: ['i50', 'i100'], pages })
  t.same(await ask(COUNT), { answer: { count: 3 }, pages: [`0+${MAX_ROWS + 1}`] })
})

t.test('no more items are read than fill the page', async (t) => {
  total = 1000
  t.same(await ask(`${LIST}?maxResults=2`), { answer: ['i0', 'i50'], pages: ['0+100'] })
  t.same(await ask(`${LIST}?firstResult=1&maxResults=1`), { answer: ['i50'], pages: ['0+100'] })
  t.same(await ask(`${LIST}?maxResults=3`), { answer: ['i0', 'i50', 'i100'], pages: ['0+100', '99+52'] })
})

t.test('a list is refused if more items than the limit would have to be read', async (t) => {
  total = MAX_ROWS + 1
  const refused = 'GW_ITEMS_NOT_EXACT'
  t.same(await ask(`${LIST}?maxResults=5`), { answer: refused, pages: ['0+100', '99+52'] })
  t.same(await ask(LIST), { answer: refused, pages: [`0+${MAX_ROWS + 1}`] })
  t.same(await ask(COUNT), { answer: refused, pages: [`0+${MAX_ROWS + 1}`] })
})

t.test('a list that the engine returns whole is read once', async (t) => {
  total = 400
  isWhole = true
  const { answer, pages } = await ask(`${LIST}?maxResults=20`)
  t.same(answer, ['i0', 'i50', 'i100', 'i150', 'i200', 'i250', 'i300', 'i350'])
  t.same(pages, ['0+100'])
  isWhole = false
})
