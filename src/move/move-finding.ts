/** `error`: the move fails. `warning`: it may fail, or the check is incomplete. `info`: a fact, or something to verify by hand. */
export type FindingSeverity = 'error' | 'warning' | 'info'

export type FindingSubject =
  | 'connection'
  | 'family'
  | 'schema'
  | 'database'
  | 'setting'
  | 'admin-group'
  | 'namespace'
  | 'class-name'
  | 'model'
  | 'deployment-aware'
  | 'incomplete'

/** A finding of the check before requests move from one group of nodes to another. */
export interface MoveFinding {
  readonly severity: FindingSeverity
  readonly subject: FindingSubject
  /** The group of nodes. Null if it concerns both groups. */
  readonly group: string | null
  /** The description of the finding, with ids and names. */
  readonly found: string
  /** The task of the operator. Null if there is nothing to do. */
  readonly action: string | null
}

/** Returns whether a finding must be resolved before the move. */
export function isObstacle({ severity }: Pick<MoveFinding, 'severity'>): boolean {
  return severity !== 'info'
}
