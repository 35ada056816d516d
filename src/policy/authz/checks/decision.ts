import type { EngineRefusal, GatewayError, DenialReason } from '../../../errors.ts'

/**
 * The result of the checks. An expected refusal is a value. `refusal` is the response to the caller. Without `denialReason`,
 * no record would change the refusal.
 */
export type Decision =
  | { readonly permitted: true; readonly reason?: PermitReason }
  | {
      readonly permitted: false
      readonly refusal: EngineRefusal | GatewayError
      readonly denialReason?: DenialReason
      /** The response is the one for a missing entity, so it does not matter whether the entity exists. */
      readonly isHidden?: boolean
      /** The entity does not exist, or no longer exists. */
      readonly isNotFound?: boolean
      /** The engine refuses before it reads the entities that the body selects. */
      readonly isUnselected?: boolean
    }

type Refused = Extract<Decision, { readonly permitted: false }>

/** Returns the refusal of a decision with the reason for the audit log. */
export function denialOf({ refusal, denialReason }: Refused): EngineRefusal | GatewayError {
  return denialReason === undefined ? refusal : refusal.withDenialReason(denialReason)
}

/** The reason why a check passes without an authorization record. */
export type PermitReason =
  | 'it does not apply'
  | 'of an admin group or user'
  | 'a case task is open to all'
  | 'everybody finds it'
  | 'there is no id to ask for'

export const PERMITTED: Decision = { permitted: true }
export const NOT_APPLIED: Decision = { permitted: true, reason: 'it does not apply' }
export const BY_ADMIN: Decision = { permitted: true, reason: 'of an admin group or user' }
export const OF_CASE: Decision = { permitted: true, reason: 'a case task is open to all' }
export const FOUND_BY_ALL: Decision = { permitted: true, reason: 'everybody finds it' }
export const NOTHING_ASKED: Decision = { permitted: true, reason: 'there is no id to ask for' }
