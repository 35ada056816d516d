import { RESOURCES } from '../../operations/permissions.ts'
import { namedIds } from '../../policy/authz/decision/granted-ids.ts'
import { usesRevokes } from '../../policy/authz/records/records.ts'
import type { CompiledRestriction, ListSubject } from '../visibility/compiled-restriction.ts'
import { idsGranted, isVisible } from '../visibility/visibility.ts'

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

export function grantedTasks(
  restriction: CompiledRestriction,
  subject: ListSubject,
  caseKey: string | null,
): GrantedTasks | 'all but some' {
  const { records, principal, implicitGrants } = subject
  const linked = [...(implicitGrants?.user ?? []), ...(implicitGrants?.groups ?? [])]
  if (usesRevokes(records, principal)) return notRevoked(restriction, subject, { linked, caseKey })
  return {
    processDefinitionKeys: idsGranted(restriction, 'PROCESS_DEFINITION', subject),
    taskIds: [...new Set([...idsGranted(restriction, 'TASK', subject), ...linked])],
    caseKey,
  }
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
