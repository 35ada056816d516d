/**
 * Constructs that the engine accepts and that the gateway refuses unless the configuration allows them:
 * - `expressions`: code in members of task queries and filters. The engine's own guard does not find it inside `orQueries`.
 * - `java-serialized`: a variable that the engine would create by Java deserialization.
 * - `object-type-name`: a variable, or a part of a form, that names a Java class to instantiate.
 * - `doctype`: a model in a deployment that declares a DOCTYPE, or whose encoding the gateway cannot read.
 */
export const HAZARD_RULES = ['expressions', 'java-serialized', 'object-type-name', 'doctype'] as const

export type HazardRule = (typeof HAZARD_RULES)[number]
