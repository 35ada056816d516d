import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { isRecord } from '../../src/request/value.ts'
import { javaSkip } from '../support/requirements.ts'
import { type Answer, type Ask, exchange } from './exchange.ts'
import type { GatewayProcess } from './gateway-process.ts'
import { startTwoFamilies } from './two-families.ts'

const INSTANCES = 120
/** How often the shares change while the instances run. */
const STEPS = [
  { reads: '0%', writes: '0%' },
  { reads: '50%', writes: '0%' },
  { reads: '100%', writes: '0%' },
  { reads: '100%', writes: '50%' },
  { reads: '100%', writes: '100%' },
  { reads: '0%', writes: '0%' },
  { reads: '100%', writes: '100%' },
  { reads: '0%', writes: '0%' },
] as const

void t.test(
  'requests move from Camunda to Operaton on one database and back, twice, and no instance is lost or executed twice',
  { skip: javaSkip, timeout: 600_000 },
  async (t) => {
    const { old, next, gateway } = await startTwoFamilies(t, {
      engine: 'shift: { to: new }',
      settings: 'timeouts: { drain: 1s }',
    })
    await deploy(gateway)

    const unexpected: string[] = []
    const ask = async (request: Ask): Promise<Answer> => {
      const answer = await exchange(gateway.base, request, gateway.headers)
      if (answer.status >= 400)
        unexpected.push(`${request.method} ${request.path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer
    }
    const completed: string[] = []
    const isOver = () => completed.length >= INSTANCES
    const workers = ['one', 'other'].map(async (workerId) => {
      while (!isOver()) {
        for (const id of await fetchTasks(ask, workerId)) {
          await ask({ method: 'POST', path: `/external-task/${id}/complete`, body: { workerId } })
          completed.push(id)
        }
      }
    })
    const reader = readUntil(ask, isOver)
    const perStep = INSTANCES / STEPS.length
    for (const [at, shares] of STEPS.entries()) {
      await shift(gateway, shares)
      for (let number = at * perStep; number < (at + 1) * perStep; number += 1) {
        const body = { businessKey: `order ${number}` }
        await ask({ method: 'POST', path: '/process-definition/key/external/start', body })
      }
      await wait(500)
    }
    await Promise.all([...workers, reader])

    t.same(unexpected, [])
    t.equal(new Set(completed).size, INSTANCES, 'each task was completed')
    t.equal(completed.length, INSTANCES, 'no task was completed twice')
    for (const { base } of [old, next]) {
      const path = '/history/process-instance?finished=true&processDefinitionKey=external'
      const { body } = await exchange(base, { method: 'GET', path })
      const keys = (Array.isArray(body) ? body : []).map((instance) => String(Object(instance).businessKey))
      t.same(
        keys.toSorted(),
        Array.from({ length: INSTANCES }, (_, number) => `order ${number}`).toSorted(),
        'each instance has ended once',
      )
    }
    const requests = await requestsByNode(gateway)
    t.comment(Object.fromEntries(requests))
    for (const { base } of [old, next]) t.ok((requests.get(base) ?? 0) > 50, `${base} got requests`)
  },
)

async function readUntil(ask: (request: Ask) => Promise<Answer>, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await ask({ method: 'GET', path: '/process-instance?processDefinitionKey=external' })
    await ask({ method: 'GET', path: '/process-instance/count' })
    await wait(50)
  }
}

async function fetchTasks(
  ask: (request: Ask) => Promise<Answer>,
  workerId: string,
): Promise<readonly string[]> {
  const topics = [{ topicName: 'work', lockDuration: 60_000 }]
  const body = { workerId, maxTasks: 3, asyncResponseTimeout: 2000, topics }
  const answer = await ask({ method: 'POST', path: '/external-task/fetchAndLock', body })
  const tasks: readonly unknown[] = Array.isArray(answer.body) ? answer.body : []
  return tasks.flatMap((task) => (isRecord(task) ? [String(task['id'])] : []))
}

async function shift(
  { adminAddress }: GatewayProcess,
  shares: { readonly reads: string; readonly writes: string },
): Promise<void> {
  const ask = { method: 'POST', path: '/shift', headers: { 'x-requested-by': 'test' }, body: shares } as const
  const { status, body } = await exchange(adminAddress, ask)
  if (status !== 200) throw new Error(`The shift failed: ${status} ${JSON.stringify(body)}`)
}

/** Returns the number of successful attempts at each node. */
async function requestsByNode({ adminAddress }: GatewayProcess): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${adminAddress}/metrics`)).text()
  const counts = new Map<string, number>()
  for (const [, node = '', count] of text.matchAll(
    /^gateway_upstream_attempts_total\{[^}]*node="([^"]+)",result="ok"[^}]*\} (\d+)$/gm,
  ))
    counts.set(node, (counts.get(node) ?? 0) + Number(count))
  return counts
}

async function deploy({ base, headers }: GatewayProcess): Promise<void> {
  const model = await readFile(join(import.meta.dirname, 'resources', 'external.bpmn'))
  const form = new FormData()
  form.append('deployment-name', 'external')
  form.append('external.bpmn', new Blob([model]), 'external.bpmn')
  const { status, body } = await exchange(
    base,
    { method: 'POST', path: '/deployment/create', body: form },
    headers,
  )
  if (status !== 200) throw new Error(`The deployment failed: ${status} ${JSON.stringify(body)}`)
}
