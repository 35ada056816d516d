import t from 'tap'
import type { ComparisonReport } from '../../src/proxy/compare/comparison-report.ts'
import { until } from '../support/cache-harness.ts'
import { javaSkip } from '../support/requirements.ts'
import { startChangingProxy } from './changing-proxy.ts'
import { deployAll } from './deploy.ts'
import { type Ask, exchange } from './exchange.ts'
import { reportOf, startTwoFamilies } from './two-families.ts'

/** The number of compared reads. `PLANTED_READS=10000` compares as many as before a move. */
const READS = Number(process.env['PLANTED_READS'] ?? 1000)
/** One of so many responses of the new group has another member. */
const ONE_IN = READS / 10
const TASKS = ONE_IN
const WITHIN_MS = 60_000
const WRITE_EVERY_MS = 20
/** On a busy machine, fewer writes are sent. */
const MOST_CYCLES = 8
/** Fewer than the requests that may wait to be compared, so that none is dropped. */
const IN_FLIGHT = 24

void t.test(
  'a difference of the new group is found, and writes are no difference',
  { skip: javaSkip, timeout: 1_800_000 },
  async (t) => {
    const change = { of: (_path: string, _body: string): string | null => null }
    const { gateway } = await startTwoFamilies(t, {
      engine: "shift: { to: new }, compare: { rate: '100%' }",
      settings: 'limits: { pressure: { eventLoopDelay: null } }',
      inFront: async (base, group) => {
        if (group === 'old') return base
        const proxy = await startChangingProxy(base, (path, body) => change.of(path, body))
        t.teardown(() => proxy.stop())
        return proxy.base
      },
    })
    const ask = async (request: Ask) => {
      const answer = await exchange(gateway.base, request, gateway.headers)
      if (answer.status >= 400)
        throw new Error(`${request.method} ${request.path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    }
    await deployAll((method, path, body) => ask({ method, path, body }))
    const create = (id: string) => ask({ method: 'POST', path: '/task/create', body: { id, name: id } })
    for (let number = 0; number < TASKS; number += 1) await create(`task-${number}`)

    await t.test('with 50 writes a second, no difference is reported', async (t) => {
      const before = comparedIn(await reportOf(gateway))
      const writer = startWriting(ask, create)
      let read = 0
      while (comparedIn(await reportOf(gateway)) - before < READS) {
        const reads = Array.from({ length: IN_FLIGHT }, (_, at) => readAt(read + at))
        await Promise.all(reads.map((path) => ask({ method: 'GET', path })))
        read += IN_FLIGHT
        await until(async () => (await reportOf(gateway)).waiting === 0)
      }
      t.comment({ ...(await writer.stop()), ...(await reportOf(gateway)).results })
      const { results, differences } = await reportOf(gateway)
      t.same(differences, [])
      t.ok((results['changed'] ?? 0) > 0, 'the data changed while responses were compared')
    })

    // Each case has its own member: a place at which a difference was found before needs fewer responses.
    for (const [name, member, isChanged] of [
      ['the same entities always differ', 'name', (_count: number, path: string) => path === '/task/task-7'],
      [`one in ${ONE_IN} responses differs`, 'owner', (count: number) => count % ONE_IN === 0],
    ] as const)
      await t.test(`if ${name}, the operation and the member are reported within 60 s`, async (t) => {
        const before = (await reportOf(gateway)).results['different'] ?? 0
        let responses = 0
        let firstMs: number | null = null
        change.of = (path, body) => {
          if (!path.startsWith('/task/task-')) return null
          responses += 1
          if (!isChanged(responses, path)) return null
          firstMs ??= performance.now()
          return body.replace(new RegExp(`"${member}":("[^"]*"|null)`), `"${member}":"changed"`)
        }
        const isFound = async () => ((await reportOf(gateway)).results['different'] ?? 0) > before
        for (let read = 0; !(await isFound()); read += IN_FLIGHT) {
          if (firstMs !== null && performance.now() - firstMs > WITHIN_MS) break
          const reads = Array.from({ length: IN_FLIGHT }, (_, at) => `/task/task-${(read + at) % TASKS}`)
          await Promise.all(reads.map((path) => ask({ method: 'GET', path })))
          await until(async () => (await reportOf(gateway)).waiting === 0)
        }
        t.comment(`${responses} responses, found after ${Math.round(performance.now() - (firstMs ?? 0))} ms`)
        const { differences } = await reportOf(gateway)
        t.match(differences.at(-1), { operation: 'getTask', place: `/${member}` })
        t.notMatch(JSON.stringify(differences), 'changed', 'the report shows no text of the responses')
        change.of = () => null
      })
  },
)

const LISTS = [
  '/task?maxResults=200',
  '/task/count',
  '/task?sortBy=created&sortOrder=desc&maxResults=10',
  '/process-instance',
  '/process-instance/count',
  '/execution/count',
  '/variable-instance',
  '/history/task/count',
  '/history/process-instance/count',
  '/history/activity-instance?maxResults=20',
] as const

function readAt(number: number): string {
  return number % 2 === 0 ? `/task/task-${number % TASKS}` : (LISTS[((number - 1) / 2) % LISTS.length] ?? '')
}

/** Sends a write every 20 ms on average. Each cycle creates a task and an instance, changes them, and completes and deletes them. */
function startWriting(ask: (request: Ask) => Promise<unknown>, create: (id: string) => Promise<unknown>) {
  const startMs = performance.now()
  let sent = 0
  const send = (write: () => Promise<unknown>) => {
    sent += 1
    return write()
  }
  const cycle = async (id: string) => {
    await send(() => create(id))
    const started = await send(() =>
      ask({ method: 'POST', path: '/process-definition/key/review/start', body: { businessKey: id } }),
    )
    const instance = `/process-instance/${Object(started).id}`
    await send(() =>
      ask({ method: 'PUT', path: `${instance}/variables/a`, body: { value: 1, type: 'Long' } }),
    )
    await send(() => ask({ method: 'POST', path: `/task/${id}/claim`, body: { userId: 'demo' } }))
    await send(() => ask({ method: 'POST', path: `/task/${id}/complete`, body: {} }))
    await send(() => ask({ method: 'DELETE', path: instance }))
  }
  let started = 0
  const cycles = new Set<Promise<void>>()
  const timer = setInterval(() => {
    if (cycles.size >= MOST_CYCLES) return
    started += 1
    const running = cycle(`written-${started}`).finally(() => cycles.delete(running))
    cycles.add(running)
  }, 6 * WRITE_EVERY_MS)
  return {
    stop: async () => {
      clearInterval(timer)
      await Promise.all(cycles)
      return { writes: sent, perSecond: Math.round((sent * 1000) / (performance.now() - startMs)) }
    },
  }
}

function comparedIn({ results }: ComparisonReport): number {
  return Object.entries(results).reduce((sum, [name, count]) => (name === 'dropped' ? sum : sum + count), 0)
}
