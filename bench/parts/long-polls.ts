import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Engine, startEngine } from '../../test/engine/engine.ts'
import { exchange } from '../../test/engine/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../../test/engine/gateway-process.ts'
import { holdPolls } from '../../test/engine/held-polls.ts'
import { isRecord } from '../../src/request/value.ts'
import { type Kind, KINDS, modelOf } from './long-poll-models.ts'

// Measures the time from the creation of an external task to its delivery to a worker that polls through the gateway, with
// several nodes of an engine on one database. With `--idle`, measures the processor time that idle polls cost the nodes instead.

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

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      nodes: { type: 'string', default: '2' },
      tasks: { type: 'string', default: '80' },
      spacing: { type: 'string', default: '200' },
      nudge: { type: 'string', default: 'false,{ every: 750ms }' },
      /** The number of idle polls at each node whose cost is measured. With 0, deliveries are measured instead. */
      idle: { type: 'string', default: '0' },
    },
  })
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-bench-'))
  const engines: Engine[] = []
  try {
    const db = `jdbc:h2:file:${folder}/engine;AUTO_SERVER=TRUE`
    for (let i = 0; i < Number(values.nodes); i += 1) engines.push(await startEngine({ db, jobs: true }))
    // Commas separate the settings, as in `false,{ every: 750ms }`. No setting contains a comma.
    for (const nudge of values.nudge.split(',')) {
      const gateway = await startGateway(engines, nudge)
      try {
        if (Number(values.idle) > 0)
          await measureIdle(gateway, engines, { nudge, perNode: Number(values.idle) })
        else
          await measureDeliveries(gateway, {
            nudge,
            nodes: engines.length,
            tasks: Number(values.tasks),
            spacingMs: Number(values.spacing),
          })
      } finally {
        await gateway.stop()
      }
    }
  } finally {
    await Promise.all(engines.map((engine) => engine.stop()))
    await rm(folder, { recursive: true })
  }
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

async function measureDeliveries(gateway: GatewayProcess, measurement: Measurement): Promise<void> {
  const { nudge, nodes, tasks, spacingMs } = measurement
  const call = callerOf(gateway)
  for (const kind of KINDS) await deploy(call, kind)
  const deliveries: Delivery[] = []
  let isOver = false
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
  const ids = new Set(deliveries.map(({ id }) => id))
  print(`\n${nodes} nodes, nudge: ${nudge}; ${await nudgesOf(gateway)}`)
  print(`delivered ${ids.size} of ${expected}, ${deliveries.length - ids.size} of them twice\n`)
  print('| tasks of | tasks | p50 | p75 | p99 | longest |\n|---|---|---|---|---|---|')
  for (const kind of KINDS) print(rowOf(kind, deliveries))
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

function rowOf(kind: Kind, deliveries: readonly Delivery[]): string {
  const sorted = deliveries
    .filter((one) => one.kind === kind)
    .map(({ latencyMs }) => latencyMs)
    .toSorted((one, other) => one - other)
  const at = (share: number): string => `${sorted[Math.ceil(share * sorted.length) - 1] ?? '-'} ms`
  return `| ${kind} | ${sorted.length} | ${at(0.5)} | ${at(0.75)} | ${at(0.99)} | ${at(1)} |`
}

/** Measures the processor time of the nodes while they hold polls that get no task. */
async function measureIdle(
  gateway: GatewayProcess,
  engines: readonly Engine[],
  { nudge, perNode }: { readonly nudge: string; readonly perNode: number },
): Promise<void> {
  const polls = holdPolls(gateway, { count: perNode * engines.length, holdMs: 600_000 })
  await polls.waiting
  // The engines first compile the code that they execute often.
  await wait(20_000)
  const before = await Promise.all(engines.map(({ pid }) => cpuMsOf(pid)))
  await wait(IDLE_SECONDS * 1000)
  const after = await Promise.all(engines.map(({ pid }) => cpuMsOf(pid)))
  const perSecond = after.map((ms, index) => Math.round((ms - (before[index] ?? 0)) / IDLE_SECONDS))
  print(
    `${engines.length} nodes with ${perNode} idle polls each, nudge: ${nudge}; ${await nudgesOf(gateway)}`,
  )
  print(`processor time of each node: ${perSecond.join(', ')} ms a second`)
  await polls.stop()
}

/** Returns the user and system time of a process in milliseconds. proc(5) reports them in ticks, which are 10 ms long. */
async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function nudgesOf({ adminAddress }: GatewayProcess): Promise<string> {
  const text = await (await fetch(`${adminAddress}/metrics`)).text()
  const counts = text.matchAll(/^gateway_long_polls_nudges_total\{.*result="(\w+)"\} (\d+)$/gm)
  const words = [...counts].map(([, result = '', count = '']) => `${count} ${result}`)
  return `nudges: ${words.length === 0 ? 'none' : words.join(', ')}`
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

await main()
