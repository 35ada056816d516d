import type { LookUps, ReadRowAttributes, ListRow } from '../../policy/authz/entities/look-ups.ts'
import type { Attributes } from '../../request/attributes.ts'
import { invalidResponse } from '../../request/engine-request.ts'
import { isObject, stringIn, stringOf } from '../../request/value.ts'
import { OPERATION_LOG, tenantsOfEntries } from './log-tenants.ts'

export function createRowAttributes({ lookUp, lookUpAll }: LookUps): ReadRowAttributes {
  return async function readRowAttributes(template, rows) {
    const definitionIds = isKnownByInstance(template)
      ? await definitionIdsByInstance(rows, lookUpAll)
      : rows.map(definitionIdOf)
    const ids = new Set(definitionIds.filter((id) => id !== null))
    const definitions = await lookUpAll('processDefinition', [...ids])
    const tenants = template === OPERATION_LOG ? await tenantsOfEntries(rows, definitions, lookUp) : null
    return rows.map((row, index) => {
      const definition = definitions.get(definitionIds[index] ?? '')
      return (name) => {
        if (name === 'tenantId' && tenants !== null) return tenants.get(row) ?? null
        const value = attributeOf(template, row, name) ?? inheritedAttribute(row, name, definition)
        const isOfDefinition = name === 'tenantId' && definition !== undefined
        if (value === null && !isOfDefinition) requireMember(template, row, name)
        return value
      }
    })
  }
}

/** Returns the definition of each item. An item that does not name its definition has the definition of its process instance. */
async function definitionIdsByInstance(
  rows: readonly ListRow[],
  lookUpAll: LookUps['lookUpAll'],
): Promise<readonly (string | null)[]> {
  const unnamed = rows.filter(
    (row) => definitionIdOf(row) === null && stringOf(row['processDefinitionKey']) === null,
  )
  const ids = new Set(unnamed.map((row) => stringOf(row['processInstanceId'])).filter((id) => id !== null))
  const instances = await lookUpAll('processInstance', [...ids])
  return rows.map(
    (row) =>
      definitionIdOf(row) ??
      instances.get(stringOf(row['processInstanceId']) ?? '')?.['definitionId'] ??
      null,
  )
}

/** Returns whether the items of a list name their instance, but not their definition. */
function isKnownByInstance(template: string): boolean {
  return template.startsWith('/execution') || template.startsWith('/event-subscription')
}

/** Returns an attribute that the item lacks and its definition has. */
function inheritedAttribute(row: ListRow, name: string, definition: Attributes | undefined): string | null {
  if (name === 'processDefinitionKey') return definition?.['key'] ?? null
  return name === 'tenantId' && !('tenantId' in row) ? (definition?.['tenantId'] ?? null) : null
}

/**
 * Checks that an item has a member for an attribute. Null means that the item belongs to nothing, which can open the item to
 * every caller. An absent member does not mean this: the response comes from another service, or from an engine that is not
 * known.
 * @throws GatewayError GW_UPSTREAM_INVALID
 */
function requireMember(template: string, row: ListRow, name: string): void {
  const members = sourcesOf(template, name)
  const hasMember = (of: unknown): boolean =>
    isObject(of) && members.some((member) => Object.hasOwn(of, member))
  if (hasMember(row) || hasMember(row['definition'])) return
  throw invalidResponse(
    `An item of the engine's response has no ${name}`,
    new Error(`response to ${template}`),
  )
}

/** Returns the members of an item, or of its definition, from which an attribute is read. */
function sourcesOf(template: string, name: string): readonly string[] {
  if (isOwnId(template, name)) return ['id']
  if (name === 'processDefinitionKey' && isKnownByInstance(template)) return ['processInstanceId']
  return SOURCES.get(name) ?? [name]
}

const SOURCES: ReadonlyMap<string, readonly string[]> = new Map([
  ['group.id', ['id']],
  ['user.id', ['id']],
  ['key', ['key', 'processDefinitionKey', 'decisionDefinitionKey']],
  ['processDefinitionKey', ['processDefinitionKey', 'processDefinitionId', 'definitionId']],
])

function definitionIdOf(row: ListRow): string | null {
  return stringOf(row['processDefinitionId']) ?? stringOf(row['definitionId'])
}

/** Lists of the entity itself. In their items, the attribute is the member `id`. */
const OWN_ID: ReadonlyMap<string, readonly string[]> = new Map([
  ['taskId', ['/task', '/filter']],
  ['processInstanceId', ['/process-instance']],
])

function isOwnId(template: string, name: string): boolean {
  return OWN_ID.get(name)?.some((prefix) => template.startsWith(prefix)) === true
}

function attributeOf(template: string, row: ListRow, name: string): string | null {
  if (isOwnId(template, name)) return stringOf(row['id'])
  return SPECIAL.get(name)?.(row) ?? stringOf(row[name])
}

/** Attributes that have different names in the items of different lists. */
const SPECIAL: ReadonlyMap<string, (row: ListRow) => string | null> = new Map([
  ['group.id', (row) => stringOf(row['id'])],
  ['user.id', (row) => stringOf(row['id'])],
  ['tenantId', (row) => stringIn(row['definition'], 'tenantId')],
  [
    'key',
    (row) =>
      stringOf(row['key']) ??
      stringIn(row['definition'], 'key') ??
      stringOf(row['processDefinitionKey']) ??
      stringOf(row['decisionDefinitionKey']),
  ],
])
