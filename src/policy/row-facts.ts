import type { Facts, LookUp, ReadEngine } from './lookup.ts'
import { isRecord } from './asked.ts'

export type Row = Readonly<Record<string, unknown>>

/** The id that a row offers for a fact of the notation; null: it belongs to none. */
export type RowFact = (name: string) => string | null

/** The instances asked about in one hop: their ids must fit a request line of 8 KB. */
const IDS_A_HOP = 100

interface RowFactsOptions {
  readonly lookUp: LookUp
  readonly read: ReadEngine
}

/** What rows of one operation say, with the definitions that they name by id or through their instance. */
export type ReadRowFacts = (template: string, rows: readonly Row[]) => Promise<readonly RowFact[]>

export function createRowFacts({ lookUp, read }: RowFactsOptions): ReadRowFacts {
  async function instancesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const definitions = new Map<string, string>()
    for (let at = 0; at < ids.length; at += IDS_A_HOP) {
      const some = ids.slice(at, at + IDS_A_HOP).map(encodeURIComponent)
      const answer = await read(`/process-instance?processInstanceIds=${some.join(',')}`)
      for (const row of Array.isArray(answer) ? answer.filter(isRecord) : [])
        definitions.set(textOf(row['id']) ?? '', textOf(row['definitionId']) ?? '')
    }
    return definitions
  }

  async function definitionsOf(ids: ReadonlySet<string>): Promise<ReadonlyMap<string | null, Facts>> {
    const definitions = new Map<string | null, Facts>()
    for (const id of ids) {
      const facts = await lookUp('processDefinition', id)
      if (facts !== null) definitions.set(id, facts)
    }
    return definitions
  }

  return async function readRowFacts(template, rows) {
    const homeless = rows.filter(
      (row) => definitionIdOf(row) === null && textOf(row['processDefinitionKey']) === null,
    )
    const instanceIds = new Set(
      homeless.map((row) => textOf(row['processInstanceId'])).filter((id) => id !== null),
    )
    const needsInstances = template.startsWith('/execution') || template.startsWith('/event-subscription')
    const instances = needsInstances ? await instancesOf([...instanceIds]) : new Map<string, string>()
    const definitionOf = (row: Row): string | null =>
      definitionIdOf(row) ?? instances.get(textOf(row['processInstanceId']) ?? '') ?? null
    const ids = new Set(rows.map(definitionOf).filter((id) => id !== null))
    const definitions = await definitionsOf(ids)
    return rows.map(
      (row) => (name) =>
        factOf(template, row, name) ?? inheritedFact(row, name, definitions.get(definitionOf(row))),
    )
  }
}

/** What a row does not say, and its definition does: the operation log's rows name no tenant. */
function inheritedFact(row: Row, name: string, definition: Facts | undefined): string | null {
  if (name === 'processDefinitionKey') return definition?.['key'] ?? null
  return name === 'tenantId' && !('tenantId' in row) ? (definition?.['tenantId'] ?? null) : null
}

function definitionIdOf(row: Row): string | null {
  return textOf(row['processDefinitionId']) ?? textOf(row['definitionId'])
}

/** Some lists are of the entity itself, and their rows name it `id`. */
const OWN_ID: Readonly<Record<string, readonly string[]>> = {
  taskId: ['/task', '/filter'],
  processInstanceId: ['/process-instance'],
}

function factOf(template: string, row: Row, name: string): string | null {
  if (OWN_ID[name]?.some((prefix) => template.startsWith(prefix)) === true) return textOf(row['id'])
  return SPECIAL[name]?.(row) ?? textOf(row[name])
}

/** Facts that rows of different lists call by different names. */
const SPECIAL: Readonly<Record<string, (row: Row) => string | null>> = {
  'group.id': (row) => textOf(row['id']),
  'user.id': (row) => textOf(row['id']),
  tenantId: (row) => memberOf(row['definition'], 'tenantId'),
  key: (row) =>
    textOf(row['key']) ??
    memberOf(row['definition'], 'key') ??
    textOf(row['processDefinitionKey']) ??
    textOf(row['decisionDefinitionKey']),
}

function memberOf(value: unknown, name: string): string | null {
  return isRecord(value) ? textOf(value[name]) : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
