import { type AskEngine, jsonIn } from '../../../request/engine-request.ts'
import type { AccessRequest } from '../../../request/access-request.ts'
import { bodyValue, bodyTexts, bodyText } from '../../../request/body.ts'
import { isObject, isRecord } from '../../../request/value.ts'
import { withNumerals } from '../../../request/json.ts'
import { isNameable } from './lookup.ts'
import type { FindCondition, ReadEngine } from './look-ups.ts'
import { inLists } from './lookup-lists.ts'
import { entityIn, invalidLookUp, type Item } from './lookup-response.ts'

interface FindOutOptions {
  readonly ask: AskEngine
  readonly read: ReadEngine
}

/** Instances of one request that are looked at one by one: their activities are in no list. */
const MAX_TREES = 1000

const MAX_REPORT_BYTES = 4 * 1024 ** 2

/** Asks the engine about conditions that decide whether it runs a check at all. */
export function createFindCondition({ ask, read }: FindOutOptions): FindCondition {
  return async (condition, accessRequest) => {
    if (condition === 'the plan is valid') return isValidPlan(ask, accessRequest)
    const { id } = accessRequest.params
    const named = new Set(id === undefined ? bodyTexts(accessRequest.body, 'processInstanceIds') : [id])
    return named.size > MAX_TREES ? null : isOneEmptied([...named].filter(isNameable), accessRequest, read)
  }
}

/** Reads at once: a node has few connections, and others want some of them. */
const AT_ONCE = 8

async function isOneEmptied(
  ids: readonly string[],
  { body, stillAwaited }: AccessRequest,
  read: ReadEngine,
): Promise<boolean | null> {
  const instructions = instructionsIn(body)
  if (instructions === null) return false
  const { cancelling, startsBefore } = instructions
  for (const some of inLists(ids, AT_ONCE)) {
    stillAwaited?.()
    const trees = await Promise.all(some.map((id) => treeOf(id, read)))
    if (trees.some((tree) => isEmptied(tree, cancelling))) return startsBefore ? null : true
  }
  return false
}

/** The activity instances of one process instance; null if the engine has none with this id. */
async function treeOf(id: string, read: ReadEngine): Promise<Item | null> {
  const path = `/process-instance/${encodeURIComponent(id)}/activity-instances`
  return entityIn(await read(path), { path, shape: { named: { id } } })
}

/** Looks at nothing but the two definitions, which never change. */
async function isValidPlan(ask: AskEngine, { body }: AccessRequest): Promise<boolean | null> {
  const answer = await ask({
    method: 'POST',
    path: '/migration/validate',
    body: withNumerals({ plan: bodyValue(body, 'migrationPlan') ?? {} }, 'plan'),
    limitBytes: MAX_REPORT_BYTES,
  })
  // With the same plan it refuses the migration, too.
  if (answer.status === 400) return false
  if (answer.status !== 200) return null
  const report = jsonIn(answer.body)
  if (!isObject(report) || !('instructionReports' in report))
    throw invalidLookUp('is not a validation report', '/migration/validate')
  const faults = ['instructionReports', 'variableReports'].map((name) => bodyValue(report, name))
  return faults.every(
    (reports) => reports === undefined || reports === null || Object.keys(reports).length === 0,
  )
}

interface Instructions {
  readonly cancelling: readonly Node[]
  /** What is started before the last is cancelled may be cancelled with it, or have ended by then: only the engine knows. */
  readonly startsBefore: boolean
}

/** Null: nothing is cancelled, or something is started in the end, and the instance goes on. */
function instructionsIn(body: unknown): Instructions | null {
  const instructions = bodyValue(body, 'instructions')
  if (!Array.isArray(instructions) || !instructions.every(isRecord)) return null
  const types = instructions.map(({ type }) => type)
  if (types.at(-1) !== 'cancel') return null
  return {
    cancelling: instructions.filter(({ type }) => type === 'cancel'),
    startsBefore: types.some((type) => type !== 'cancel'),
  }
}

/** Whether the instructions cancel all that is active: then the instance is deleted. */
function isEmptied(tree: Item | null, cancelled: readonly Node[]): boolean {
  return tree !== null && leavesOf(tree, []).every((path) => cancelled.some((one) => cancels(one, path)))
}

type Node = Readonly<Record<string, unknown>>

/** Each innermost activity or transition, with all that is around it, the instance itself included. */
function leavesOf(node: Node, around: readonly Node[]): readonly (readonly Node[])[] {
  const path = [...around, node]
  const inner = [
    ...childrenOf(node, 'childActivityInstances').flatMap((child) => leavesOf(child, path)),
    ...childrenOf(node, 'childTransitionInstances').map((child) => [...path, child]),
  ]
  return inner.length === 0 ? [path] : inner
}

/** @throws GatewayError GW_UPSTREAM_INVALID without a list: an activity that is not read could still be active */
function childrenOf(node: Node, name: string): readonly Node[] {
  const list = node[name]
  if (Array.isArray(list) && list.every(isObject)) return list
  throw invalidLookUp(`has no ${name}`, '/process-instance/…/activity-instances')
}

function cancels(instruction: Node, path: readonly Node[]): boolean {
  const activity = bodyText(instruction, 'activityId')
  const instances = [
    bodyText(instruction, 'activityInstanceId'),
    bodyText(instruction, 'transitionInstanceId'),
  ]
  return path.some(
    ({ activityId, id }) =>
      (activity !== null && activityId === activity) || (typeof id === 'string' && instances.includes(id)),
  )
}
