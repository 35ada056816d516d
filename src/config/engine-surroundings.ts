/** The facts about other settings that the section of a feature may require. */
export interface EngineSurroundings {
  /** False if the engine gets the credentials of callers, and the gateway's own requests have none. */
  readonly hasOwnCredentials: boolean
  /** False if several processes serve the engine and have no Redis in common. */
  readonly canElect: boolean
}

/** Finds problems between the section of a feature and other settings of an engine, each as `key: problem`. */
export type FindSectionProblems<Settings> = (
  engine: Settings,
  surroundings: EngineSurroundings,
) => readonly string[]
