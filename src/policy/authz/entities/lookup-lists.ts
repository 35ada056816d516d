import { GatewayError } from '../../../errors.ts'
import { isSameName } from '../../../request/same-name.ts'
import { stringIn } from '../../../request/value.ts'
import type { ListedName, ReadEngine } from './look-ups.ts'
import { invalidLookUp, type Item, readList } from './lookup-response.ts'
import { shapeOf } from './lookup-rules.ts'

interface ListRule {
  readonly path: string
  readonly by: string
  /** The list takes no body: its ids must fit a request line. */
  readonly inQuery?: true
}

const LISTS: Readonly<Record<ListedName, ListRule>> = {
  externalTask: { path: '/external-task', by: 'externalTaskIdIn' },
  historicProcessInstance: { path: '/history/process-instance', by: 'processInstanceIds' },
  processDefinition: { path: '/process-definition', by: 'processDefinitionIdIn', inQuery: true },
  processInstance: { path: '/process-instance', by: 'processInstanceIds' },
}

/** The ids of one list. Databases take at most 1,000 (Oracle) or 2,100 (SQL Server) in one condition. */
const IDS_A_LIST = 500
const IDS_A_QUERY = 100
/** Of a list that takes no body: servers read request lines of 8 KB. */
export const QUERY_CHARS = 6000
/** A longer one is asked for by itself. */
const MAX_QUERY_ID_CHARS = 500

/** Ids, as many together as one list takes. */
export function* inLists<T>(ids: readonly T[], size: number = IDS_A_LIST): Generator<readonly T[]> {
  for (let at = 0; at < ids.length; at += size) yield ids.slice(at, at + size)
}

/** Ids that the engine finds under another spelling and that are looked up one by one: no client that writes ids as it got them has any. */
const MAX_RESPELT = 100

export interface Listed {
  /** By the id of each. */
  readonly rows: ReadonlyMap<string, Item>
  /** Ids that no row has; the engine may find some of them all the same, for its database ignores case or the like. */
  readonly respelt: readonly string[]
}

/**
 * What the engine lists under these ids. What the first answer lacks is asked for once more where there was one: a row that
 * comes then has one of these ids in another spelling.
 * @throws GatewayError GW_CHECK_NOT_EXACT where the engine refuses the list, or finds too many in another spelling;
 * GW_UPSTREAM_INVALID where the response contains something else than these entities
 */
export async function listByIds(name: ListedName, ids: readonly string[], read: ReadEngine): Promise<Listed> {
  const rows = new Map<string, Item>()
  const respelt: string[] = []
  for (const some of listsOf(name, ids, respelt)) {
    const listed = await ask(name, some, read)
    const requested = new Set(some)
    for (const row of listed) rows.set(idIn(row, requested, name), row)
    const missing = some.filter((id) => !rows.has(id))
    if (listed.length === 0 || missing.length === 0) continue
    if ((await ask(name, missing, read)).length > 0) respelt.push(...missing)
    if (respelt.length > MAX_RESPELT) throw new GatewayError('GW_CHECK_NOT_EXACT')
  }
  return { rows, respelt }
}

async function ask(name: ListedName, ids: readonly string[], read: ReadEngine): Promise<readonly Item[]> {
  const { path, by, inQuery }: ListRule = LISTS[name]
  const { texts = [], nullable = [] } = shapeOf(name, '')
  const shape = { texts: ['id', ...texts], nullable }
  return inQuery === true
    ? readList(read, { path: `${path}?${by}=${ids.map(encodeURIComponent).join(',')}`, shape })
    : readList(read, { path, query: { [by]: ids }, shape })
}

/** Returns the id of a listed entity, which must be one of these ids in some spelling. @throws GatewayError GW_UPSTREAM_INVALID */
function idIn(row: Item, ids: ReadonlySet<string>, name: ListedName): string {
  const id = stringIn(row, 'id') ?? ''
  if (ids.has(id) || [...ids].some((one) => isSameName(one, id))) return id
  throw invalidLookUp('has another id', LISTS[name].path)
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

/** Lists that fit a request line: of at most `size` ids, and of `maxChars` once they are encoded, but for one that is longer by itself. */
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
