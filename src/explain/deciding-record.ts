import { bitOf } from '../operations/permissions.ts'
import type { Principal } from '../request/principal.ts'
import type { PermissionCheck } from '../policy/authz/decision/permission-check.ts'
import { stepOf, stepsIn, subjectsOf } from '../policy/authz/decision/decide.ts'
import type { Records, Rights, Subjects } from '../policy/authz/records/records.ts'
import { REVOKE, GRANT, GLOBAL } from '../operations/authorization-record.ts'
import type { DecidingRecord } from './explanation.ts'

/** Returns the record that decided this check, or null if no record decides it. It serves explanations; a request needs only stepOf. */
export function decidingRecord(
  records: Records,
  principal: Principal,
  check: PermissionCheck,
): DecidingRecord | null {
  const step = stepOf(records, principal, check)
  if (step === 0) return null
  const permitted = step % 2 === 1
  const within = (step - 1) % 4
  const resourceId = within < 2 ? (check.id ?? '*') : '*'
  const common = { step, permitted, resourceId, type: permitted ? GRANT : REVOKE } as const
  if (step > 8) return { ...common, level: 'global', subject: '*', type: GLOBAL, implied: false }
  if (step > 4) {
    const group = principal.groups.find((id) =>
      says(({ groups }) => groups.get(id), { records, check, within }),
    )
    return {
      ...common,
      level: 'group',
      subject: group ?? principal.groups.join(' or '),
      implied: group === undefined,
    }
  }
  const implied = !says(({ users }) => users.get(principal.userId), { records, check, within })
  return { ...common, level: 'user', subject: principal.userId, implied }
}

type RightsOf = (subjects: Subjects) => Rights | undefined

interface DecisionStep {
  readonly records: Records
  readonly check: PermissionCheck
  /** The step within its level, 0 to 3. */
  readonly within: number
}

function says(rightsOf: RightsOf, { records, check, within }: DecisionStep): boolean {
  const { any, own } = subjectsOf(records, check)
  const steps = stepsIn(rightsOf(any), rightsOf(own), bitOf(check.resource, check.permission) ?? 0)
  return (steps & (1 << within)) !== 0
}
