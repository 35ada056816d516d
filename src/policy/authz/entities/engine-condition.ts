import { ownText, operatorText } from '../../../errors.ts'
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

/** The number of instances of one request that are read one by one. The engine has no list of their activities. */
const MAX_TREES = 1000

const MAX_REPORT_BYTES = 4 * 1024 ** 2

/** Creates a function that asks the engine about the conditions under which it runs a check. */
export function createFindCondition({ ask, read }: FindOutOptions): FindCondition {
  return async (condition, accessRequest) => {
    if (condition === 'the plan is valid') return isValidPlan(ask, accessRequest)
    const { id } = accessRequest.params
    const named = new Set(id === undefined ? bodyTexts(accessRequest.body, 'processInstanceIds') : [id])
    return named.size > MAX_TREES ? null : isOneEmptied([...named].filter(isNameable), accessRequest, read)
  }
}

/** The number of concurrent reads. A node has few connections, which other requests need as well. */
const AT_ONCE = 8

async function isOneEmptied(
  ids: readonly string[],
  { body, checkDeadline }: AccessRequest,
  read: ReadEngine,
): Promise<boolean | null> {
  const instructions = instructionsIn(body)
  if (instructions === null) return false
  const { cancelling, startsBefore } = instructions
  for (const some of inLists(ids, AT_ONCE)) {
    checkDeadline?.()
    const trees = await Promise.all(some.map((id) => treeOf(id, read)))
    if (trees.some((tree) => isEmptied(tree, cancelling))) return startsBefore ? null : true
  }
  return false
}

/** Returns the activity instances of one process instance. Null if the engine has no instance with this id. */
async function treeOf(id: string, read: ReadEngine): Promise<Item | null> {
  const path = `/process-instance/${encodeURIComponent(id)}/activity-instances`
  return entityIn(await read(path), { path, shape: { named: { id } } })
}

/** Returns whether the engine accepts the plan. The result depends only on the two definitions, which never change. */
async function isValidPlan(ask: AskEngine, { body }: AccessRequest): Promise<boolean | null> {
  const response = await ask({
    method: 'POST',
    path: '/migration/validate',
    body: withNumerals({ plan: bodyValue(body, 'migrationPlan') ?? {} }, 'plan'),
    limitBytes: MAX_REPORT_BYTES,
  })
  // The engine refuses a migration with the same plan.
  if (response.status === 400) return false
  if (response.status !== 200) return null
  const report = jsonIn(response.body)
  if (!isObject(report) || !('instructionReports' in report))
    throw invalidLookUp(operatorText`is not a validation report`, '/migration/validate')
  const faults = ['instructionReports', 'variableReports'].map((name) => bodyValue(report, name))
  return faults.every(
    (reports) => reports === undefined || reports === null || Object.keys(reports).length === 0,
  )
}

interface Instructions {
  readonly cancelling: readonly Item[]
  /** An activity that starts before the last cancellation may be cancelled as well, or may have ended by then. Only the engine knows. */
  readonly startsBefore: boolean
}

/** Reads the instructions. Null if none of them cancels, or if the last one starts an activity: the instance then continues. */
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

/** Returns whether the instructions cancel every active activity. The engine then deletes the instance. */
function isEmptied(tree: Item | null, cancelled: readonly Item[]): boolean {
  return tree !== null && leavesOf(tree, []).every((path) => cancelled.some((one) => cancels(one, path)))
}

/** Returns each innermost activity or transition with the scopes around it. The outermost scope is the instance. */
function leavesOf(node: Item, around: readonly Item[]): readonly (readonly Item[])[] {
  const path = [...around, node]
  const inner = [
    ...childrenOf(node, 'childActivityInstances').flatMap((child) => leavesOf(child, path)),
    ...childrenOf(node, 'childTransitionInstances').map((child) => [...path, child]),
  ]
  return inner.length === 0 ? [path] : inner
}

/** Returns the children. @throws GatewayError GW_UPSTREAM_INVALID if there is no list: an activity that is not read could still be active */
function childrenOf(node: Item, name: string): readonly Item[] {
  const list = node[name]
  if (Array.isArray(list) && list.every(isObject)) return list
  throw invalidLookUp(operatorText`has no ${ownText(name)}`, '/process-instance/…/activity-instances')
}

function cancels(instruction: Item, path: readonly Item[]): boolean {
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
