import type { MissingPermission } from '../../../errors.ts'

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
  /** Whether the engine has executed the request. */
  readonly isExecuted: boolean
}
