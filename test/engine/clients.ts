import { join } from 'node:path'
import { BasicAuthInterceptor, Client } from 'camunda-external-task-client-js'
import { buildJavaClient, buildPythonClient } from './build.ts'
import { startChild } from './child.ts'

/** Code in the Java client's log, in the line before the exception that contains the cause. */
const POLL_FAILED = 'TASK/CLIENT-03001'

export interface WorkerOptions {
  readonly base: string
  readonly topic: string
  /** How long a poll waits for tasks. */
  readonly pollMs: number
  readonly lockMs: number
}

/** A typical external task client, which completes every task. */
export interface Worker {
  /** Business keys of the tasks whose completion was confirmed, in order. */
  readonly completed: readonly string[]
  /** Errors that it received from polls and completions. */
  readonly errors: readonly string[]
  readonly stop: () => Promise<void>
}

export function startScriptWorker({ base, topic, pollMs, lockMs }: WorkerOptions): Worker {
  const completed: string[] = []
  const errors: string[] = []
  const client = new Client({
    baseUrl: base,
    workerId: 'script',
    maxTasks: 5,
    interceptors: new BasicAuthInterceptor({ username: 'demo', password: 'demo' }),
    asyncResponseTimeout: pollMs,
    lockDuration: lockMs,
    interval: 50,
  })
  client.subscribe(topic, ({ task, taskService }) => {
    taskService.complete(task).catch((error: unknown) => errors.push(`complete: ${String(error)}`))
  })
  client.on('complete:success', ({ businessKey }) => completed.push(businessKey ?? ''))
  client.on('poll:error', (error) => errors.push(`poll: ${error}`))
  client.start()
  return { completed, errors, stop: () => Promise.resolve(client.stop()) }
}

export async function startJavaWorker(options: WorkerOptions): Promise<Worker> {
  const jvm = [
    '-Xmx64m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  ]
  return startWorker('java', [...jvm, '-jar', await buildJavaClient()], options)
}

export async function startPythonWorker(options: WorkerOptions): Promise<Worker> {
  return startWorker(
    await buildPythonClient(),
    [join(import.meta.dirname, 'python-client', 'worker.py')],
    options,
  )
}

/** Starts a client as a process. */
async function startWorker(
  command: string,
  program: readonly string[],
  { base, topic, pollMs, lockMs }: WorkerOptions,
): Promise<Worker> {
  const completed: string[] = []
  const errors: string[] = []
  const child = await startChild({
    command,
    args: [...program, base, topic, `${pollMs}`, `${lockMs}`],
    ready: /^ready$/,
    withinMs: 30_000,
    onLine(line) {
      const [, key] = /^completed (.*)$/.exec(line) ?? []
      if (key !== undefined) completed.push(key)
      else if (line.startsWith('error ')) errors.push(`complete: ${line}`)
      else if (/^[\w.]+Exception: /.test(line)) errors.push(`poll: ${line}`)
      else if (/ (ERROR|WARN) /.test(line) && !line.includes(POLL_FAILED)) errors.push(`log: ${line}`)
    },
  })
  return { completed, errors, stop: () => child.stop() }
}
