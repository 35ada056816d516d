import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'
import { type Definition, listEngine, type ListWorld, type StoredItem } from '../../support/list-engine.ts'

/* Items without a definition are visible to every user. No query selects them. A sort places them together, at the end that the database chooses. */

const ALONE = 130

const definitions = ['a', 'b'].map((key, index): Definition => ({ id: `d${index}`, key, tenantId: null }))

/** Returns a world with tasks of both definitions and many tasks without a definition. One of the instances has ended. */
function worldOf(alone: number): ListWorld {
  const instances = definitions.map((definition, index): StoredItem => {
    const endTime = index === 0 ? null : '2026-01-01T00:00:00.000+0000'
    const shown = instanceOf(`i${index}`, definition, endTime)
    return { shown, definition, instanceId: shown.id, tenantId: null }
  })
  const own = instances.flatMap((instance) =>
    ['t1', 't2', 't3'].map((id) => taskOf(`${id}${instance.instanceId}`, instance)),
  )
  const nobody = { definition: null, instanceId: null, tenantId: null, shown: { id: '' } }
  const others = Array.from({ length: alone }, (_, at) => taskOf(`t2${String(at).padStart(4, '0')}`, nobody))
  return {
    definitions,
    items: { '/history/process-instance': instances, '/history/task': [...own, ...others] },
  }
}

function instanceOf(id: string, definition: Definition | null, endTime: string | null) {
  return {
    id,
    processDefinitionId: definition?.id,
    processDefinitionKey: definition?.key,
    processDefinitionVersion: 1,
    endTime,
  }
}

function taskOf(id: string, { definition, instanceId, tenantId }: StoredItem): StoredItem {
  const shown = {
    id,
    processDefinitionId: definition?.id ?? null,
    processDefinitionKey: definition?.key ?? null,
    processInstanceId: instanceId,
    executionId: instanceId,
    tenantId,
  }
  return { shown, definition, instanceId, tenantId }
}

const records = ['grant anna PROCESS_DEFINITION:a READ_HISTORY']

for (const nulls of ['first', 'last'] as const)
  t.test(
    `items without a definition are counted and listed if the database sorts null values ${nulls}`,
    async (t) => {
      let alone = ALONE
      const engine = listEngine(() => worldOf(alone), nulls)
      const { ask } = await openGateway(t, { records, engine, settings: { limits: { scannedItems: 200 } } })
      for (const count of [0, 3, 20, 21, ALONE, 5000]) {
        alone = count
        const { status, body, forwarded } = await ask('anna', 'GET /history/task/count')
        t.same([status, body], [200, { count: count + 3 }], `${count} are counted`)
        const requests = forwarded.filter(({ url }) => url.includes('/history/task'))
        t.ok(requests.length < 25, `${count} are counted by few requests: ${requests.length}`)
      }
      alone = ALONE
      const listed = await ask('anna', 'GET /history/task?firstResult=1&maxResults=140')
      const all = worldOf(alone)
        .items['/history/task']?.filter(({ definition }) => definition?.key !== 'b')
        .map(({ shown: { id } }) => id)
        .toSorted()
      t.same(idsIn(listed.body), all?.slice(1), 'they stand in their place in a list')
      const counts = listed.forwarded.filter(({ url }) => url.includes('/history/task/count'))
      t.same(counts, [], 'nothing is counted for a page near the top')
      alone = 5000
      const { status } = await ask('anna', 'GET /history/task?firstResult=300&maxResults=1')
      t.equal(status, 403, 'more than may be read are not listed')
    },
  )

t.test(
  'a far page is read from near its position even if items without a definition are sorted together',
  async (t) => {
    const keys = ['a', 'b', 'c', 'd', 'e']
    const known = keys.map((key): Definition => ({ id: `${key}:1`, key, tenantId: null }))
    const items = Array.from({ length: 5000 }, (_, at) => {
      const definition = known[at % 5] ?? null
      const of = { definition, instanceId: `i${at}`, tenantId: null, shown: { id: '' } }
      return taskOf(`t${String(at).padStart(5, '0')}`, of)
    })
    const nobody = { definition: null, instanceId: null, tenantId: null, shown: { id: '' } }
    const others = Array.from({ length: ALONE }, (_, at) => taskOf(`z${1000 + at}`, nobody))
    const instances = items.slice(0, 2).map(
      (item, at): StoredItem => ({
        ...item,
        shown: instanceOf(`i${at}`, item.definition, at === 0 ? null : '2026-01-01T00:00:00.000+0000'),
      }),
    )
    const world: ListWorld = {
      definitions: known,
      items: { '/history/process-instance': instances, '/history/task': [...items, ...others] },
    }
    const { ask } = await openGateway(t, {
      records: keys.slice(1).map((key) => `grant anna PROCESS_DEFINITION:${key} READ_HISTORY`),
      engine: listEngine(() => world, 'first'),
      settings: { limits: { scannedItems: 500 } },
    })
    const { body, forwarded } = await ask('anna', 'GET /history/task?firstResult=2000&maxResults=10')
    const asked = forwarded.flatMap(({ url }) => (url.includes('/history/task') ? [url] : []))
    t.match(asked[0], 'sortBy=', 'the items without a definition are read')
    t.match(asked[1], '/history/task/count', 'the other items are counted meanwhile')
    const visible = items.filter(({ definition }) => definition?.key !== 'a').map(({ shown: { id } }) => id)
    t.same(idsIn(body), visible.slice(2000, 2010))
    const lists = forwarded.filter(({ url }) => /\/history\/task\?.*processDefinitionId/.test(url))
    t.ok(lists.length > 0)
    t.notOk(
      lists.some(({ url }) => /firstResult=0(?:&|$)/.test(url)),
      'no part is read from its top',
    )
  },
)

function idsIn(items: unknown): readonly unknown[] {
  return Array.isArray(items) ? items.map((item: unknown) => Object(item).id) : []
}

t.test(
  'an order that the engine refuses is refused, also if all visible items have no definition',
  async (t) => {
    const engine = listEngine(() => worldOf(3))
    const unsortable = ['"x"', 'nonsense', '"up"']
    const { ask } = await openGateway(t, {
      records: ['grant mary BATCH:* CREATE'],
      engine: (request, response) => {
        const isRefused = unsortable.some((text) => `${request.url} ${String(request.body)}`.includes(text))
        if (!isRefused) return engine(request, response)
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end('{"type":"InvalidRequestException","message":"unsortable","code":null}')
      },
    })
    t.match(await ask('mary', 'POST /history/task/count', { body: {} }), { status: 200, body: { count: 3 } })
    for (const [sorting, message] of [
      [['x'], /\$\.sorting\[0\]/],
      [[{ sortBy: 'nonsense', sortOrder: 'asc' }], 'unsortable'],
      [[{ sortBy: 'taskId', sortOrder: 'up' }], 'unsortable'],
    ])
      t.match(
        await ask('mary', 'POST /history/task/count', { body: { sorting } }),
        { status: 400, body: { message } },
        JSON.stringify(sorting),
      )
  },
)
