import t from 'tap'
import { DEFAULT_DATE_PATTERN } from '../../../src/config/date-pattern.ts'
import { createDateFormat } from '../../../src/request/date-format.ts'
import { createInstanceLists } from '../../../src/lists/facts/instance-lists.ts'
import { isRecord, stringOf } from '../../../src/request/value.ts'

interface Instance {
  readonly id: string
  readonly startTime?: string
}

const QUERY = { processDefinitionKeyIn: ['a'] }
const HISTORY = 'history/process-instance'
const START = Date.parse('2026-01-01T00:00:00Z')

/** Creates an instance that started so many seconds after the first. */
function instance(id: string, seconds: number): Instance {
  return { id, startTime: new Date(START + seconds * 1000).toISOString().replace('Z', '+0000') }
}

/** Opens an engine with these instances, and records its requests. */
function open({ maxRemembered = 1000, pattern = DEFAULT_DATE_PATTERN } = {}) {
  const asked: string[] = []
  const world = { instances: [] as readonly Instance[], nowMs: 0, refusesDates: false }
  const read = async (path: string, query: unknown) => {
    const after = isRecord(query) ? stringOf(query['startedAfter']) : null
    asked.push(`${path.split('?')[0]}${after === null ? '' : ` after ${after}`}`)
    const found = world.instances.filter(
      ({ startTime = '' }) => after === null || Date.parse(startTime) >= Date.parse(after),
    )
    if (path.includes('/count')) return { count: found.length }
    if (after !== null && world.refusesDates) return null
    const paging = new URLSearchParams(path.split('?')[1])
    const first = Number(paging.get('firstResult'))
    return found.slice(first, first + Number(paging.get('maxResults')))
  }
  const { instanceIds, countInstances } = createInstanceLists({
    read,
    dateFormat: createDateFormat(pattern),
    nowMs: () => world.nowMs,
    maxRemembered,
  })
  const ids = async (kind: Parameters<typeof instanceIds>[0] = HISTORY, max = 100_000) => {
    asked.length = 0
    return instanceIds(kind, QUERY, max)
  }
  return { world, asked, ids, countInstances }
}

t.test('ids of the history are remembered, and those of new instances are added', async (t) => {
  const { world, asked, ids } = open()
  world.instances = [instance('a', 0), instance('b', 3600)]
  t.same(await ids(), ['a', 'b'])
  t.same(asked, ['/history/process-instance'])
  world.instances = [...world.instances, instance('c', 3601)]
  t.same(await ids(), ['a', 'b', 'c'])
  const after = '/history/process-instance after 2026-01-01T00:59:00.000+0000'
  t.same(asked, [after, '/history/process-instance/count'], 'a minute back: it may have been seen late')
  t.same(await ids(), ['a', 'b', 'c'])
  t.match(asked, [/after 2026-01-01T00:59:01/])
})

t.test('all ids are read again if an instance was removed or added without a new start', async (t) => {
  const { world, asked, ids } = open()
  world.instances = [instance('a', 0), instance('b', 3600), instance('c', 7200)]
  t.same(await ids(), ['a', 'b', 'c'])
  world.instances = [instance('b', 3600), instance('c', 7200)]
  t.same(await ids(), ['b', 'c'])
  t.equal(asked.length, 3)
  world.instances = [...world.instances, instance('migrated', 5)]
  t.same(await ids(), ['b', 'c', 'migrated'])
  t.equal(asked.length, 3)
})

t.test('all ids are read again after ten minutes, however often they were confirmed', async (t) => {
  const { world, asked, ids } = open()
  world.instances = [instance('a', 0), instance('b', 3600)]
  await ids()
  for (const minutes of [4, 8]) {
    world.nowMs = minutes * 60_000
    await ids()
    t.equal(asked.length, 2)
  }
  // One instance replaces another, which the count does not show.
  world.instances = [instance('migrated', 0), instance('b', 3600)]
  world.nowMs = 11 * 60_000
  t.same(await ids(), ['migrated', 'b'])
})

t.test('an engine that does not accept the date is asked for all instances', async (t) => {
  const { world, ids } = open()
  world.refusesDates = true
  world.instances = [instance('a', 0)]
  await ids()
  world.instances = [...world.instances, instance('b', 5)]
  t.same(await ids(), ['a', 'b'])
})

t.test('ids are read each time if running, without a start time or too many', async (t) => {
  const running = open()
  running.world.instances = [instance('a', 0)]
  const timeless = open()
  timeless.world.instances = [{ id: 'a' }]
  const many = open({ maxRemembered: 1 })
  many.world.instances = [instance('a', 0), instance('b', 1)]
  for (const [{ ids, asked }, kind] of [
    [running, 'process-instance'],
    [timeless, HISTORY],
    [many, HISTORY],
  ] as const)
    for (let times = 0; times < 2; times += 1) {
      await ids(kind)
      t.same(asked, [`/${kind}`])
    }
  const none = open()
  t.same([await none.ids(), await none.ids()], [[], []])
})

t.test('more ids than the limit are not returned, and large pages are read', async (t) => {
  const { world, asked, ids, countInstances } = open()
  world.instances = Array.from({ length: 40_000 }, (_, at) => instance(`i${at}`, at))
  t.equal(await ids(HISTORY, 12_000), null)
  t.equal((await ids(HISTORY, 50_000))?.length, 40_000)
  t.equal(asked.length, 5, 'short rows are read 10,000 at once, after the first 5,000')
  t.equal(await countInstances(HISTORY, QUERY), 40_000)
})

t.test('the start of an instance is sent in the date format of the engine', async (t) => {
  const { world, asked, ids } = open({ pattern: 'dd/MM/yyyy HH:mm:ssX' })
  world.instances = [{ id: 'a', startTime: '01/02/2026 03:00:00+01' }]
  t.same(await ids(), ['a'])
  t.same(await ids(), ['a'])
  t.same(asked, [`/${HISTORY} after 01/02/2026 01:59:00Z`, `/${HISTORY}/count`])
})

t.test('if the dates of the engine cannot be read, all instances are read each time', async (t) => {
  const { world, asked, ids } = open({ pattern: 'yyyy-MM-dd HH:mm:ss' })
  world.instances = [{ id: 'a', startTime: '2026-02-01 03:00:00' }]
  t.same(await ids(), ['a'])
  t.same(await ids(), ['a'])
  t.same(asked, [`/${HISTORY}`])
})
