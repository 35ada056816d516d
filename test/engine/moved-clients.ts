import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { isRecord } from '../../src/request/value.ts'
import { type Answer, type Ask, exchange } from './exchange.ts'
import type { GatewayProcess } from './gateway-process.ts'

/** A client that starts instances, a client that completes user tasks, and a client that reads, of process 'moved'. */
export interface MovedClients {
  /** The business keys of the instances whose start was confirmed. */
  readonly started: readonly string[]
  /** The requests that failed. */
  readonly unexpected: readonly string[]
  /** Starts a number of instances, one after the other. */
  readonly start: (count: number) => Promise<void>
  readonly stop: () => Promise<void>
}

/** Starts the clients. The process must have been deployed. */
export function startMovedClients(t: Test, { base, headers }: GatewayProcess): MovedClients {
  const unexpected: string[] = []
  const started: string[] = []
  const over = new AbortController()
  async function ask(request: Ask): Promise<Answer> {
    const answer = await exchange(base, request, headers)
    if (answer.status >= 400)
      unexpected.push(`${request.method} ${request.path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer
  }
  async function repeat(step: () => Promise<unknown>): Promise<void> {
    while (!over.signal.aborted) {
      await step().catch((error: unknown) => unexpected.push(String(error)))
      await wait(50)
    }
  }
  const loops = [
    repeat(() => completeTasks(ask)),
    repeat(() => ask({ method: 'GET', path: '/process-instance?processDefinitionKey=moved' })),
    repeat(() => ask({ method: 'GET', path: '/external-task/count?locked=true' })),
  ]
  const stop = async () => {
    over.abort()
    await Promise.all(loops)
  }
  t.teardown(stop)
  let count = 0
  return {
    started,
    unexpected,
    async start(more) {
      for (const end = count + more; count < end; count += 1) {
        const businessKey = `order ${count}`
        const path = '/process-definition/key/moved/start'
        const { status } = await ask({ method: 'POST', path, body: { businessKey } })
        if (status === 200) started.push(businessKey)
      }
    },
    stop,
  }
}

/** Claims and completes the user tasks of a page. */
async function completeTasks(ask: (request: Ask) => Promise<Answer>): Promise<void> {
  const path = '/task?processDefinitionKey=moved&maxResults=20'
  const { body } = await ask({ method: 'GET', path })
  const tasks: readonly unknown[] = Array.isArray(body) ? body : []
  for (const task of tasks) {
    if (!isRecord(task)) continue
    const id = String(task['id'])
    await ask({ method: 'POST', path: `/task/${id}/claim`, body: { userId: 'demo' } })
    const variables = { isApproved: { value: true, type: 'Boolean' } }
    await ask({ method: 'POST', path: `/task/${id}/complete`, body: { variables } })
  }
}

/** The jobs of each instance of process 'moved' with jobs: the timer before the user task, and the asynchronous continuation after it. */
export const JOB_TYPES = ['async-continuation', 'timer-intermediate-transition'] as const

/** Deploys process 'moved': a user task, and then an external task for each topic. `hasJobs` adds the jobs. */
export async function deployMoved(
  base: string,
  topics: readonly string[],
  headers: Readonly<Record<string, string>> = {},
  { hasJobs = false }: { readonly hasJobs?: boolean } = {},
): Promise<void> {
  const form = new FormData()
  form.append('deployment-name', 'moved')
  form.append('moved.bpmn', new Blob([modelOf(topics, hasJobs)]), 'moved.bpmn')
  const path = '/deployment/create'
  const { status, body } = await exchange(base, { method: 'POST', path, body: form }, headers)
  if (status !== 200) throw new Error(`The deployment failed: ${status} ${JSON.stringify(body)}`)
}

const TIMER = `<intermediateCatchEvent id="pause">
      <timerEventDefinition><timeDuration>PT0.5S</timeDuration></timerEventDefinition>
    </intermediateCatchEvent>`

function modelOf(topics: readonly string[], hasJobs: boolean): string {
  const ids = ['start', ...(hasJobs ? ['pause'] : []), 'review', ...topics, 'end']
  const flows = ids
    .slice(1)
    .map((id, at) => `<sequenceFlow id="to-${id}" sourceRef="${ids[at]}" targetRef="${id}" />`)
  const tasks = topics.map(
    (topic) => `<serviceTask id="${topic}" camunda:type="external" camunda:topic="${topic}" />`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/bpmn"
             targetNamespace="http://engine-gateway/test">
  <process id="moved" isExecutable="true" camunda:historyTimeToLive="P30D">
    <startEvent id="start" />${hasJobs ? TIMER : ''}<userTask id="review" camunda:asyncAfter="${hasJobs}" />${tasks.join('')}<endEvent id="end" />
    ${flows.join('\n    ')}
  </process>
</definitions>`
}
