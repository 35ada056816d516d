import { operatorText, GatewayError } from '../../../errors.ts'
import { foldedName } from '../../../request/same-name.ts'
import { stringIn } from '../../../request/value.ts'
import type { ListedName, ReadEngine } from './look-ups.ts'
import { invalidLookUp, type Item, readList } from './lookup-response.ts'
import { shapeOf } from './lookup-rules.ts'

interface ListRule {
  readonly path: string
  readonly by: string
  /** The list accepts no body, so its ids must fit into a request line. */
  readonly inQuery?: true
}

const LISTS: Readonly<Record<ListedName, ListRule>> = {
  externalTask: { path: '/external-task', by: 'externalTaskIdIn' },
  historicProcessInstance: { path: '/history/process-instance', by: 'processInstanceIds' },
  processDefinition: { path: '/process-definition', by: 'processDefinitionIdIn', inQuery: true },
  processInstance: { path: '/process-instance', by: 'processInstanceIds' },
}

/** The number of ids in one list. Databases accept at most 1,000 (Oracle) or 2,100 (SQL Server) values in one condition. */
const IDS_A_LIST = 500
/** The number of ids in one list without a body, and in a list in which one id may match many items. */
export const IDS_A_QUERY = 100
/** The length of a list without a body. Servers accept request lines of 8 KB. */
export const QUERY_CHARS = 6000
/** A longer id is looked up separately. */
const MAX_QUERY_ID_CHARS = 500

/** Splits ids into lists of the size that one request accepts. */
export function* inLists<T>(ids: readonly T[], size: number = IDS_A_LIST): Generator<readonly T[]> {
  for (let at = 0; at < ids.length; at += size) yield ids.slice(at, at + size)
}

/**
 * The largest number of ids that the engine finds under another spelling and that are looked up one by one. A client that
 * sends ids as it received them has no such ids.
 */
const MAX_RESPELT = 100

export interface ListLookupResult {
  /** The listed entities, by id. */
  readonly items: ReadonlyMap<string, Item>
  /** Ids that no item has. The engine may still find some of them, because its database may ignore case, for example. */
  readonly respelt: readonly string[]
}

/**
 * Returns the entities that the engine lists for these ids. If a response is not empty and lacks ids, these are requested
 * once more: an item in the second response has one of the ids in another spelling.
 * @throws GatewayError GW_CHECK_NOT_EXACT if the engine refuses the list, or finds too many ids in another spelling;
 * GW_UPSTREAM_INVALID if the response contains anything other than these entities
 */
export async function listByIds(
  name: ListedName,
  ids: readonly string[],
  read: ReadEngine,
): Promise<ListLookupResult> {
  const items = new Map<string, Item>()
  const respelt: string[] = []
  for (const some of listsOf(name, ids, respelt)) {
    const listed = await ask(name, some, read)
    const idOf = createIdReader(name, some)
    for (const item of listed) items.set(idOf(item), item)
    const missing = some.filter((id) => !items.has(id))
    if (listed.length === 0 || missing.length === 0) continue
    if ((await ask(name, missing, read)).length > 0) respelt.push(...missing)
    if (respelt.length > MAX_RESPELT) throw new GatewayError('GW_CHECK_NOT_EXACT')
  }
  return { items, respelt }
}

async function ask(name: ListedName, ids: readonly string[], read: ReadEngine): Promise<readonly Item[]> {
  const { path, by, inQuery }: ListRule = LISTS[name]
  const { texts = [], nullable = [] } = shapeOf(name, '')
  const shape = { texts: ['id', ...texts], nullable }
  return inQuery === true
    ? readList(read, { path: `${path}?${by}=${ids.map(encodeURIComponent).join(',')}`, shape })
    : readList(read, { path, query: { [by]: ids }, shape })
}

/** Creates a function that returns the id of a listed entity: one of these ids in some spelling. It throws GW_UPSTREAM_INVALID for any other id. */
function createIdReader(name: ListedName, ids: readonly string[]): (item: Item) => string {
  const requested = new Set(ids)
  let folded: ReadonlySet<string> | null = null
  return (item) => {
    const id = stringIn(item, 'id') ?? ''
    if (requested.has(id)) return id
    folded ??= new Set(ids.map(foldedName))
    if (folded.has(foldedName(id))) return id
    throw invalidLookUp(operatorText`has another id`, LISTS[name].path)
  }
}

function listsOf(name: ListedName, ids: readonly string[], respelt: string[]): Iterable<readonly string[]> {
  if (LISTS[name].inQuery !== true) return inLists(ids)
  respelt.push(...ids.filter((id) => id.length > MAX_QUERY_ID_CHARS))
  return inQueries(
    ids.filter((id) => id.length <= MAX_QUERY_ID_CHARS),
    QUERY_CHARS,
    IDS_A_QUERY,
  )
}

/**
 * Splits ids into lists that fit into a request line: at most `size` ids and `maxChars` encoded characters. An id that is
 * longer than `maxChars` has its own list.
 */
export function* inQueries(
  ids: readonly string[],
  maxChars: number,
  size: number,
): Generator<readonly string[]> {
  let some: string[] = []
  let chars = 0
  for (const id of ids) {
    const length = encodeURIComponent(id).length + '%2C'.length
    if (some.length > 0 && (some.length === size || chars + length > maxChars)) {
      yield some
      some = []
      chars = 0
    }
    some.push(id)
    chars += length
  }
  if (some.length > 0) yield some
}
