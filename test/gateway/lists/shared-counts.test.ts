import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { openGateway } from '../../support/open-gateway.ts'

const RECORDS = [
  'grant mary PROCESS_DEFINITION:review READ_TASK,READ',
  'grant anna TASK:* READ',
  'grant ben TASK:* READ',
]

/** Opens an engine that responds to counts when the test lets it, and to all other requests at once. */
async function open(t: Test, counts: boolean, known: object = {}) {
  const held: ServerResponse[] = []
  const gateway = await openGateway(t, {
    settings: { cache: { counts } },
    records: RECORDS,
    engines: { known: { ...known } },
    engine: ({ url }, response) => {
      response.setHeader('content-type', 'application/json')
      if (url.includes('/count')) held.push(response)
      else response.end('[]')
    },
  })
  const untilHeld = async (count: number) => {
    while (held.length < count) await new Promise(setImmediate)
  }
  const respond = () => held.forEach((response, at) => response.end(`{"count":${at + 1}}`))
  return { ...gateway, held, untilHeld, respond }
}

t.test('counts of callers who see the same items share one request', async (t) => {
  const { ask, held, untilHeld, respond, dependencies } = await open(t, true)
  const all = [
    ask('anna', 'GET /task/count'),
    ask('ben', 'GET /task/count'),
    ask('demo', 'GET /task/count'),
    ask('demo', 'GET /task/count'),
  ]
  await untilHeld(2)
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
  t.equal(held.length, 2, 'an administrator also sees the tasks of tenants')
  respond()
  const counts = (await Promise.all(all)).map(({ body }) => JSON.stringify(body))
  t.equal(counts[0], counts[1])
  t.equal(counts[2], counts[3])
  t.not(counts[0], counts[2])
  t.match(
    await dependencies.metrics.text(),
    /^gateway_shared_counts_total\{engine="default",result="joined"\} 2$/m,
  )
})

t.test('a caller who sees some items does not share the count of all items', async (t) => {
  const { ask, untilHeld, respond } = await open(t, true)
  const both = [ask('demo', 'POST /task/count', { body: {} }), ask('mary', 'POST /task/count', { body: {} })]
  await untilHeld(2)
  respond()
  const [all, some] = await Promise.all(both)
  t.match(all?.status, 200)
  t.match(some?.status, 200)
  t.not(JSON.stringify(all?.body), JSON.stringify(some?.body))
})

t.test('callers share no count if the engine knows them', async (t) => {
  for (const credentials of ['forward', { header: 'context-user-id' }] as const) {
    const { ask, held, untilHeld, respond } = await open(t, true, { credentials })
    const all = [
      ask('anna', 'GET /engine/known/task/count'),
      ask('ben', 'GET /engine/known/task/count'),
      ask('ben', 'GET /engine/known/task/count'),
    ]
    await untilHeld(2)
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
    t.equal(held.length, 2, 'only the requests of one caller share a response')
    respond()
    const [ofAnna, ...ofBen] = (await Promise.all(all)).map(({ body }) => JSON.stringify(body))
    t.equal(ofBen[0], ofBen[1])
    t.not(ofAnna, ofBen[0])
  }
})

t.test('by default each count is sent', async (t) => {
  const { ask, untilHeld, respond } = await open(t, false)
  const both = [ask('demo', 'GET /task/count'), ask('demo', 'GET /task/count')]
  await untilHeld(2)
  respond()
  await Promise.all(both)
})
