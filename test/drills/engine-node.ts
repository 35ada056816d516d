import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { BASE } from '../support/open-gateway.ts'

/** A node of an engine that a drill breaks and repairs. */
export interface EngineNode {
  readonly base: string
  /** How the node behaves. A drill changes these members. */
  readonly state: {
    status: number
    delayMs: number
    registered: readonly string[]
    /** The number of external tasks that wait for a worker. */
    tasks: number
    /** The number of jobs without retries. Each of them has an open incident. */
    failedJobs: number
    /** The version of the database schema. The engine needs 7.23. */
    schema: string
  }
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
}

export async function startEngineNode(t: Test): Promise<EngineNode> {
  // The system chooses a port for the first start. Later starts use the same port.
  let port = 0
  const state: EngineNode['state'] = {
    status: 200,
    delayMs: 0,
    registered: [],
    tasks: 0,
    failedJobs: 0,
    schema: '7.24.0',
  }
  let server: Server | null = null
  const stop = async (): Promise<void> => {
    server?.closeAllConnections()
    server?.close()
    server = null
  }
  const start = async (): Promise<void> => {
    server = createServer((request, response) => void answer(state, request, response)).listen(
      port,
      '127.0.0.1',
    )
    await once(server, 'listening')
    const at = server.address()
    port = typeof at === 'object' && at !== null ? at.port : 0
  }
  await start()
  t.teardown(stop)
  return { base: `http://127.0.0.1:${port}${BASE}`, state, stop, start }
}

async function answer(
  state: EngineNode['state'],
  { url = '', method }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = url.slice(BASE.length)
  // The node never responds to a long poll. An engine without tasks holds it for half an hour.
  if (path === '/external-task/fetchAndLock') return
  const value = valueAt(path, state)
  if (value !== undefined) return send(response, 200, value)
  await wait(state.delayMs)
  if (state.status !== 200)
    return send(response, state.status, { type: 'ProcessEngineException', message: 'drill', code: 0 })
  if (method === 'POST') response.writeHead(204).end()
  else send(response, 200, [])
}

/** Returns the response that does not depend on the status of a drill. Undefined if the path has none. */
function valueAt(path: string, state: EngineNode['state']): unknown {
  const { registered, tasks, failedJobs, schema } = state
  const fixed: Readonly<Record<string, unknown>> = {
    '/engine': [{ name: 'default' }],
    '/telemetry/data': { product: { name: 'Camunda BPM Runtime' } },
    '/version': { version: '7.24.0' },
    '/schema/log': [{ id: '0', timestamp: null, version: schema }],
    '/deployment/registered': registered,
    '/external-task/topic-names': ['mail'],
  }
  if (Object.hasOwn(fixed, path)) return fixed[path]
  if (path.startsWith('/external-task/count')) return { count: tasks }
  if (/^\/incident\/count(\?incidentType=failedJob)?$|^\/job\/count\?noRetriesLeft=true$/.test(path))
    return { count: failedJobs }
  if (/^\/incident(\?|$)/.test(path)) return incidentsOf(failedJobs)
  return /\/count(\?|$)/.test(path) ? { count: 0 } : undefined
}

/** Returns a list with the latest incident in the engine's format, or an empty list without failed jobs. */
function incidentsOf(failedJobs: number): readonly object[] {
  const incident = {
    id: 'incident',
    processDefinitionId: 'order:1:a',
    processInstanceId: 'instance',
    executionId: 'execution',
    incidentTimestamp: '2026-01-31T12:00:00.000+0000',
    incidentType: 'failedJob',
    activityId: 'charge',
    failedActivityId: 'charge',
    causeIncidentId: 'incident',
    rootCauseIncidentId: 'incident',
    configuration: 'job',
    incidentMessage: 'the payment service does not answer',
    tenantId: null,
    jobDefinitionId: 'definition',
    annotation: null,
  }
  return failedJobs === 0 ? [] : [incident]
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
