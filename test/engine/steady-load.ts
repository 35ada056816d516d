import { readFile } from 'node:fs/promises'
import type { Test } from 'tap'
import { isRecord } from '../../src/request/value.ts'
import { exchange } from './exchange.ts'
import type { GatewayProcess } from './gateway-process.ts'

interface LoadOptions {
  readonly readsEveryMs: number
  readonly startsEveryMs: number
  /** The beginning of all business keys. Default: `order`. */
  readonly name?: string
}

/** A request of the load, and how it ended. */
export interface Result {
  readonly kind: 'read' | 'start'
  readonly businessKey: string | null
  readonly sentAtMs: number
  /** When the response arrived. */
  readonly atMs: number
  /** The code of the gateway or the status of the engine. Null if the request has succeeded. */
  readonly failure: string | null
}

/** Sends reads and starts at a steady pace, however long the responses take. */
export function startLoad(
  t: Test,
  { base, headers }: Pick<GatewayProcess, 'base' | 'headers'>,
  { readsEveryMs, startsEveryMs, name = 'order' }: LoadOptions,
) {
  const results: Result[] = []
  const running = new Set<Promise<void>>()
  let count = 0
  async function send(kind: Result['kind']): Promise<void> {
    count += 1
    const sentAtMs = performance.now()
    const businessKey = kind === 'start' ? `${name} ${count}` : null
    const failure = await exchange(
      base,
      kind === 'start'
        ? { method: 'POST', path: '/process-definition/key/external/start', body: { businessKey } }
        : { method: 'GET', path: '/process-instance/count' },
      headers,
    ).then(
      (answer) =>
        answer.status < 400 ? null : (answer.headers.get('x-gateway-error') ?? `${answer.status}`),
      String,
    )
    results.push({ kind, businessKey, sentAtMs, atMs: performance.now(), failure })
  }
  function begin(kind: Result['kind']): void {
    const one: Promise<void> = send(kind).finally(() => running.delete(one))
    running.add(one)
  }
  const timers = [
    setInterval(() => begin('read'), readsEveryMs),
    setInterval(() => begin('start'), startsEveryMs),
  ]
  const end = async () => {
    for (const timer of timers) clearInterval(timer)
    await Promise.all(running)
    return results
  }
  t.teardown(end)
  return { end }
}

/** Checks that each confirmed start has one instance, and that a start that was refused has none. */
export async function checkStarts(t: Test, base: string, results: readonly Result[]): Promise<void> {
  const path = '/history/process-instance?processDefinitionKey=external'
  const { body } = await exchange(base, { method: 'GET', path })
  const instances: readonly unknown[] = Array.isArray(body) ? body : []
  const keys = instances.map((instance) => (isRecord(instance) ? instance['businessKey'] : null))
  t.equal(new Set(keys).size, keys.length, 'no business key was started twice')
  const starts = results.filter(({ kind }) => kind === 'start')
  const confirmed = starts.filter(({ failure }) => failure === null)
  t.same(
    confirmed.filter(({ businessKey }) => !keys.includes(businessKey)),
    [],
    'each confirmed start has an instance',
  )
  t.same(
    starts.filter(({ failure, businessKey }) => failure === '500' && keys.includes(businessKey)),
    [],
    'no failed start has an instance',
  )
}

/** Deploys the process `external`, whose instances wait for an external task. */
export async function deployExternal(base: string): Promise<void> {
  const form = new FormData()
  const model = await readFile(new URL('resources/external.bpmn', import.meta.url))
  form.append('deployment-name', 'external')
  form.append('external.bpmn', new Blob([model]), 'external.bpmn')
  const { status } = await exchange(base, { method: 'POST', path: '/deployment/create', body: form })
  if (status !== 200) throw new Error(`The deployment failed: ${status}`)
}
