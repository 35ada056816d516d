/**
 * Constructs that the engine takes and the gateway refuses unless configuration opens them:
 * `expressions` code in the members of task queries and filters; the engine's own guard does not see it inside `orQueries`.
 * `java-serialized` a variable that the engine would build by Java deserialization.
 * `object-type-name` a variable, or a form part, that names a Java class to instantiate.
 * `doctype` a model to deploy that declares a DOCTYPE, or whose encoding cannot be looked into.
 */
export const HAZARD_RULES = ['expressions', 'java-serialized', 'object-type-name', 'doctype'] as const

export type HazardRule = (typeof HAZARD_RULES)[number]
