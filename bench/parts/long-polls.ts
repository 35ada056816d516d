import { setTimeout as wait } from 'node:timers/promises'
import { type Engine, startEngine } from '../../test/engine/engine.ts'
import { exchange } from '../../test/engine/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../../test/engine/gateway-process.ts'
import { holdPolls } from '../../test/engine/held-polls.ts'
import { numberOf } from '../arguments.ts'
import { cpuSecondsOf } from '../foreign-cpu.ts'
import { OWN, type Part, type Row, sampleOf, type Values } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { isRecord } from '../../src/request/value.ts'
import { type Kind, KINDS, modelOf } from './long-poll-models.ts'

const TOPICS = 8
const HOLD_MS = 30_000
/** Longer than a measurement, so a task that is delivered twice is an error. */
const LOCK_MS = 3_600_000
const IDLE_SECONDS = 30

interface Delivery {
  readonly id: string
  readonly kind: string
  readonly latencyMs: number
}

type Call = (method: 'GET' | 'POST', path: string, body?: unknown) => Promise<unknown>

/** The time from the creation of a task to its delivery, with real engines. */
export const longPolls: Part = {
  name: 'long-polls',
  title: 'Long polls',
  measures:
    'Two engines share an H2 database. Eight workers with one topic each poll through the gateway, and each kind of event creates tasks. The time ' +
    'from the creation of a task, as the engine reports it, to its delivery, with and without nudges. With `--idle 150`, the processor time of nodes ' +
    'that hold 150 polls each.',
  columns: [
    { key: 'tasks', title: 'tasks delivered', unit: 'number' },
    { key: 'twice', title: 'delivered twice', unit: 'number' },
    { key: 'p50', title: 'p50', unit: 'ms' },
    { key: 'p75', title: 'p75', unit: 'ms' },
    { key: 'p99', title: 'p99', unit: 'ms' },
    { key: 'max', title: 'longest', unit: 'ms' },
    { key: 'cpuMs', title: 'processor time of a node in a second', unit: 'ms' },
  ],
  needs: ['java', 'mvn'],
  isExtra: true,
  options: {
    nodes: '2',
    tasks: '80',
    spacing: '200',
    nudge: 'false,{ every: 750ms }',
    // The number of idle polls at each node whose cost is measured. With 0, deliveries are measured instead.
    idle: '0',
  },
  run: async ({ directory, options, isQuick, log }) => {
    const of = (name: string, least = 1) => numberOf(name, options[name] ?? '', least)
    const [nodes, idle, tasks, spacingMs] = [of('nodes'), of('idle', 0), of('tasks'), of('spacing', 0)]
    const engines: Engine[] = []
    const rows: Row[] = []
    try {
      const db = `jdbc:h2:file:${directory}/engine;AUTO_SERVER=TRUE`
      for (let count = 0; count < nodes; count += 1) engines.push(await startEngine({ db, jobs: true }))
      // Commas separate the settings, as in `false,{ every: 750ms }`. No setting contains a comma.
      for (const nudge of (options['nudge'] ?? '').split(',')) {
        const gateway = await startGateway(engines, nudge)
        const measurement = {
          nudge,
          nodes: engines.length,
          tasks: isQuick ? 8 : tasks,
          spacingMs,
        }
        try {
          rows.push(
            ...(idle > 0
              ? await measureIdle(gateway, engines, { nudge, perNode: idle })
              : await measureDeliveries(gateway, measurement)),
          )
          log(`  nudge ${nudge}: ${await nudgesOf(gateway)}`)
        } finally {
          await gateway.stop()
        }
      }
      return rows
    } finally {
      await Promise.all(engines.map((engine) => engine.stop()))
    }
  },
}

function startGateway(engines: readonly Engine[], nudge: string): Promise<GatewayProcess> {
  return startGatewayProcess({
    nodes: engines.map(({ base }) => base),
    settings: `limits: { longPolls: { nudge: ${nudge} } }\ntimeouts: { drain: 1s }`,
  })
}

function callerOf({ base, headers }: GatewayProcess): Call {
  return async (method, path, body) => {
    const answer = await exchange(base, { method, path, ...(body === undefined ? {} : { body }) }, headers)
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
}

interface Measurement {
  readonly nudge: string
  readonly nodes: number
  readonly tasks: number
  readonly spacingMs: number
}

async function measureDeliveries(gateway: GatewayProcess, measurement: Measurement): Promise<readonly Row[]> {
  const { nudge, nodes, tasks, spacingMs } = measurement
  const call = callerOf(gateway)
  for (const kind of KINDS) await deploy(call, kind)
  const deliveries: Delivery[] = []
  let isOver = false
  const { foreign } = await sampleOf(async () => {
    for (let index = 0; index < TOPICS; index += 1)
      void work(call, { topic: topicOf(nodes, nudge, index), deliveries, isOver: () => isOver })
    await wait(2000)
    for (const kind of KINDS) {
      await createTasks(call, kind, { tasks, spacingMs, topicOf: (index) => topicOf(nodes, nudge, index) })
      await wait(3000)
    }
    const expected = tasks * KINDS.length
    const untilMs = performance.now() + HOLD_MS + 10_000
    while (deliveries.length < expected && performance.now() < untilMs) await wait(200)
    isOver = true
    return {}
  })
  return KINDS.map((kind) => ({
    case: `${kind}, nudge: ${nudge}`,
    server: OWN,
    samples: [{ values: valuesOf(kind, deliveries), foreign }],
  }))
}

function topicOf(nodes: number, nudge: string, index: number): string {
  return `bench-${nodes}-${nudge.replaceAll(/\W/g, '')}-${index % TOPICS}`
}

async function deploy(call: Call, kind: Kind): Promise<void> {
  const form = new FormData()
  form.append('deployment-name', kind)
  form.append('enable-duplicate-filtering', 'true')
  form.append('model.bpmn', new Blob([modelOf(kind)]), 'model.bpmn')
  await call('POST', '/deployment/create', form)
}

interface Creation {
  readonly tasks: number
  readonly spacingMs: number
  readonly topicOf: (index: number) => string
}

/** Creates external tasks one after the other. Consecutive tasks have different topics. */
async function createTasks(
  call: Call,
  kind: Kind,
  { tasks, spacingMs, topicOf: topicAt }: Creation,
): Promise<void> {
  const start = async (index: number): Promise<string> => {
    const variables = { topic: { value: topicAt(index), type: 'String' } }
    const businessKey = `${kind}-${topicAt(index)}-${index}`
    const instance = await call('POST', `/process-definition/key/${kind}/start`, { variables, businessKey })
    return isRecord(instance) ? String(instance['id']) : ''
  }
  const continued: (() => Promise<unknown>)[] = []
  if (kind === 'completion' || kind === 'message')
    for (let index = 0; index < tasks; index += 1) {
      const id = await start(index)
      continued.push(kind === 'message' ? () => correlate(call, id) : await completionOf(call, id))
    }
  for (let index = 0; index < tasks; index += 1) {
    const pause = wait(spacingMs)
    await (continued[index]?.() ?? start(index))
    await pause
  }
}

function correlate(call: Call, processInstanceId: string): Promise<unknown> {
  return call('POST', '/message', { messageName: 'go', processInstanceId })
}

async function completionOf(call: Call, instance: string): Promise<() => Promise<unknown>> {
  const list = await call('GET', `/task?processInstanceId=${instance}`)
  const [task]: readonly unknown[] = Array.isArray(list) ? list : []
  const id = isRecord(task) ? String(task['id']) : ''
  return () => call('POST', `/task/${id}/complete`, {})
}

interface Work {
  readonly topic: string
  readonly deliveries: Delivery[]
  readonly isOver: () => boolean
}

/** Runs a worker for one topic. It completes no task, because a completion would nudge the nodes as well. */
async function work(call: Call, { topic, deliveries, isOver }: Work): Promise<void> {
  while (!isOver()) {
    const tasks = await call('POST', '/external-task/fetchAndLock', {
      workerId: topic,
      maxTasks: 10,
      asyncResponseTimeout: HOLD_MS,
      topics: [{ topicName: topic, lockDuration: LOCK_MS, variables: [] }],
    }).catch((error: unknown) => {
      // The gateway ends while the last polls are still open.
      if (isOver()) return []
      throw error
    })
    const nowMs = Date.now()
    for (const task of Array.isArray(tasks) ? tasks : [])
      if (isRecord(task))
        deliveries.push({
          id: String(task['id']),
          kind: String(task['processDefinitionKey']),
          latencyMs: nowMs - Date.parse(String(task['createTime'])),
        })
  }
}

function valuesOf(kind: Kind, deliveries: readonly Delivery[]): Values {
  const own = deliveries.filter((one) => one.kind === kind)
  const ids = new Set(own.map(({ id }) => id))
  const sorted = own.map(({ latencyMs }) => latencyMs).toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
  return {
    tasks: ids.size,
    twice: own.length - ids.size,
    p50: at(0.5),
    p75: at(0.75),
    p99: at(0.99),
    max: at(1),
  }
}

/** Measures the processor time of the nodes while they hold polls that get no task. */
async function measureIdle(
  gateway: GatewayProcess,
  engines: readonly Engine[],
  { nudge, perNode }: { readonly nudge: string; readonly perNode: number },
): Promise<readonly Row[]> {
  const polls = holdPolls(gateway, { count: perNode * engines.length, holdMs: 600_000 })
  await polls.waiting
  // The engines first compile the code that they execute often.
  await wait(20_000)
  const before = engines.map(({ pid }) => cpuSecondsOf(pid))
  const { foreign } = await sampleOf(async () => {
    await wait(IDLE_SECONDS * 1000)
    return {}
  })
  const samples = engines.map(({ pid }, index) => {
    const cpuMs = ((cpuSecondsOf(pid) - (before[index] ?? 0)) * 1000) / IDLE_SECONDS
    return { values: { cpuMs }, foreign }
  })
  await polls.stop()
  return [{ case: `${perNode} idle polls, nudge: ${nudge}`, server: OWN, samples }]
}

async function nudgesOf({ adminAddress }: GatewayProcess): Promise<string> {
  const text = await (await fetch(`${adminAddress}/metrics`)).text()
  const counts = text.matchAll(/^gateway_long_polls_nudges_total\{.*result="(\w+)"\} (\d+)$/gm)
  const words = [...counts].map(([, result = '', count = '']) => `${count} ${result}`)
  return `nudges: ${words.length === 0 ? 'none' : words.join(', ')}`
}

if (import.meta.main) await runAlone(longPolls)
