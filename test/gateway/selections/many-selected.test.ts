import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

t.setTimeout(120_000)

const MAX_SELECTED = 100_000
const DEFINITIONS = Array.from({ length: 20 }, (_, at) => ({
  id: `work${at}:1`,
  key: `work${at}`,
  tenantId: null,
}))
/** A member that is not needed for the ids. Holding all items completely would take several times the permitted memory. */
let fill = 'x'.repeat(800)
const MAX_GROWTH = 32 * 1024 ** 2

/** Number of external tasks in the engine. All of them are visible, and each definition has the same number. */
let total = MAX_SELECTED
let base = 0
let peak = 0
let reads = 0

const gateway = await openGateway(t, {
  records: [
    'grant mary BATCH:* CREATE',
    ...DEFINITIONS.map(({ key }) => `grant mary PROCESS_DEFINITION:${key} READ_INSTANCE`),
  ],
  engine: ({ url, body }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://engine')
    const path = pathname.slice(BASE.length)
    response.writeHead(200, { 'content-type': 'application/json' })
    if (path === '/process-definition') response.end(JSON.stringify(DEFINITIONS))
    else if (path === '/external-task')
      response.end(JSON.stringify(pageOf(JSON.parse(String(body)), searchParams)))
    else if (path.startsWith('/process-definition/'))
      response.end(JSON.stringify(DEFINITIONS.find(({ id }) => path.endsWith(encodeURIComponent(id)))))
    else response.end('{}')
  },
})

function pageOf({ processDefinitionId }: { readonly processDefinitionId?: string }, search: URLSearchParams) {
  const definition = DEFINITIONS.findIndex(({ id }) => id === processDefinitionId)
  if (definition < 0) throw new Error('a query for all')
  if ((reads += 1) % 25 === 0) measure()
  const of = Math.ceil((total - definition) / DEFINITIONS.length)
  const first = Number(search.get('firstResult'))
  const size = Math.min(Number(search.get('maxResults')), of - first)
  return Array.from({ length: size }, (_, at) => ({
    id: `${definition}-${String(first + at).padStart(36, '0')}`,
    processDefinitionId,
    processDefinitionKey: `work${definition}`,
    processInstanceId: 'i',
    tenantId: null,
    errorMessage: fill,
  }))
}

function measure(): void {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  peak = Math.max(peak, heapUsed + external)
}

async function select() {
  reads = 0
  peak = 0
  measure()
  base = peak
  const body = { retries: 1, externalTaskQuery: {} }
  const { status, headers, forwarded } = await gateway.ask('mary', 'POST /external-task/retries-async', {
    body,
  })
  const sent = forwarded.find(({ url }) => url.endsWith('/retries-async'))
  return {
    status,
    code: headers['x-gateway-error'],
    body: sent === undefined ? null : JSON.parse(String(sent.body)),
  }
}

t.test('a selection by a query in the body holds only the ids in memory', async (t) => {
  const { status, body } = await select()
  t.equal(status, 200)
  t.same(Object.keys(body), ['retries', 'externalTaskIds'])
  t.equal(new Set(body.externalTaskIds).size, MAX_SELECTED)
  t.ok(reads >= 2 * DEFINITIONS.length, 'page by page')
  t.ok(peak - base < MAX_GROWTH, `${Math.round((peak - base) / 1024 ** 2)} MB more after ${reads} reads`)
})

t.test('a query that selects more than the limit is refused and selects nothing', async (t) => {
  total = MAX_SELECTED + 1
  fill = ''
  t.same(await select(), { status: 403, code: 'GW_ITEMS_NOT_EXACT', body: null })
})
