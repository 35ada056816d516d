import {
  type EngineFamily,
  familyOfProduct,
  familyOfRelease,
  type SchemaNeed,
  schemaNeedOf,
} from '../operations/published/engine-families.ts'
import { compareVersions, type Release } from '../operations/published/releases.ts'
import { bodyValue } from '../request/body.ts'
import type { AskEngine } from '../request/engine-request.ts'
import { isRecord, jsonValueOf, stringIn, stringOf } from '../request/value.ts'

/** The facts that the nodes of a group report about themselves and their database. */
export interface GroupFacts {
  /** Null if the family is not known. */
  readonly family: EngineFamily | null
  /** Null if the nodes do not report it. */
  readonly version: string | null
  /** The entries of the log of schema changes. Null if it cannot be read. */
  readonly schemaLog: readonly SchemaLogEntry[] | null
}

export interface SchemaLogEntry {
  readonly id: string
  readonly timestamp: string
  readonly version: string
}

/** Limit for each response. The log has about ten entries, and the telemetry data one entry for each command of the engine. */
const MAX_FACT_BYTES = 1024 ** 2
const MAX_TEXT_CHARS = 100

/**
 * Reads the family, the version and the schema of a group. `release` is used if the nodes do not report their family or version.
 * @throws GatewayError if the group does not respond
 */
export async function readGroupFacts(ask: AskEngine, release: Release | null): Promise<GroupFacts> {
  const [telemetry, version, log] = await Promise.all(
    ['/telemetry/data', '/version', '/schema/log'].map((path) => readJson(ask, path)),
  )
  const product = stringOf(bodyValue(telemetry, 'product.name')) ?? ''
  return {
    family: familyOfProduct(product) ?? (release === null ? null : familyOfRelease(release)),
    version: stringIn(version, 'version')?.slice(0, MAX_TEXT_CHARS) ?? versionIn(release),
    schemaLog: Array.isArray(log) ? log.flatMap(entriesOf) : null,
  }
}

function versionIn(release: Release | null): string | null {
  return /\d+\.\d+$/.exec(release ?? '')?.[0] ?? null
}

/** Returns undefined if the engine does not show the value to the gateway's account, or does not have it. */
async function readJson(ask: AskEngine, path: string): Promise<unknown> {
  const { status, body } = await ask({ method: 'GET', path, limitBytes: MAX_FACT_BYTES })
  return status === 200 ? jsonValueOf(body) : undefined
}

function entriesOf(value: unknown): readonly SchemaLogEntry[] {
  if (!isRecord(value)) return []
  const [id, timestamp, version] = ['id', 'timestamp', 'version'].map((name) => stringIn(value, name))
  return version === null || version === undefined
    ? []
    : [{ id: id ?? '', timestamp: timestamp ?? '', version: version.slice(0, MAX_TEXT_CHARS) }]
}

/** Forks count their versions from 1. Only Camunda's versions can be compared. */
const CAMUNDA_VERSION = /^7\.\d{1,4}(?:\.|$)/

/** Returns the version of the schema, as `7.24.0`. Null if the log does not show it. */
export function schemaOf({ schemaLog }: Pick<GroupFacts, 'schemaLog'>): string | null {
  const versions = (schemaLog ?? []).map(({ version }) => version).filter((one) => CAMUNDA_VERSION.test(one))
  return versions.reduce<string | null>(
    (newest, one) => (newest !== null && compareVersions(newest, one) >= 0 ? newest : one),
    null,
  )
}

export interface SchemaComparison extends SchemaNeed {
  readonly schema: string
  /** True if tables or columns are missing that the engines of the group use. */
  readonly isTooOld: boolean
}

/** Compares the schema with the one that the group needs. Null if one of them is not known. */
export function compareSchema(facts: GroupFacts): SchemaComparison | null {
  const schema = schemaOf(facts)
  const { family, version } = facts
  const need = family === null || version === null ? null : schemaNeedOf(family, version)
  if (schema === null || need === null) return null
  return { ...need, schema, isTooOld: compareVersions(schema, need.needs) < 0 }
}

/** Returns the family and the version for messages: `Operaton 1.0.3`. */
export function nameOfGroup({ family, version }: Pick<GroupFacts, 'family' | 'version'>): string {
  return `${family?.name ?? 'an engine of an unknown family'} ${version ?? 'of an unknown version'}`
}
