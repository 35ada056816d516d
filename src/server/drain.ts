import type { DrainedNode } from '../assembly/running-nodes.ts'
import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { JsonResponse } from '../metrics/admin-listener.ts'
import { nodeNameOf } from '../proxy/nodes/node.ts'
import { isObject } from '../request/value.ts'
import { addStatuses, type EngineStatus, type NodeStatus } from '../status/process-status.ts'
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
    const changed = isBack ? engines : engines.filter((engine) => !isDrainedAt(engine, request, drained))
    const others = drained.filter((one) => one.node !== node || !changed.includes(one.engine))
    drained = isBack ? others : [...others, ...changed.map((engine) => ({ engine, node, isForced }))]
    const reports = await processes.askEach(DRAIN, { drained, node } satisfies DrainOrder)
    const value = {
      node,
      engines,
      drained: !isBack,
      running: reports.reduce((sum, { running }) => sum + running, 0),
      processes: reports.length,
      of: processes.configured,
    }
    // The command repeats its request while it waits.
    if (changed.length > 0)
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

/** Returns true if the node is drained at the engine, and forced if the request is. */
function isDrainedAt(
  engine: string,
  { node, isForced }: Pick<DrainRequest, 'node' | 'isForced'>,
  drained: readonly DrainedNode[],
): boolean {
  return drained.some((one) => one.engine === engine && one.node === node && (one.isForced || !isForced))
}

/** Returns the engines whose node is drained or returned. */
function enginesOf(
  request: DrainRequest,
  all: readonly EngineStatus[],
  drained: readonly DrainedNode[],
): readonly string[] | DrainProblem {
  const { node, engine, isBack, isForced } = request
  if (isBack) return returnedOf(request, drained)
  const selected = all.filter(
    ({ name, nodes }) => (engine === null || name === engine) && nodes.some((one) => one.node === node),
  )
  const names = selected.map(({ name }) => name)
  if (names.length === 0)
    return {
      status: 400,
      problem: engine === null ? 'No engine has this node' : `The engine has no such node`,
    }
  // A process that has not carried out an earlier drain yet still reports its node as used.
  const isOther = (name: string, state: NodeStatus): boolean =>
    isUsable(state) && !isDrainedAt(name, { node: state.node, isForced: false }, drained)
  const last = selected.find(
    ({ name, nodes }) =>
      !nodes.some((state) => (state.node === node ? state.isDrainedByCommand : isOther(name, state))),
  )
  return last === undefined || isForced
    ? names
    : {
        status: 409,
        problem: `The engine ${last.name} has no other healthy node: use force to drain it anyway`,
      }
}

/** Only a drain by a command can be ended by a command, also if the configuration no longer has the node. */
function returnedOf(
  { node, engine }: DrainRequest,
  drained: readonly DrainedNode[],
): readonly string[] | DrainProblem {
  const returned = drained.filter((one) => one.node === node && (engine === null || one.engine === engine))
  if (returned.length > 0) return returned.map((one) => one.engine)
  return { status: 409, problem: 'The node is not drained by a command. The configuration may drain it' }
}

function isUsable({ isDrained, reason }: NodeStatus): boolean {
  return !isDrained && reason === null
}
