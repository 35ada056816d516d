import { setImmediate } from 'node:timers/promises'
import type { AccessRequest } from '../../../request/access-request.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { stringOf } from '../../../request/value.ts'
import type { ImplicitTasks } from '../entities/implicit-bits.ts'
import { implicitBits } from '../entities/implicit-grants.ts'
import { LoadedEntities } from '../entities/loaded-entities.ts'
import type { ListItem, ReadItemAttributes, ItemAttribute } from '../entities/look-ups.ts'
import { LOOKUPS } from '../entities/lookup-rules.ts'
import type { CompiledChecks } from './compiled-check.ts'
import { PERMITTED } from './decision.ts'
import type { Authorize, CheckItems } from './decision-trace.ts'
import type { AuthorizeOptions } from './authorize-options.ts'

interface ItemCheckOptions extends Pick<AuthorizeOptions, 'implicitGrants'> {
  readonly readItemAttributes: ReadItemAttributes
}

/**
 * Creates a function that decides an operation for each item of a list. The path of the operation names one entity, and the
 * list contains such entities. An item has the members that a lookup of its entity would return, so no entity is looked up.
 */
export function createItemChecks(
  checks: CompiledChecks,
  { authorize: before }: Authorize,
  { readItemAttributes, implicitGrants }: ItemCheckOptions,
): CheckItems {
  return async (accessRequest, template, items) => {
    const attributes = await readItemAttributes(template, items)
    let links: ImplicitTasks | null = null
    for (const [index, item] of items.entries()) {
      accessRequest.checkDeadline?.()
      if (index % ITEMS_OF_A_TURN === ITEMS_OF_A_TURN - 1) await setImmediate()
      const request = requestFor(accessRequest, item)
      const loaded = entitiesOf(checks, item, attributes[index])
      const decide = (tasks: ImplicitTasks | null) =>
        before(request, undefined, {
          loaded,
          implicitGrants: implicitBits(tasks ?? NO_LINKS, stringOf(item['id'])),
        })
      let decision = await decide(links)
      if (!decision.permitted && links === null && implicitGrants !== null) {
        links = await implicitGrants.tasks(accessRequest.principal)
        decision = await decide(links)
      }
      if (!decision.permitted) return decision
    }
    return PERMITTED
  }
}

/** The number of items that are decided in one turn of the event loop. One item takes about 5 µs. */
const ITEMS_OF_A_TURN = 1000

const NO_LINKS: ImplicitTasks = { user: new Set(), groups: new Set(), bits: 0 }

function requestFor({ principal, checkDeadline }: AccessRequest, item: ListItem): AccessRequest {
  const id = stringOf(item['id']) ?? ''
  return { principal, checkDeadline, params: { id }, query: new Map(), body: undefined }
}

/** Returns the entity of the path, as the item describes it. */
function entitiesOf(
  { preconditions }: CompiledChecks,
  item: ListItem,
  attribute: ItemAttribute | undefined,
): LoadedEntities {
  const loaded = new LoadedEntities()
  const id = stringOf(item['id'])
  if (id === null || attribute === undefined) return loaded
  for (const { reference } of preconditions.entities) {
    if (reference.by.from !== 'path') continue
    const { members, definition } = LOOKUPS[reference.lookup]
    const names = definition === undefined ? members : [...members, KEY]
    const known: Attributes = Object.fromEntries(names.map((name) => [name, attribute(name)]))
    // An entity whose definition is deleted is deleted, too. It must not look like an entity without a definition.
    const isNotFound =
      definition !== undefined && stringOf(item[definition]) !== null && attribute(KEY) === null
    loaded.add(reference.lookup, id, isNotFound ? null : known)
  }
  return loaded
}

const KEY = 'processDefinitionKey'
