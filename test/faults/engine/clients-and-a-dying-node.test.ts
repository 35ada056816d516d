import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { isRecord } from '../../../src/request/value.ts'
import { javaSkip } from '../../support/requirements.ts'
import { startDatabase } from '../../engine/database.ts'
import { startEngine } from '../../engine/engine.ts'
import { completionsOf } from '../../engine/completions.ts'
import { exchange } from '../../engine/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../../engine/gateway-process.ts'
import { startJavaWorker, startScriptWorker, type Worker } from '../../engine/clients.ts'

const POLL_MS = 5000
/** Longer than two engines, a database and two clients may pause on two busy cores. A task whose lock ends would be delivered twice. */
const LOCK_MS = 12_000
const EVERY_MS = 100
/**
 * All instances are completed within this time after the last start. It is the sum of a lock whose worker never
 * received its task, one more poll, and a margin.
 */
const DONE_MS = LOCK_MS + POLL_MS + 20_000
/** Message of GW_OUTCOME_UNKNOWN for a write without a response from the node, which may have executed it. The clients do not show the code. */
const FATE_UNKNOWN = 'The engine closed the connection; it is unknown whether the request took effect'
/** Number of tasks that each client completes before, without and after the node. This is the work of five seconds. */
const STEP = 50
/** A client that does not complete them in this time has stopped. */
const STOPPED_MS = 25_000

t.test(
  'external task clients in JavaScript and Java continue while one of two engine nodes is killed and restarted',
  {
    skip: javaSkip,
    timeout: 200_000,
  },
  async (t) => {
    const database = await startDatabase()
    t.teardown(() => database.stop())
    const nodes = [await startEngine({ db: database.url }), await startEngine({ db: database.url })] as const
    const [{ base }, dying] = nodes
    t.teardown(() => Promise.all(nodes.map((node) => node.stop())))
    await deploy(base)
    const gateway = await startGatewayProcess({ nodes: nodes.map((node) => node.base) })
    t.teardown(() => gateway.stop())
    const working = { base: gateway.base, pollMs: POLL_MS, lockMs: LOCK_MS }
    const java = await startJavaWorker({ ...working, topic: 'java' })
    t.teardown(() => java.stop())
    const script = startScriptWorker({ ...working, topic: 'script' })
    t.teardown(() => script.stop())
    const workers: readonly (readonly [string, Worker])[] = [
      ['java', java],
      ['script', script],
    ]
    const load = startInstances(gateway)
    await goOn(workers)
    process.kill(dying.pid, 'SIGKILL')
    await goOn(workers)
    const back = await startEngine({ db: database.url, port: dying.port })
    t.teardown(() => back.stop())
    await goOn(workers)
    const { started, unknown, failed } = await load.end()
    await whenDone(base)
    const done = await completionsOf(base, 'twoWorkers')

    await t.test(
      'every process instance with a confirmed start exists, and only starts in flight at the kill failed',
      (t) => {
        t.ok(started.length > 150, `${started.length} instances`)
        t.same(failed, [])
        t.same(
          started.filter((key) => !done.has(key)),
          [],
        )
        t.same(
          [...done.keys()].filter((key) => !started.includes(key) && !unknown.includes(key)),
          [],
        )
        t.end()
      },
    )

    await t.test('each task of each instance is completed once', (t) => {
      t.same(
        [...done].filter(([, topics]) => topics.toSorted().join() !== 'java,script'),
        [],
      )
      t.end()
    })

    for (const [name, { errors }] of workers)
      await t.test(`the ${name} client reports errors only for requests in flight at that node`, (t) => {
        t.same(
          errors.filter((error) => !error.includes(FATE_UNKNOWN)),
          [],
        )
        t.comment(`${name}: ${JSON.stringify(errors)}`)
        t.end()
      })
  },
)

/**
 * Waits until each worker has completed `STEP` more tasks.
 * @throws Error if a worker has stopped
 */
async function goOn(workers: readonly (readonly [string, Worker])[]): Promise<void> {
  const atMs = performance.now()
  const aims = workers.map(([, { completed }]) => completed.length + STEP)
  while (workers.some(([, { completed }], index) => completed.length < (aims[index] ?? 0))) {
    if (performance.now() - atMs > STOPPED_MS)
      throw new Error(
        `One has stopped: ${JSON.stringify(workers.map(([name, { completed, errors }]) => [name, completed.length, errors]))}`,
      )
    await delay(100)
  }
}

async function deploy(base: string): Promise<void> {
  const form = new FormData()
  const file = 'two-workers.bpmn'
  form.append('deployment-name', file)
  form.append(
    file,
    new Blob([await readFile(new URL(`../../engine/resources/${file}`, import.meta.url))]),
    file,
  )
  await exchange(base, { method: 'POST', path: '/deployment/create', body: form })
}

/** Starts instances at a steady pace, however long the responses take. */
function startInstances({ base, headers }: GatewayProcess) {
  const started: string[] = []
  const unknown: string[] = []
  const failed: string[] = []
  const underWay = new Set<Promise<void>>()
  let count = 0
  const begin = async (businessKey: string): Promise<void> => {
    const path = '/process-definition/key/twoWorkers/start'
    const answer = await exchange(base, { method: 'POST', path, body: { businessKey } }, headers)
    const code = answer.headers.get('x-gateway-error')
    if (answer.status === 200) started.push(businessKey)
    else if (code === 'GW_OUTCOME_UNKNOWN') unknown.push(businessKey)
    else failed.push(`${answer.status} ${code} ${JSON.stringify(answer.body)}`)
  }
  const pace = setInterval(() => {
    count += 1
    const one: Promise<void> = begin(`instance ${count}`)
      .catch((error: unknown) => void failed.push(String(error)))
      .finally(() => underWay.delete(one))
    underWay.add(one)
  }, EVERY_MS)
  return {
    end: async () => {
      clearInterval(pace)
      await Promise.all(underWay)
      return { started, unknown, failed }
    },
  }
}

/**
 * Resolves when no instance is left.
 * @throws Error if instances are left after `DONE_MS`
 */
async function whenDone(base: string): Promise<void> {
  const atMs = performance.now()
  for (;;) {
    const { body } = await exchange(base, { method: 'GET', path: '/process-instance/count' })
    if (isRecord(body) && body['count'] === 0) return
    if (performance.now() - atMs > DONE_MS) throw new Error(`Not done: ${JSON.stringify(body)}`)
    await delay(200)
  }
}
