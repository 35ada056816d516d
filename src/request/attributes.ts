/** What a look-up learnt: members by name, `null` where the entity has none (a standalone task has no definition). */
export type Attributes = Readonly<Record<string, string | null>>
