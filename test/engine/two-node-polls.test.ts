import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { isRecord } from '../../src/request/value.ts'
import { javaSkip } from '../support/requirements.ts'
import { startDatabase } from './database.ts'
import { startEngine } from './engine.ts'
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
      while (!over.signal.aborted) delivered.push(...(await fetchTasks(gateway, topic)))
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

async function fetchTasks(
  { base, headers }: { readonly base: string; readonly headers: Readonly<Record<string, string>> },
  topic: string,
): Promise<readonly string[]> {
  const body = {
    workerId: topic,
    maxTasks: 5,
    asyncResponseTimeout: 60_000,
    topics: [{ topicName: topic, lockDuration: 600_000 }],
  }
  const answer = await exchange(base, { method: 'POST', path: '/external-task/fetchAndLock', body }, headers)
  const tasks: readonly unknown[] = Array.isArray(answer.body) ? answer.body : []
  return tasks.flatMap((task) => (isRecord(task) ? [String(task['id'])] : []))
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
