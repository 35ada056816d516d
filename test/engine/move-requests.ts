import type { Test } from 'tap'
import { isRecord } from '../../src/request/value.ts'
import { until } from '../support/cache-harness.ts'
import { buildPythonClient } from './build.ts'
import {
  startJavaWorker,
  startPythonWorker,
  startScriptWorker,
  type Worker,
  type WorkerOptions,
} from './clients.ts'
import { completionsOf } from './completions.ts'
import type { Database } from './database.ts'
import { exchange } from './exchange.ts'
import type { GatewayProcess } from './gateway-process.ts'
import { checkJobs, createJobExecutors } from './job-executors.ts'
import { deployMoved, startMovedClients } from './moved-clients.ts'
import { type RecordedNode, startRecordedNode } from './recorded-node.ts'
import { requestsByNode } from './requests-by-node.ts'
import { shiftTo } from './shift-to.ts'
import { startTwoFamilies } from './two-families.ts'

/** `FULL_MOVE=1` moves 1,000 instances, with a Python client as well. */
export const IS_FULL = process.env['FULL_MOVE'] === '1'
const INSTANCES = IS_FULL ? 1000 : 120
/** How the shares change while the instances run, and which group gets the job executor. This is repeated once. */
const STEPS = [
  { shares: { reads: '0%', writes: '0%' } },
  { shares: { reads: '50%', writes: '0%' } },
  { shares: { reads: '100%', writes: '0%' } },
  { shares: { reads: '100%', writes: '50%' } },
  { shares: { reads: '100%', writes: '100%' }, jobsTo: 'new' },
  { shares: { reads: '0%', writes: '0%' }, jobsTo: 'old' },
] as const
/** The most instances that run when the shares change. */
const BACKLOG = 5
const POLL_MS = 5000
/** Longer than the test. A task whose lock ends would be delivered twice. */
const LOCK_MS = 600_000

interface MoveOptions {
  readonly startDatabase: () => Promise<Database>
  /** Whether the job executor moves with the writes. Otherwise it stays at the old group. */
  readonly isSwitched: boolean
}

/** Moves requests from Camunda to Operaton and back, twice, while clients in several languages execute instances. */
export async function testMove(t: Test, { startDatabase, isSwitched }: MoveOptions): Promise<void> {
  const nodes: RecordedNode[] = []
  const families = await startTwoFamilies(t, {
    engine: 'shift: { to: new }',
    settings: 'timeouts: { drain: 1s }\nhealth: { interval: 1s }',
    startDatabase,
    jobsOf: 'old',
    inFront: async (base) => {
      const node = await startRecordedNode(t, base)
      nodes.push(node)
      return node.base
    },
  })
  const { old, next, gateway } = families
  const workers = await startWorkers(t, gateway)
  await deployMoved(gateway.base, [...workers.keys()], gateway.headers, { hasJobs: true })
  const clients = startMovedClients(t, gateway)
  const [oldNode = '', newNode = ''] = nodes.map(({ base }) => base)
  const executors = createJobExecutors(families, { old: oldNode, new: newNode })

  const all = [...workers.values()]
  const isDone = (count: number) => all.every(({ completed }) => completed.length >= count)
  const hasErrors = () => all.some(({ errors }) => errors.length > 0)
  /** Waits until all workers have completed so many tasks, or one of them has failed. */
  const waitFor = (count: number) => until(() => isDone(count) || hasErrors(), 300_000).catch(() => undefined)
  const startedMs = performance.now()
  for (const [at, step] of [...STEPS, ...STEPS].entries()) {
    await shiftTo(gateway, step.shares)
    const end = Math.floor(((at + 1) * INSTANCES) / (2 * STEPS.length))
    const count = end - clients.started.length
    if ('jobsTo' in step && isSwitched) {
      // Instances run while each of the two nodes is restarted, and when both job executors are active.
      await clients.start(Math.floor(count / 3))
      await Promise.all([executors.activate(step.jobsTo), clients.start(Math.floor(count / 3))])
      await Promise.all([
        executors.deactivate(step.jobsTo === 'new' ? 'old' : 'new'),
        clients.start(Math.floor(count / 3)),
      ])
    }
    await clients.start(end - clients.started.length)
    // The shares change while some tasks wait and others are locked.
    await waitFor(end - BACKLOG)
  }
  await waitFor(INSTANCES)
  // A lock that was not removed would explain a task that nobody has completed.
  const metrics = await (await fetch(`${gateway.adminAddress}/metrics`)).text()
  t.comment(metrics.match(/^gateway_long_polls_unlocked_total.*$/gm) ?? 'no task was unlocked')
  t.comment(`${INSTANCES} instances in ${Math.round(performance.now() - startedMs)} ms`)
  await clients.stop()

  t.same(clients.unexpected, [], 'the starter, the task client and the reader get no error')
  for (const [topic, { errors }] of workers) t.same(errors, [], `the ${topic} client gets no error`)
  const keys = clients.started.toSorted()
  t.equal(new Set(keys).size, INSTANCES)
  for (const { base } of [old, next]) await checkHistory(t, base, { keys, topics: [...workers.keys()] })
  await checkJobs(t, old.base, { instances: INSTANCES, isSwitched })
  const requests = await requestsByNode(gateway)
  t.comment(Object.fromEntries(requests))
  for (const { base } of nodes) t.ok((requests.get(base) ?? 0) > INSTANCES / 2, `${base} got requests`)
  checkLocks(t, nodes)
}

/** Starts a worker for each topic. An instance has an external task of each topic, in this order. */
async function startWorkers(t: Test, { base }: GatewayProcess): Promise<ReadonlyMap<string, Worker>> {
  const workers = new Map<string, Worker>()
  const start = async (topic: string, startWorker: (options: WorkerOptions) => Worker | Promise<Worker>) => {
    const worker = await startWorker({ base, topic, pollMs: POLL_MS, lockMs: LOCK_MS })
    t.teardown(() => worker.stop())
    workers.set(topic, worker)
  }
  await start('script', startScriptWorker)
  await start('java', startJavaWorker)
  if (await hasPython(t)) await start('python', startPythonWorker)
  return workers
}

async function hasPython(t: Test): Promise<boolean> {
  const missing = IS_FULL
    ? await buildPythonClient().then(
        () => null,
        (error: unknown) => `it could not be installed: ${String(error)}`,
      )
    : 'FULL_MOVE=1 is not set'
  if (missing !== null) t.comment(`without the Python client: ${missing}`)
  return missing === null
}

/** Checks that a node's history has each instance, each user task and each external task once. */
async function checkHistory(
  t: Test,
  base: string,
  { keys, topics }: { readonly keys: readonly string[]; readonly topics: readonly string[] },
): Promise<void> {
  const completions = await completionsOf(base, 'moved')
  t.same([...completions.keys()].toSorted(), keys, 'each business key has one instance')
  t.same(
    [...completions].filter(([, completed]) => completed.toSorted().join() !== topics.toSorted().join()),
    [],
    'each external task was completed once',
  )
  const path = '/history/process-instance/count?processDefinitionKey=moved&completed=true'
  t.match((await exchange(base, { method: 'GET', path })).body, { count: keys.length }, 'each instance ended')
  const { body } = await exchange(base, {
    method: 'GET',
    path: '/history/task?processDefinitionKey=moved&finished=true',
  })
  const tasks: readonly unknown[] = Array.isArray(body) ? body : []
  const instances = tasks.map((task) => (isRecord(task) ? task['processInstanceId'] : null))
  t.equal(instances.length, keys.length, 'as many user tasks as instances were completed')
  t.equal(new Set(instances).size, keys.length, 'each instance has completed one user task')
}

/** Checks that tasks which one node has locked were completed at the other, in both directions. */
function checkLocks(t: Test, nodes: readonly RecordedNode[]): void {
  const [[here = 0, to = 0] = [], [back = 0, there = 0] = []] = nodes.map(({ locked }) =>
    nodes.map(({ completed }) => [...locked].filter((id) => completed.has(id)).length),
  )
  t.comment(`locked at old and completed at new: ${to}; locked at new and completed at old: ${back}`)
  t.comment(`locked and completed at old: ${here}; at new: ${there}`)
  t.ok(to > 0, 'locks of the old group are valid at the new group')
  t.ok(back > 0, 'locks of the new group are valid at the old group')
}
