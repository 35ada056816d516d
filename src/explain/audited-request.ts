import type { MissingPermission } from '../errors.ts'

/** The members of an audit line that a comparison uses. */
export interface AuditedRequest {
  readonly user: string
  readonly operation: string
  readonly params: Readonly<Record<string, string>>
  /** `refused` also for a request that was only reported. */
  readonly decision: 'permitted' | 'refused'
  /** Whether the line names the missing permissions of all checks, not only of the first that refuses. */
  readonly isReported: boolean
  /** How the caller was authenticated. */
  readonly authenticated: string
  readonly stage: string | null
  readonly rule: string | null
  readonly missing: readonly MissingPermission[]
  /** Whether the audit log may have cut or replaced ids, or left out missing permissions. */
  readonly isCut: boolean
  /** Why the old policy has permitted the request, as `groundKeyOf` writes it. Null if the line does not say it completely. */
  readonly permittedBy: readonly AuditedGround[] | null
  /** Whether the engine has executed the request. */
  readonly isExecuted: boolean
}

/** Why a check has passed. */
export interface AuditedGround {
  readonly check: number
  readonly key: string
}

interface GroundMembers {
  readonly by: string
  readonly check: number
  readonly permission?: string | undefined
  readonly resource?: string | undefined
  readonly record?:
    | {
        readonly type: number
        readonly userId?: string | undefined
        readonly groupId?: string | undefined
        readonly resourceType: number
        readonly resourceId: string
      }
    | undefined
}

/** Returns a reason in a form that can be compared. The id and the position of a record do not matter. */
export function auditedGroundOf({ by, check, permission, resource, record }: GroundMembers): AuditedGround {
  const { type, userId, groupId, resourceType, resourceId } = record ?? {}
  return {
    check,
    key: JSON.stringify([by, permission, resource, type, userId, groupId, resourceType, resourceId]),
  }
}
