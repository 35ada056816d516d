import type { DrainedNode } from '../assembly/running-nodes.ts'
import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { JsonResponse } from '../metrics/admin-listener.ts'
import { nodeNameOf } from '../proxy/nodes/node.ts'
import { isObject } from '../request/value.ts'
import { addStatuses, type EngineStatus } from '../status/process-status.ts'
import type { DrainOrder } from './drain-nodes.ts'
import { DRAIN, type ServingProcesses, STATUS } from './questions.ts'

/** Takes nodes of engines out of use in all processes of this gateway, and returns them to use. */
export interface Drain {
  /** `request` is not checked yet. `client` is the address of the caller. */
  readonly run: (request: unknown, client: string) => Promise<JsonResponse>
  /** Drains the same nodes in a process that begins to serve. Call it before the process gets its first request. */
  readonly applyTo: (ask: (topic: string, value: DrainOrder, withinMs: number) => Promise<unknown>) => void
}

interface DrainDependencies {
  readonly processes: ServingProcesses
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

interface DrainRequest {
  readonly node: string
  /** Null for all engines that have the node. */
  readonly engine: string | null
  /** Whether the node is used again. */
  readonly isBack: boolean
  /** Whether the node is drained even if its engine has no other healthy node. */
  readonly isForced: boolean
}

interface DrainProblem {
  readonly status: 400 | 409 | 503
  readonly problem: string
}

/** Creates the drain of nodes. It lasts until the node is returned, or until the gateway is restarted. A reload keeps it. */
export function createDrain({ processes, log }: DrainDependencies): Drain {
  let drained: readonly DrainedNode[] = []
  let isRunning = false

  async function drain(given: unknown, client: string): Promise<JsonResponse> {
    const request = drainRequestOf(given)
    if ('problem' in request) return refusalOf(request)
    const statuses = await processes.askEach(STATUS)
    if (statuses.length === 0) return refusalOf({ status: 503, problem: 'No process responds' })
    const engines = enginesOf(request, addStatuses(statuses).engines, drained)
    if ('problem' in engines) return refusalOf(engines)
    const { node, isBack, isForced } = request
    const others = drained.filter((one) => one.node !== node || !engines.includes(one.engine))
    drained = isBack ? others : [...others, ...engines.map((engine) => ({ engine, node, isForced }))]
    const reports = await processes.askEach(DRAIN, { drained, node } satisfies DrainOrder)
    const value = {
      node,
      engines,
      drained: !isBack,
      running: reports.reduce((sum, { running }) => sum + running, 0),
      processes: reports.length,
      of: processes.configured,
    }
    log.warn({ ...value, isForced, client }, isBack ? 'drained node is used again' : 'node drained')
    return { status: 200, value }
  }

  return {
    run: async (request, client) => {
      // Two drains at the same time could each find the node of the other one as the remaining node.
      if (isRunning) return refusalOf({ status: 503, problem: 'Another drain is in progress: try again' })
      isRunning = true
      try {
        return await drain(request, client)
      } finally {
        isRunning = false
      }
    },
    applyTo: (ask) => {
      if (drained.length === 0) return
      ask(DRAIN.name, { drained, node: '' }, DRAIN.withinMs).catch((error: unknown) =>
        log.error({ problem: messageOf(error) }, 'a worker could not drain the nodes that are drained'),
      )
    },
  }
}

function refusalOf({ status, problem }: DrainProblem): JsonResponse {
  return { status, value: { error: problem } }
}

const MEMBERS: ReadonlySet<string> = new Set(['node', 'engine', 'back', 'force'])
const FORM: DrainProblem = {
  status: 400,
  problem: 'The body must be a JSON object with the members node, and optionally engine, back and force',
}

/** Parses `{ node, engine, back, force }`. */
function drainRequestOf(given: unknown): DrainRequest | DrainProblem {
  if (!isObject(given) || Object.keys(given).some((name) => !MEMBERS.has(name))) return FORM
  const { node, engine = null, back = false, force = false } = given
  if (typeof node !== 'string' || (engine !== null && typeof engine !== 'string')) return FORM
  if (typeof back !== 'boolean' || typeof force !== 'boolean') return FORM
  if (!URL.canParse(node)) return { status: 400, problem: 'The node must be a URL as in the configuration' }
  return { node: nodeNameOf(node), engine, isBack: back, isForced: force }
}

/** Returns the engines whose node is drained or returned. */
function enginesOf(
  { node, engine, isBack, isForced }: DrainRequest,
  all: readonly EngineStatus[],
  drained: readonly DrainedNode[],
): readonly string[] | DrainProblem {
  const selected = all.filter(
    ({ name, nodes }) => (engine === null || name === engine) && nodes.some((one) => one.node === node),
  )
  const names = selected.map(({ name }) => name)
  if (isBack) return returnedOf(names, node, drained)
  if (names.length === 0)
    return {
      status: 400,
      problem: engine === null ? 'No engine has this node' : `The engine has no such node`,
    }
  const last = selected.find(({ nodes }) => !nodes.some((one) => one.node !== node && isUsable(one)))
  return last === undefined || isForced
    ? names
    : {
        status: 409,
        problem: `The engine ${last.name} has no other healthy node: use force to drain it anyway`,
      }
}

/** Only a drain by a command can be ended by a command. */
function returnedOf(
  names: readonly string[],
  node: string,
  drained: readonly DrainedNode[],
): readonly string[] | DrainProblem {
  const returned = names.filter((name) => drained.some((one) => one.engine === name && one.node === node))
  if (returned.length > 0) return returned
  return { status: 409, problem: 'The node is not drained by a command. The configuration may drain it' }
}

function isUsable({ isDrained, reason }: EngineStatus['nodes'][number]): boolean {
  return !isDrained && reason === null
}
