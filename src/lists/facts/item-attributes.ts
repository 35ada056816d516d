import { ownText, operatorText } from '../../errors.ts'
import { OPERATION_LOG, tenantsOfEntries } from '../../policy/authz/entities/log-tenants.ts'
import type { LookUps, ReadItemAttributes, ListItem } from '../../policy/authz/entities/look-ups.ts'
import type { Attributes } from '../../request/attributes.ts'
import { invalidResponse } from '../../request/engine-request.ts'
import { isObject, stringIn, stringOf } from '../../request/value.ts'

export function createItemAttributes(lookUps: LookUps): ReadItemAttributes {
  const { lookUpAll } = lookUps
  return async function readItemAttributes(template, items) {
    const definitionIds = isKnownByInstance(template)
      ? await definitionIdsByInstance(items, lookUpAll)
      : items.map(definitionIdOf)
    const ids = new Set(definitionIds.filter((id) => id !== null))
    const definitions = await lookUpAll('processDefinition', [...ids])
    const tenants = template === OPERATION_LOG ? await tenantsOfEntries(items, definitions, lookUps) : null
    return items.map((item, index) => {
      const definition = definitions.get(definitionIds[index] ?? '')
      return (name) => {
        if (name === 'tenantId' && tenants !== null) return tenants.get(item) ?? null
        const own = isOwnId(template, name) ? item['id'] : (SPECIAL.get(name)?.(item) ?? item[name])
        const value = stringOf(own) ?? inheritedAttribute(item, name, definition)
        const isOfDefinition = name === 'tenantId' && definition !== undefined
        if (value === null && !isOfDefinition) requireMember(template, item, name)
        return value
      }
    })
  }
}

/** Returns the definition of each item. An item that does not name its definition has the definition of its process instance. */
async function definitionIdsByInstance(
  items: readonly ListItem[],
  lookUpAll: LookUps['lookUpAll'],
): Promise<readonly (string | null)[]> {
  const unnamed = items.filter(
    (item) => definitionIdOf(item) === null && stringOf(item['processDefinitionKey']) === null,
  )
  const ids = new Set(unnamed.map((item) => stringOf(item['processInstanceId'])).filter((id) => id !== null))
  const instances = await lookUpAll('processInstance', [...ids])
  return items.map(
    (item) =>
      definitionIdOf(item) ??
      instances.get(stringOf(item['processInstanceId']) ?? '')?.['definitionId'] ??
      null,
  )
}

/** Returns whether the items of a list name their instance, but not their definition. */
function isKnownByInstance(template: string): boolean {
  return template.startsWith('/execution') || template.startsWith('/event-subscription')
}

/** Returns an attribute that the item lacks and its definition has. */
function inheritedAttribute(item: ListItem, name: string, definition: Attributes | undefined): string | null {
  if (name === 'processDefinitionKey') return definition?.['key'] ?? null
  return name === 'tenantId' && !('tenantId' in item) ? (definition?.['tenantId'] ?? null) : null
}

/**
 * Checks that an item has a member for an attribute. Null means that the item belongs to nothing, which can open the item to
 * every caller. An absent member does not mean this: the response comes from another service, or from an engine that is not
 * known.
 * @throws GatewayError GW_UPSTREAM_INVALID
 */
function requireMember(template: string, item: ListItem, name: string): void {
  const members = sourcesOf(template, name)
  const hasMember = (of: unknown): boolean =>
    isObject(of) && members.some((member) => Object.hasOwn(of, member))
  if (hasMember(item) || hasMember(item['definition'])) return
  throw invalidResponse({
    caller: `An item of the engine's response has no ${name}`,
    operator: operatorText`An item of the engine's response to ${ownText(template)} has no ${ownText(name)}`,
  })
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

function definitionIdOf(item: ListItem): string | null {
  return stringOf(item['processDefinitionId']) ?? stringOf(item['definitionId'])
}

/** Lists of the entity itself. In their items, the attribute is the member `id`. */
const OWN_ID: ReadonlyMap<string, readonly string[]> = new Map([
  ['taskId', ['/task', '/filter']],
  ['processInstanceId', ['/process-instance']],
])

function isOwnId(template: string, name: string): boolean {
  return OWN_ID.get(name)?.some((prefix) => template.startsWith(prefix)) === true
}

/** Attributes that have different names in the items of different lists. */
const SPECIAL: ReadonlyMap<string, (item: ListItem) => string | null> = new Map([
  ['group.id', (item) => stringOf(item['id'])],
  ['user.id', (item) => stringOf(item['id'])],
  ['tenantId', (item) => stringIn(item['definition'], 'tenantId')],
  [
    'key',
    (item) =>
      stringOf(item['key']) ??
      stringIn(item['definition'], 'key') ??
      stringOf(item['processDefinitionKey']) ??
      stringOf(item['decisionDefinitionKey']),
  ],
])
