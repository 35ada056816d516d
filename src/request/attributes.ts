/** What a look-up learnt: members by name, `null` where the entity has none (a standalone task has no definition). */
export type Attributes = Readonly<Record<string, string | null>>

/** Why a look-up has found nothing. The engine may have it all the same, where the service account does not see it. */
export type MissingReason = 'not found by the look-up' | 'its process definition is gone'
