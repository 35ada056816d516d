import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import bcrypt from 'bcrypt'
import { pino } from 'pino'
import { test } from 'tap'
import { runInProcess } from '../support/run-command.ts'
import { loadConfig } from '../../src/config/config.ts'
import { until } from '../support/cache-harness.ts'
import { javaSkip } from '../support/requirements.ts'
import { start } from '../support/start.ts'
import { startJavaWorker, startScriptWorker } from './clients.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'

const TOPICS = ['java', 'script'] as const
/** The user with which the workers of the tests authenticate. */
const USER = 'demo'
const DONE_MS = 120_000
const basic = { authorization: `Basic ${Buffer.from(`${USER}:${USER}`).toString('base64')}` }

void test('with the records that are suggested after a report, workers complete their tasks', {
  skip: javaSkip,
  timeout: 900_000,
}, async (t) => {
  const engine = await startEngine()
  t.teardown(() => engine.stop())
  await deploy(engine.base)
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-suggest-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const startAs = (mode: string, records: string) =>
    startGateway({ folder, engine: engine.base, mode, records })

  const closed = await startAs('enforce', 'authorizations: []')
  const topics = TOPICS.map((topicName) => ({ topicName, lockDuration: 1000 }))
  const fetch = {
    method: 'POST',
    path: '/external-task/fetchAndLock',
    body: { workerId: 'w', maxTasks: 1, topics },
  } as const
  await startInstances(engine.base)
  t.same((await exchange(closed.base, fetch, basic)).body, [])
  const withheld = await closed.end()
  t.match(
    withheld.lines.map((line) => JSON.parse(line)),
    [{ operation: 'fetchAndLock', decision: 'permitted', rule: 'items: none', status: 200 }],
    'the audit line says that nothing was offered',
  )
  t.equal((await suggested(withheld.lines)).code, 1, 'and nothing is enough for that')

  const reporting = await startAs('report', 'authorizations: []')
  await completeAll(reporting.base, 1)
  const { lines } = await reporting.end()
  const { code, out } = await suggested(lines)
  t.equal(code, 0)
  t.same(
    out
      .split('\n')
      .flatMap((line) => /resourceId: (\w+), permissions: (\[.*\])/.exec(line)?.slice(1).join(' ') ?? [])
      .sort(),
    TOPICS.map((topic) => `${topic} [READ_INSTANCE, UPDATE_INSTANCE]`),
    out,
  )

  const enforcing = await startAs('enforce', out)
  await startInstances(engine.base)
  await completeAll(enforcing.base, 1)
  const done = await enforcing.end()
  t.same(
    done.lines.map((line) => JSON.parse(line)).filter(({ decision }) => decision !== 'permitted'),
    [],
    'and nothing is refused',
  )
  const { body } = await exchange(engine.base, {
    method: 'GET',
    path: '/history/process-instance/count?completed=true',
  })
  t.same(body, { count: 2 * TOPICS.length })
})

/** Deploys one process for each worker. */
async function deploy(base: string): Promise<void> {
  const model = await readFile(join(import.meta.dirname, 'resources', 'external.bpmn'), 'utf8')
  const form = new FormData()
  form.append('deployment-name', 'workers')
  for (const topic of TOPICS) {
    const own = model.replace('id="external"', `id="${topic}"`).replace('topic="work"', `topic="${topic}"`)
    form.append(`${topic}.bpmn`, new Blob([own]), `${topic}.bpmn`)
  }
  await exchange(base, { method: 'POST', path: '/deployment/create', body: form })
}

async function startInstances(base: string): Promise<void> {
  for (const topic of TOPICS)
    await exchange(base, {
      method: 'POST',
      path: `/process-definition/key/${topic}/start`,
      body: { businessKey: topic },
    })
}

/** Waits until each worker has completed `count` tasks of its own. Fails if a worker gets an error. */
async function completeAll(base: string, count: number): Promise<void> {
  const working = { base, pollMs: 2000, lockMs: 60_000 }
  const workers = [
    await startJavaWorker({ ...working, topic: 'java' }),
    startScriptWorker({ ...working, topic: 'script' }),
  ]
  try {
    await until(
      () => workers.every(({ completed, errors }) => completed.length >= count || errors.length > 0),
      DONE_MS,
    )
    const errors = workers.flatMap((worker) => worker.errors)
    if (errors.length > 0) throw new Error(errors.join('\n'))
  } finally {
    for (const worker of workers) await worker.stop()
  }
}

interface Setting {
  readonly folder: string
  readonly engine: string
  readonly mode: string
  /** The text of the records file. */
  readonly records: string
}

/** Starts a gateway for one user without groups. `end` returns its audit lines. */
async function startGateway({ folder, engine, mode, records }: Setting) {
  const file = join(folder, 'gateway.json')
  const audit = join(folder, `audit-${Date.now()}.jsonl`)
  const config = {
    version: 1,
    listen: { port: 0 },
    admin: { port: 0 },
    log: { audit },
    engines: { default: { nodes: [engine] } },
    identity: { source: 'file', file: 'users.json' },
    authorization: { mode, records: { source: 'file', file: 'records.yaml' } },
  }
  const user = { id: USER, passwordHash: bcrypt.hashSync(USER, 4) }
  await writeFile(join(folder, 'users.json'), JSON.stringify({ users: [user] }))
  await writeFile(join(folder, 'records.yaml'), records)
  await writeFile(file, JSON.stringify(config))
  const running = await start(loadConfig(file), pino({ level: 'silent' }))
  return {
    base: `${running.address}/engine-rest`,
    end: async () => {
      await running.drain()
      return {
        lines: (await readFile(audit, 'utf8'))
          .split('\n')
          .filter((line) => line !== '' && !line.includes('"event":')),
      }
    },
  }
}

const suggested = (lines: readonly string[]) =>
  runInProcess(['suggest'], Readable.from([lines.map((line) => `${line}\n`).join('')]))
