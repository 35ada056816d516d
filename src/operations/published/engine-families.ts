import { compareVersions, type Release } from './releases.ts'

/** A family of engines that share one database schema. */
export interface EngineFamily {
  readonly name: string
  /** Matches the name of the product in `GET /telemetry/data`. */
  readonly product: RegExp
  /** The Java package of its classes. A class of another family's package does not exist in it. */
  readonly packageName: string
  /** The start of its own namespaces of models. Null if it only has those of Camunda, which every family reads. */
  readonly namespace: string | null
  /** The group whose members a secured engine treats as administrators by default. Null if it is not known. */
  readonly adminGroup: string | null
  /** The members of responses that have the name of the family, with the name that Camunda gives them. */
  readonly members: Readonly<Record<string, string>>
  /** The schema that each version needs, oldest first. A row also applies to later versions up to the next row. */
  readonly schemas: readonly SchemaNeed[]
}

export interface SchemaNeed {
  readonly since: string
  /** The oldest schema with all tables and columns that the version uses. */
  readonly needs: string
  /** The schema that the version creates. It may differ from `needs` only in its version. */
  readonly creates: string
}

/** The create scripts of all forks have the tables of Camunda 7.24, whose tables are those of 7.23. */
const SCHEMA_OF_FORKS = { needs: '7.23', creates: '7.24' } as const

/**
 * The known families. Sources: the create and upgrade scripts and the classes in the jars of Camunda 7.24.0 and Operaton 1.0.3, and the
 * public repositories of the other forks. `GET /telemetry/data` was read at Camunda and Operaton only.
 *
 * HAL responses of Fluxnova have `fluxnovaFormRef`, and its newer versions have `camundaFormRef` in addition. A renamed member would
 * then be there twice, so it is not in the table.
 */
export const ENGINE_FAMILIES: readonly EngineFamily[] = [
  {
    name: 'Camunda',
    product: /^camunda\b/i,
    packageName: 'org.camunda',
    namespace: null,
    adminGroup: 'camunda-admin',
    members: {},
    schemas: [
      { since: '7.21', needs: '7.21', creates: '7.21' },
      { since: '7.22', needs: '7.22', creates: '7.22' },
      { since: '7.23', needs: '7.23', creates: '7.23' },
      { since: '7.24', needs: '7.23', creates: '7.24' },
    ],
  },
  {
    name: 'Operaton',
    product: /^operaton\b/i,
    packageName: 'org.operaton',
    namespace: 'http://operaton.org/schema/',
    adminGroup: 'operaton-admin',
    members: { operatonFormRef: 'camundaFormRef', 'operaton-integration': 'camunda-integration' },
    schemas: [{ since: '1.0', ...SCHEMA_OF_FORKS }],
  },
  {
    name: 'CIB seven',
    product: /^cib ?seven\b/i,
    packageName: 'org.cibseven',
    namespace: null,
    adminGroup: null,
    members: {},
    schemas: [{ since: '2.2', ...SCHEMA_OF_FORKS }],
  },
  {
    name: 'EximeeBPMS',
    product: /^eximee ?bpms\b/i,
    packageName: 'org.eximeebpms',
    namespace: 'http://eximeebpms.org/schema/',
    adminGroup: 'eximeebpms-admin',
    members: { 'eximeebpms-integration': 'camunda-integration' },
    schemas: [{ since: '1.3', ...SCHEMA_OF_FORKS }],
  },
  {
    name: 'Fluxnova',
    product: /^fluxnova\b/i,
    packageName: 'org.finos.fluxnova',
    namespace: 'http://fluxnova.finos.org/schema/',
    adminGroup: 'fluxnova-admin',
    members: {},
    schemas: [],
  },
  {
    name: 'OrqueIO',
    product: /^orqueio\b/i,
    packageName: 'io.orqueio',
    namespace: null,
    adminGroup: null,
    members: { orqueioFormRef: 'camundaFormRef', 'orqueio-integration': 'camunda-integration' },
    schemas: [{ since: '0', ...SCHEMA_OF_FORKS }],
  },
]

/** Returns the family with this product. Null if it is not known. */
export function familyOfProduct(product: string): EngineFamily | null {
  return ENGINE_FAMILIES.find((family) => family.product.test(product)) ?? null
}

/** Returns the family of a configured release. */
export function familyOfRelease(release: Release): EngineFamily | null {
  return ENGINE_FAMILIES.find(({ name }) => release === name || release.startsWith(`${name} `)) ?? null
}

/** Returns the family whose own namespace this is. Null for all other namespaces. */
export function familyOfNamespace(namespace: string): EngineFamily | null {
  return (
    ENGINE_FAMILIES.find((family) => family.namespace !== null && namespace.startsWith(family.namespace)) ??
    null
  )
}

/** Returns the schema that a version of a family needs. Null if it is not known. */
export function schemaNeedOf({ schemas }: EngineFamily, version: string): SchemaNeed | null {
  return schemas.findLast(({ since }) => compareVersions(version, since) >= 0) ?? null
}

/** The names that members of responses have in other families than Camunda, each with Camunda's name. */
export const CAMUNDA_MEMBERS: ReadonlyMap<string, string> = new Map(
  ENGINE_FAMILIES.flatMap(({ members }) => Object.entries(members)),
)

const CLASS_NAME = new RegExp(
  String.raw`\b(?:${ENGINE_FAMILIES.map(({ packageName }) => packageName.replaceAll('.', String.raw`\.`)).join('|')})(?:\.[A-Za-z_$][\w$]*)+`,
  'g',
)

/** Returns the class and package names of known families that a text contains. */
export function classNamesIn(text: string): readonly string[] {
  return [...text.matchAll(CLASS_NAME)].map(([name]) => name)
}

/** Returns the family to whose package a class belongs. */
export function familyOfClass(className: string): EngineFamily | null {
  return ENGINE_FAMILIES.find(({ packageName }) => className.startsWith(`${packageName}.`)) ?? null
}
