/**
 * Constructs that the engine accepts and that the gateway refuses or restricts unless the configuration allows them:
 * - `expressions`: code in members of task queries and filters, except for a list of known expressions. The engine's own guard does
 *   not find it inside `orQueries`.
 * - `java-serialized`: a variable that the engine would create by Java deserialization.
 * - `object-type-name`: a variable, or a part of a form, that names a Java class to instantiate.
 * - `doctype`: a model in a deployment that declares a DOCTYPE, or whose encoding the gateway cannot read.
 * - `deserialization`: a response for which the engine creates Java objects from stored variables. A request for it
 *   gets the stored text instead. If the engine has no parameter for that, the request is refused.
 * - `active-content`: a response that a browser may run as a page. It is not refused, but gets headers that forbid this.
 */
export const HAZARD_RULES = [
  'expressions',
  'java-serialized',
  'object-type-name',
  'doctype',
  'deserialization',
  'active-content',
] as const

export type HazardRule = (typeof HAZARD_RULES)[number]
