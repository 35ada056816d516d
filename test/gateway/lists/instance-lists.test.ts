import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'
import { type Definition, listEngine, type ListWorld, type StoredItem } from '../../support/list-engine.ts'

/* Variables cannot be queried by definition. The gateway lists the visible instances and queries variables by their ids. */

const definitions = ['a', 'b'].map((key, index): Definition => ({ id: `d${index}`, key, tenantId: null }))
const instances = Array.from({ length: 2400 }, (_, at): StoredItem => {
  const definition = definitions[at % 2] ?? null
  const id = `i${String(at).padStart(5, '0')}`
  return {
    shown: { id, definitionId: definition?.id, tenantId: null },
    definition,
    instanceId: id,
    tenantId: null,
  }
})
const variables = instances.map(
  (item): StoredItem => ({
    ...item,
    shown: {
      id: `v${item.instanceId}`,
      processDefinitionId: item.definition?.id,
      processInstanceId: item.instanceId,
      taskId: null,
      tenantId: null,
    },
  }),
)
const world: ListWorld = {
  definitions,
  items: { '/process-instance': instances, '/variable-instance': variables },
}
const records = [
  'grant anna PROCESS_DEFINITION:a READ_INSTANCE',
  'grant ben PROCESS_INSTANCE:i00001 READ',
  'grant ben PROCESS_DEFINITION:a READ_INSTANCE',
  'revoke ben PROCESS_INSTANCE:i00002 READ',
  'grant mary PROCESS_DEFINITION:a READ_INSTANCE',
  'grant mary TASK:t1 READ',
]
const settings = { limits: { scannedItems: 500 } }
/** The variables whose name is `rare`. */
const rare: ListWorld = {
  ...world,
  items: { ...world.items, '/variable-instance': variables.slice(0, 4) },
}
const { ask } = await openGateway(t, {
  records,
  settings,
  engine: (request, response) => {
    const isRare = `${request.url} ${String(request.body)}`.includes('rare')
    listEngine(() => (isRare ? rare : world))(request, response)
  },
})

t.test(
  'variables are counted by lists of instance ids in bodies, whatever method the caller uses',
  async (t) => {
    for (const route of ['GET /variable-instance/count', 'POST /variable-instance/count']) {
      const { status, body, forwarded } = await ask('anna', route, { body: {} })
      t.same([status, body], [200, { count: 1200 }], route)
      const asked = forwarded.filter(({ url }) => url.includes('/variable-instance/count'))
      // The whole list is counted first, because there may be few items.
      t.same(
        asked.map(({ method }) => method),
        route.startsWith('GET') ? ['GET', 'POST', 'POST'] : ['POST', 'POST', 'POST'],
        route,
      )
    }
  },
)

t.test('a query that finds few variables is counted without a list of the visible instances', async (t) => {
  for (const route of ['GET /variable-instance/count?variableName=rare', 'POST /variable-instance/count']) {
    const { status, body, forwarded } = await ask('anna', route, { body: { variableName: 'rare' } })
    t.same([status, body], [200, { count: 2 }], route)
    const asked = forwarded.filter(({ url }) => /instance(?:\/count)?(?:\?|$)/.test(url))
    t.same(
      asked.filter(({ url }) => url.includes('/process-instance')),
      [],
      route,
    )
  }
})

/** Returns the number of counts of variables at the engine. */
async function countsOf(variableName: string): Promise<number> {
  const { forwarded } = await ask('anna', 'POST /variable-instance/count', { body: { variableName } })
  return forwarded.filter(({ url }) => url.includes('/variable-instance/count')).length
}

t.test('whether a query finds many variables is remembered for this query only', async (t) => {
  t.equal(await countsOf('common'), 3)
  t.equal(await countsOf('common'), 2)
  t.equal(await countsOf('rare'), 1)
})

t.test('a GET with conditions that a body may express differently is sent as a GET', async (t) => {
  const { status, body, forwarded } = await ask('anna', 'GET /variable-instance/count?tenantIdIn=acme')
  t.same([status, body], [200, { count: 0 }])
  const asked = forwarded.filter(({ url }) => url.includes('/variable-instance/count'))
  t.ok(asked.every(({ method, url }) => method === 'GET' && url.length < 7000))
})

t.test(
  'individually granted instances are added, and individually revoked instances are left out',
  async (t) => {
    const { body } = await ask('ben', 'GET /variable-instance/count')
    t.same(body, { count: 1200 })
    const listed = await ask('ben', 'GET /variable-instance?firstResult=0&maxResults=3')
    t.same(JSON.stringify(listed.body).match(/"id":"\w+"/g), [
      '"id":"vi00000"',
      '"id":"vi00001"',
      '"id":"vi00004"',
    ])
  },
)

t.test(
  'many single instances are one query in a body, so that the engine sorts them by a text',
  async (t) => {
    const granted = instances.slice(100, 500).map(({ shown: { id } }) => id)
    const single = await openGateway(t, {
      records: granted.map((id) => `grant anna PROCESS_INSTANCE:${id} READ`),
      engine: listEngine(() => world),
      settings: { limits: { scannedItems: 300 } },
    })
    const sort = 'sortBy=businessKey&sortOrder=desc'
    const listed = await single.ask(
      'anna',
      `GET /process-instance?${sort}&businessKeyLike=a%25&firstResult=20&maxResults=10`,
    )
    t.equal(listed.status, 200)
    // The engine of the test sorts instances without a business key by their id.
    const expected = instances.slice(470, 480).toReversed()
    t.same(
      listed.body,
      expected.map(({ shown }) => shown),
    )
    const [asked, ...others] = listed.forwarded.filter(({ url }) => url.includes('maxResults=10'))
    t.same(others, [])
    t.match(asked, { method: 'POST', url: `${BASE}/process-instance?firstResult=20&maxResults=10` })
    t.same(JSON.parse(String(asked?.body)), {
      businessKeyLike: 'a%',
      sortBy: 'businessKey',
      sortOrder: 'desc',
      processInstanceIds: granted,
    })
    t.same((await single.ask('anna', 'GET /process-instance/count')).body, { count: 400 })
    // A body may express this flag differently.
    const flagged = await single.ask('anna', `GET /process-instance?${sort}&suspended=true&maxResults=10`)
    t.equal(flagged.headers['x-gateway-error'], 'GW_ITEMS_NOT_EXACT')
  },
)

t.test('a far page has the same items as in the whole list', async (t) => {
  const { status, body } = await ask('anna', 'GET /variable-instance?firstResult=1190&maxResults=50')
  t.equal(status, 200)
  const expected = variables.filter(({ definition }) => definition?.key === 'a').slice(1190)
  t.same(
    body,
    expected.map(({ shown }) => shown),
  )
})

t.test('the whole list is filtered if permissions on single tasks may make variables visible', async (t) => {
  t.equal((await ask('mary', 'GET /variable-instance/count')).status, 403)
})

t.test('details are counted by the hidden instances if these are fewer', async (t) => {
  // Three details for each instance.
  const details = instances.flatMap((item): readonly StoredItem[] =>
    [1, 2, 3].map((at) => ({ ...item, shown: { ...item.shown, id: `${item.instanceId}-${at}` } })),
  )
  const ended = instances.map(({ shown, definition, ...item }): StoredItem => {
    const of = {
      processDefinitionId: definition?.id,
      processDefinitionKey: definition?.key,
      processDefinitionVersion: 1,
    }
    return { ...item, definition, shown: { ...shown, ...of } }
  })
  const past = { ...world, items: { '/history/process-instance': ended, '/history/detail': details } }
  const gateway = await openGateway(t, {
    records: [
      'grant anna PROCESS_DEFINITION:* READ_HISTORY',
      'revoke anna PROCESS_DEFINITION:b READ_HISTORY',
      'grant ben PROCESS_DEFINITION:a READ_HISTORY',
    ],
    engine: listEngine(() => past),
    settings,
  })
  for (const user of ['anna', 'ben']) {
    const { status, body, forwarded } = await gateway.ask(user, 'GET /history/detail/count')
    t.same([status, body], [200, { count: 3600 }], user)
    const listed = forwarded.filter(
      ({ method, url }) => method === 'POST' && url.includes('/history/detail?'),
    )
    // 1,200 ids in two lists. Each list has more items than one read returns.
    t.ok(listed.length <= 8, `${listed.length} reads`)
    t.ok(listed.every(({ body: asked }) => String(asked).includes('processInstanceIdIn')))
  }
})

t.test(
  'variables of cases are visible to every caller, in addition to those of visible instances',
  async (t) => {
    const nobody = { definition: null, instanceId: null, tenantId: null }
    const cases = ['c1', 'c2'].map((id): StoredItem => ({ ...nobody, shown: { id } }))
    const ofCases = cases.map(({ shown: { id } }): StoredItem => {
      const shown = {
        id: `w${id}`,
        caseInstanceId: id,
        caseExecutionId: id,
        processDefinitionId: null,
        processInstanceId: null,
        taskId: null,
        tenantId: null,
      }
      return { ...nobody, shown }
    })
    const both: ListWorld = {
      definitions,
      items: {
        ...world.items,
        '/case-definition': [{ ...nobody, shown: { id: 'care:1', key: 'care' } }],
        '/case-instance': cases,
        '/variable-instance': [...variables, ...ofCases],
      },
    }
    const gateway = await openGateway(t, { records, engine: listEngine(() => both), settings })
    t.same((await gateway.ask('anna', 'GET /variable-instance/count')).body, { count: 1202 })
    const { body } = await gateway.ask('anna', 'GET /variable-instance?firstResult=1199&maxResults=5')
    t.match(body, [{ id: 'vi02398' }, { id: 'wc1' }, { id: 'wc2' }])
    for (const [query, count] of [
      ['caseInstanceIdIn=c1', 1],
      ['processInstanceIdIn=i00000,i00001', 1],
    ] as const) {
      const counted = await gateway.ask('anna', `GET /variable-instance/count?${query}`)
      t.same(counted.body, { count }, query)
    }
    t.same((await gateway.ask('nobody', 'GET /variable-instance/count')).body, { count: 2 })
  },
)

t.test('a list is planned after its first failed read', async (t) => {
  const serve = listEngine(() => world)
  const laterRead = /^[^?]+\/variable-instance\?.*firstResult=[1-9]/
  const gateway = await openGateway(t, {
    records,
    settings,
    engine: (request, response) => {
      if (request.method === 'GET' && laterRead.test(request.url)) response.writeHead(500).end()
      else serve(request, response)
    },
  })
  const { status, body, forwarded } = await gateway.ask('anna', 'GET /variable-instance?maxResults=90')
  t.equal(status, 200)
  t.equal(Array.isArray(body) && body.length, 90)
  t.equal(forwarded.filter(({ method, url }) => method === 'GET' && laterRead.test(url)).length, 1)
})

t.test('a few thousand variables are read instead of the ids of the visible instances', async (t) => {
  const gateway = await openGateway(t, {
    records: [...records, 'grant nobody PROCESS_INSTANCE:i00005 READ'],
    engine: listEngine(() => world),
  })
  // For a caller with single instances the list is long, because its plan reads no ids.
  await gateway.ask('nobody', 'POST /variable-instance/count', { body: {} })
  for (const route of ['POST /variable-instance/count', 'GET /variable-instance/count']) {
    const { body, forwarded } = await gateway.ask('anna', route, { body: {} })
    t.same(body, { count: 1200 }, route)
    t.same(
      forwarded.filter(({ url }) => url.includes('/process-instance')),
      [],
      route,
    )
  }
})

/** Returns variables of standalone tasks of a tenant. */
function ofTenant(tenantId: string, count: number): readonly StoredItem[] {
  return Array.from({ length: count }, (_, at) => {
    const shown = { id: `${tenantId}${at}`, processInstanceId: null, taskId: `${tenantId}${at}`, tenantId }
    return { shown, definition: null, instanceId: null, tenantId }
  })
}

t.test(
  'the variables of a tenant that appears are not counted for callers without this tenant',
  async (t) => {
    const stored = [...variables, ...ofTenant('acme', 3), ...ofTenant('globex', 5)]
    const tenanted: ListWorld = { definitions, items: { ...world.items, '/variable-instance': stored } }
    const gateway = await openGateway(t, {
      records: [
        'grant mary PROCESS_DEFINITION:* READ_INSTANCE,READ_TASK',
        'grant mary TASK:* READ',
        'revoke mary PROCESS_DEFINITION:b READ_INSTANCE,READ_TASK',
      ],
      settings,
      engine: listEngine(() => tenanted),
    })
    const count = async () => (await gateway.ask('mary', 'GET /variable-instance/count')).body
    const before = await count()
    t.same(await count(), before)
    stored.push(...ofTenant('newco', 7))
    t.same(await count(), before)
    stored.push(...ofTenant('acme', 1))
    t.same(await count(), { count: Number(Object(before).count) + 1 })
  },
)
