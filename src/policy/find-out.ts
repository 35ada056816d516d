import type { When } from '../operations/notation.ts'
import type { AskEngine } from './ask-engine.ts'
import type { Asked } from './asked.ts'
import { bodyValue, isRecord } from './asked.ts'
import type { ReadEngine } from './lookup.ts'

/** Whether a condition holds that only the engine knows; null: it cannot be told. */
export type FindOut = (when: When, asked: Asked) => Promise<boolean | null>

interface FindOutOptions {
  readonly ask: AskEngine
  readonly read: ReadEngine
}

const MAX_REPORT_BYTES = 4 * 1024 ** 2

/** Asks the engine about conditions that decide whether it runs a check at all. */
export function createFindOut({ ask, read }: FindOutOptions): FindOut {
  return async (when, asked) => {
    if (when === 'the plan is valid') return isValidPlan(ask, asked)
    if (when !== 'nothing is left active') return null
    const ids = asked.params['id'] === undefined ? idsOf(asked) : [asked.params['id']]
    const trees = await Promise.all(
      ids.map((id) => read(`/process-instance/${encodeURIComponent(id)}/activity-instances`)),
    )
    return trees.some((tree) => isEmptied(tree, asked.body))
  }
}

/** Looks at nothing but the two definitions, which never change. */
async function isValidPlan(ask: AskEngine, { body }: Asked): Promise<boolean | null> {
  const answer = await ask({
    method: 'POST',
    path: '/migration/validate',
    body: bodyValue(body, 'migrationPlan') ?? {},
    limitBytes: MAX_REPORT_BYTES,
  })
  if (answer.status !== 200) return false
  const report: unknown = JSON.parse(answer.body.toString('utf8'))
  const faults = ['instructionReports', 'variableReports'].map((name) => bodyValue(report, name))
  return faults.every(
    (reports) => reports === undefined || reports === null || Object.keys(reports).length === 0,
  )
}

function idsOf({ body }: Asked): readonly string[] {
  const value = bodyValue(body, 'processInstanceIds')
  return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : []
}

/** Whether the instructions cancel all that is active and start nothing: then the instance is deleted. */
function isEmptied(tree: unknown, body: unknown): boolean {
  const instructions = bodyValue(body, 'instructions')
  if (!Array.isArray(instructions) || !instructions.every(isRecord)) return false
  if (instructions.some(({ type }) => type !== 'cancel')) return false
  return isRecord(tree) && leavesOf(tree, []).every((path) => instructions.some((one) => cancels(one, path)))
}

type Node = Readonly<Record<string, unknown>>

/** Each innermost activity or transition, with all that is around it. */
function leavesOf(node: Node, around: readonly Node[]): readonly (readonly Node[])[] {
  const path = [...around, node]
  const children = ['childActivityInstances', 'childTransitionInstances'].flatMap((name) => {
    const list = node[name]
    return Array.isArray(list) ? list.filter(isRecord) : []
  })
  return children.length === 0 ? [path] : children.flatMap((child) => leavesOf(child, path))
}

function cancels(instruction: Node, [, ...path]: readonly Node[]): boolean {
  const { activityId, activityInstanceId, transitionInstanceId } = instruction
  return path.some(
    (node) =>
      (typeof activityId === 'string' && node['activityId'] === activityId) ||
      node['id'] === activityInstanceId ||
      node['id'] === transitionInstanceId,
  )
}
