/** The result of a lookup: members by name. A member is `null` if the entity does not have it (a standalone task has no definition). */
export type Attributes = Readonly<Record<string, string | null>>

/** The reason why a lookup has found nothing. The entity may exist in the engine, but the service account may not see it. */
export type MissingReason = 'not found by the look-up' | 'its process definition is gone'
