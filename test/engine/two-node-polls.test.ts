import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { isRecord } from '../../src/request/value.ts'
import { until } from '../support/cache-harness.ts'
import { javaSkip } from '../support/requirements.ts'
import { startDatabase } from './database.ts'
import { type Engine, startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { startGatewayProcess } from './gateway-process.ts'

/** Shorter than 30 seconds, the interval at which an engine looks for tasks of other nodes. */
const WITHIN_MS = 15_000
const TOPICS = ['one', 'other'] as const

t.test(
  'with two nodes on one database a poll gets the tasks that either node creates',
  { skip: javaSkip, timeout: 600_000 },
  async (t) => {
    const database = await startDatabase()
    t.teardown(() => database.stop())
    // The first engine creates the tables.
    const nodes = [await startEngine({ db: database.url }), await startEngine({ db: database.url })]
    t.teardown(() => Promise.all(nodes.map((node) => node.stop())))
    const gateway = await startGatewayProcess({
      nodes: nodes.map(({ base }) => base),
      settings: 'timeouts: { drain: 1s }',
    })
    t.teardown(() => gateway.stop())
    for (const topic of TOPICS) await deploy(nodes[0]?.base ?? '', topic)

    // The polls of one worker are at one node, those of the other worker at the other node.
    const delivered: string[] = []
    const over = new AbortController()
    const workers = TOPICS.map(async (topic) => {
      while (!over.signal.aborted) delivered.push(...(await fetchTasks(gateway, topic)).map(({ id }) => id))
    })
    await wait(2000)
    for (const node of nodes) {
      const before = delivered.length
      for (const topic of TOPICS)
        await exchange(node.base, {
          method: 'POST',
          path: `/process-definition/key/${topic}/start`,
          body: {},
        })
      const untilMs = performance.now() + WITHIN_MS
      while (delivered.length < before + TOPICS.length && performance.now() < untilMs) await wait(50)
      t.equal(delivered.length, before + TOPICS.length, 'both tasks are delivered')
    }
    t.equal(new Set(delivered).size, delivered.length, 'no task is delivered twice')
    over.abort()
    // Ends the last polls.
    for (const topic of TOPICS)
      await exchange(nodes[0]?.base ?? '', {
        method: 'POST',
        path: `/process-definition/key/${topic}/start`,
        body: {},
      })
    await Promise.all(workers)
  },
)

/** A task of an engine that has just started waits longer than the usual 0.1 to 0.6 s, but not for several slow nudges. */
const COLD_MS = 2000
const COLD_TASKS = 40
const SPACING_MS = 200

for (const count of [2, 3])
  t.test(
    `with ${count} nodes that have just started, tasks that are created through the gateway are delivered, nine of ten within ${COLD_MS} ms`,
    { skip: javaSkip, timeout: 600_000 },
    async (t) => {
      const database = await startDatabase()
      t.teardown(() => database.stop())
      const nodes: Engine[] = []
      for (let node = 0; node < count; node += 1) nodes.push(await startEngine({ db: database.url }))
      t.teardown(() => Promise.all(nodes.map((node) => node.stop())))
      const gateway = await startGatewayProcess({
        nodes: nodes.map(({ base }) => base),
        settings: 'timeouts: { drain: 1s }',
      })
      t.teardown(() => gateway.stop())
      for (const topic of TOPICS) await deploy(nodes[0]?.base ?? '', topic)

      const createdMs = new Map<string, number>()
      const deliveredMs = new Map<string, number>()
      const over = new AbortController()
      // Two workers of each topic, so that one of them polls while the other one takes its tasks.
      const workers = [...TOPICS, ...TOPICS].map(async (topic) => {
        while (!over.signal.aborted) {
          const tasks = await fetchTasks(gateway, topic)
          const nowMs = performance.now()
          for (const { businessKey } of tasks) deliveredMs.set(businessKey, nowMs)
        }
      })
      const start = (topic: string, businessKey = '') =>
        exchange(
          gateway.base,
          { method: 'POST', path: `/process-definition/key/${topic}/start`, body: { businessKey } },
          gateway.headers,
        )
      for (let task = 0; task < COLD_TASKS; task += 1) {
        const key = `task-${task}`
        void start(TOPICS[task % TOPICS.length] ?? '', key).then(() => createdMs.set(key, performance.now()))
        await wait(SPACING_MS)
      }
      await until(() => deliveredMs.size === COLD_TASKS && createdMs.size === COLD_TASKS, 60_000)
      over.abort()
      for (const topic of [...TOPICS, ...TOPICS]) await start(topic)
      await Promise.all(workers)
      // A task may be delivered before the response to the request that created it.
      const waitsMs = [...createdMs].map(([key, ms]) => Math.max(0, (deliveredMs.get(key) ?? Infinity) - ms))
      const sorted = waitsMs.toSorted((one, other) => one - other)
      t.comment(`waits in ms: ${sorted.map(Math.round).join(' ')}`)
      t.ok((sorted[Math.floor(0.9 * COLD_TASKS)] ?? Infinity) <= COLD_MS)
      t.ok((sorted.at(-1) ?? Infinity) <= WITHIN_MS)
    },
  )

async function fetchTasks(
  { base, headers }: { readonly base: string; readonly headers: Readonly<Record<string, string>> },
  topic: string,
): Promise<readonly { readonly id: string; readonly businessKey: string }[]> {
  const body = {
    workerId: topic,
    maxTasks: 5,
    asyncResponseTimeout: 60_000,
    topics: [{ topicName: topic, lockDuration: 600_000 }],
  }
  const answer = await exchange(base, { method: 'POST', path: '/external-task/fetchAndLock', body }, headers)
  const tasks: readonly unknown[] = Array.isArray(answer.body) ? answer.body : []
  return tasks.flatMap((task) =>
    isRecord(task) ? [{ id: String(task['id']), businessKey: String(task['businessKey']) }] : [],
  )
}

async function deploy(base: string, topic: string): Promise<void> {
  const source = await readFile(join(import.meta.dirname, 'resources', 'external.bpmn'), 'utf8')
  const model = source
    .replace('process id="external"', `process id="${topic}"`)
    .replace('camunda:topic="work"', `camunda:topic="${topic}"`)
  const form = new FormData()
  form.append('deployment-name', topic)
  form.append('model.bpmn', new Blob([model]), 'model.bpmn')
  const { status, body } = await exchange(base, { method: 'POST', path: '/deployment/create', body: form })
  if (status !== 200) throw new Error(`The deployment failed: ${status} ${JSON.stringify(body)}`)
}
