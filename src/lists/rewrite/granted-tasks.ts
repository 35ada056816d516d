import { RESOURCES } from '../../operations/permissions.ts'
import { namedIds } from '../../policy/authz/decision/granted-ids.ts'
import { usesRevokes } from '../../policy/authz/records/records.ts'
import type { CompiledRestriction, ListSubject } from '../../policy/authz/visibility/compiled-restriction.ts'
import { MAX_TASK_IDS } from '../limits.ts'
import { idsGranted, isVisible } from '../../policy/authz/visibility/visibility.ts'

/** The tasks that the records, the caller's links and cases open. A task is visible if it matches one of the members. */
export interface GrantedTasks {
  readonly processDefinitionKeys: readonly string[]
  readonly taskIds: readonly string[]
  /** The key of all cases, whose tasks every caller sees; null if there are no cases. */
  readonly caseKey: string | null
}

export function isNothing({ processDefinitionKeys, taskIds, caseKey }: GrantedTasks): boolean {
  return processDefinitionKeys.length + taskIds.length === 0 && caseKey === null
}

/** Returns the granted tasks, or the reason why a query cannot name them. */
export function grantedTasks(
  restriction: CompiledRestriction,
  subject: ListSubject,
  caseKey: string | null,
): GrantedTasks | 'all but some' | 'too many' {
  const granted = tasksGranted(restriction, subject, caseKey)
  return granted !== 'all but some' && granted.taskIds.length > MAX_TASK_IDS ? 'too many' : granted
}

function tasksGranted(
  restriction: CompiledRestriction,
  subject: ListSubject,
  caseKey: string | null,
): GrantedTasks | 'all but some' {
  const { records, principal, implicitGrants } = subject
  const linked = [...(implicitGrants?.user ?? []), ...(implicitGrants?.groups ?? [])]
  if (usesRevokes(records, principal)) return notRevoked(restriction, subject, { linked, caseKey })
  const processDefinitionKeys = idsGranted(restriction, 'PROCESS_DEFINITION', subject)
  const keys = new Set(processDefinitionKeys)
  // The key opens the tasks of its definition. Their ids would only make the query longer.
  const others = linked.filter((id) => !keys.has(implicitGrants?.keys?.get(id) ?? ''))
  const taskIds = [...new Set([...idsGranted(restriction, 'TASK', subject), ...others])]
  return { processDefinitionKeys, taskIds, caseKey }
}

interface AdditionalTasks {
  readonly linked: readonly string[]
  readonly caseKey: string | null
}

/** Decides each key and each task that a record names like an item with this key or id. */
function notRevoked(
  restriction: CompiledRestriction,
  subject: ListSubject,
  { linked, caseKey }: AdditionalTasks,
): GrantedTasks | 'all but some' {
  const { records, principal } = subject
  const recorded = { ...restriction, exempt: null, tenanted: false }
  const isOpen = (taskId: string | null, key: string | null) =>
    isVisible(recorded, {}, (name) => (name === 'taskId' ? taskId : key), subject)
  if (isOpen(null, null)) return 'all but some'
  const keys = [...namedIds(records, principal, RESOURCES.PROCESS_DEFINITION.id)]
  const processDefinitionKeys = keys.filter((key) => isOpen(null, key))
  const ids = [...new Set([...namedIds(records, principal, RESOURCES.TASK.id), ...linked])]
  const isHidden = (id: string) => processDefinitionKeys.some((key) => !isOpen(id, key))
  if (ids.some(isHidden)) return 'all but some'
  return { processDefinitionKeys, taskIds: ids.filter((id) => isOpen(id, null)), caseKey }
}

/** The tasks that are subtracted from a count of all tasks. */
export interface HiddenTasks {
  /** The keys of definitions whose tasks are hidden. */
  readonly processDefinitionKeys: readonly string[]
  /** The ids that are visible although their definition may be hidden. */
  readonly shownIds: readonly string[]
  /** The ids that are hidden whatever their definition is. */
  readonly hiddenIds: readonly string[]
}

/**
 * Returns the tasks that are hidden from a caller whose records permit all tasks but some. Null if they are permitted
 * otherwise, or a query cannot name them. `hasCases` is true if there may be tasks of cases, which every caller sees, also if a record hides their id.
 */
export function hiddenTasks(
  restriction: CompiledRestriction,
  subject: ListSubject,
  hasCases: boolean,
): HiddenTasks | null {
  const { records, principal, implicitGrants } = subject
  const recorded = { ...restriction, exempt: null, tenanted: false }
  const isOpen = (taskId: string | null, key: string | null) =>
    isVisible(recorded, {}, (name) => (name === 'taskId' ? taskId : key), subject)
  if (!isOpen(null, null)) return null
  const named = [...namedIds(records, principal, RESOURCES.PROCESS_DEFINITION.id)]
  const processDefinitionKeys = named.filter((key) => !isOpen(null, key))
  const [hiddenKey = null] = processDefinitionKeys
  const ids = new Set([
    ...namedIds(records, principal, RESOURCES.TASK.id),
    ...(implicitGrants?.user ?? []),
    ...(implicitGrants?.groups ?? []),
  ])
  // Permissions on a task are decided before those on its definition, so all hidden keys have the same ids.
  const shownIds = hiddenKey === null ? [] : [...ids].filter((id) => isOpen(id, hiddenKey))
  const hiddenIds = [...ids].filter((id) => !isOpen(id, null))
  if (hasCases && hiddenIds.length > 0) return null
  const longest = Math.max(shownIds.length, hiddenIds.length, processDefinitionKeys.length)
  return longest > MAX_TASK_IDS ? null : { processDefinitionKeys, shownIds, hiddenIds }
}
