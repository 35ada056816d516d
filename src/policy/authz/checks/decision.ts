import type { EngineRefusal, GatewayError, DenialReason } from '../../../errors.ts'

/** An expected "no" is a value. `refusal` is what the caller gets; without `grounds` no record would change it. */
export type Decision =
  | { readonly permitted: true; readonly because?: PermitReason }
  | {
      readonly permitted: false
      readonly refusal: EngineRefusal | GatewayError
      readonly denialReason?: DenialReason
      /** It looks as if there were no such entity: whether there is one makes no difference. */
      readonly isHidden?: boolean
      /** There is no such entity, or there is none any more. */
      readonly isGone?: boolean
      /** It comes before the engine looks at what the body selects. */
      readonly isUnselected?: boolean
    }

/** Why a check passes although no record was asked. */
export type PermitReason =
  | 'it does not apply'
  | 'of an admin group or user'
  | 'a case task is open to all'
  | 'everybody finds it'
  | 'there is no id to ask for'

export const PERMITTED: Decision = { permitted: true }
export const NOT_APPLIED: Decision = { permitted: true, because: 'it does not apply' }
export const BY_ADMIN: Decision = { permitted: true, because: 'of an admin group or user' }
export const OF_CASE: Decision = { permitted: true, because: 'a case task is open to all' }
export const FOUND_BY_ALL: Decision = { permitted: true, because: 'everybody finds it' }
export const NOTHING_ASKED: Decision = { permitted: true, because: 'there is no id to ask for' }
