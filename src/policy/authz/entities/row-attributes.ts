import type { LookUps, ReadRowAttributes, ListRow } from './look-ups.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { stringIn, stringOf } from '../../../request/value.ts'
import { OPERATION_LOG, tenantsOfEntries } from './log-tenants.ts'

export function createRowAttributes({ lookUp, lookUpAll }: LookUps): ReadRowAttributes {
  return async function readRowAttributes(template, rows) {
    const homeless = rows.filter(
      (row) => definitionIdOf(row) === null && stringOf(row['processDefinitionKey']) === null,
    )
    const instanceIds = new Set(
      homeless.map((row) => stringOf(row['processInstanceId'])).filter((id) => id !== null),
    )
    const needsInstances = template.startsWith('/execution') || template.startsWith('/event-subscription')
    const instances = needsInstances ? await lookUpAll('processInstance', [...instanceIds]) : NONE
    const definitionOf = (row: ListRow): string | null =>
      definitionIdOf(row) ?? instances.get(stringOf(row['processInstanceId']) ?? '')?.['definitionId'] ?? null
    const ids = new Set(rows.map(definitionOf).filter((id) => id !== null))
    const definitions = await lookUpAll('processDefinition', [...ids])
    const tenants = template === OPERATION_LOG ? await tenantsOfEntries(rows, definitions, lookUp) : null
    return rows.map((row) => (name) => {
      if (name === 'tenantId' && tenants !== null) return tenants.get(row) ?? null
      return (
        attributeOf(template, row, name) ??
        inheritedAttribute(row, name, definitions.get(definitionOf(row) ?? ''))
      )
    })
  }
}

const NONE: ReadonlyMap<string, Attributes> = new Map()

/** What a row does not say, and its definition does. */
function inheritedAttribute(row: ListRow, name: string, definition: Attributes | undefined): string | null {
  if (name === 'processDefinitionKey') return definition?.['key'] ?? null
  return name === 'tenantId' && !('tenantId' in row) ? (definition?.['tenantId'] ?? null) : null
}

function definitionIdOf(row: ListRow): string | null {
  return stringOf(row['processDefinitionId']) ?? stringOf(row['definitionId'])
}

/** Some lists are of the entity itself, and their rows name it `id`. */
const OWN_ID: ReadonlyMap<string, readonly string[]> = new Map([
  ['taskId', ['/task', '/filter']],
  ['processInstanceId', ['/process-instance']],
])

function attributeOf(template: string, row: ListRow, name: string): string | null {
  if (OWN_ID.get(name)?.some((prefix) => template.startsWith(prefix)) === true) return stringOf(row['id'])
  return SPECIAL.get(name)?.(row) ?? stringOf(row[name])
}

/** Facts that rows of different lists call by different names. */
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
