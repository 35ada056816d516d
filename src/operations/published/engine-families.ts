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
 */
export const ENGINE_FAMILIES: readonly EngineFamily[] = [
  {
    name: 'Camunda',
    product: /^camunda\b/i,
    packageName: 'org.camunda',
    namespace: null,
    adminGroup: 'camunda-admin',
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
    schemas: [{ since: '1.0', ...SCHEMA_OF_FORKS }],
  },
  {
    name: 'CIB seven',
    product: /^cib ?seven\b/i,
    packageName: 'org.cibseven',
    namespace: null,
    adminGroup: null,
    schemas: [{ since: '2.2', ...SCHEMA_OF_FORKS }],
  },
  {
    name: 'EximeeBPMS',
    product: /^eximee ?bpms\b/i,
    packageName: 'org.eximeebpms',
    namespace: 'http://eximeebpms.org/schema/',
    adminGroup: 'eximeebpms-admin',
    schemas: [{ since: '1.3', ...SCHEMA_OF_FORKS }],
  },
  {
    name: 'Fluxnova',
    product: /^fluxnova\b/i,
    packageName: 'org.finos.fluxnova',
    namespace: 'http://fluxnova.finos.org/schema/',
    adminGroup: 'fluxnova-admin',
    schemas: [],
  },
  {
    name: 'OrqueIO',
    product: /^orqueio\b/i,
    packageName: 'io.orqueio',
    namespace: null,
    adminGroup: null,
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
