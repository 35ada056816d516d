import { GatewayError } from './errors.ts'
import type { Exchange } from './exchange.ts'
import type { Match } from './matched.ts'
import type { Operation, Selector } from './operations/table.ts'
import { bodyValue } from './policy/asked.ts'
import { memberBytes, spliceMember } from './policy/narrow.ts'
import type { KeepRows } from './policy/permit.ts'
import { readVisible } from './serve-rows.ts'

/** The operation that lists what a selector selects; null: there is none that takes the query as a body. */
const LISTS: Readonly<Record<Selector, string | null>> = {
  externalTaskQuery: 'queryExternalTasks',
  historicBatchQuery: null,
  historicDecisionInstanceQuery: null,
  historicProcessInstanceQuery: 'queryHistoricProcessInstances',
  jobQuery: 'queryJobs',
  processInstanceQuery: 'queryProcessInstances',
}

/**
 * The body with the ids that the caller may select in the place of the queries that select them: a bare engine would
 * select everything. A query whose every row the caller sees stays as it is.
 * @throws GatewayError when a query selects too much to be read, or cannot be asked by itself
 */
export async function resolveSelectors({ parts, match, hop }: Exchange): Promise<Buffer | null> {
  let { body } = hop
  if (match.engine.authorization !== 'enforce') return body
  for (const [selector, member] of selectorsOf(match.operation)) {
    const query = body === null ? null : memberBytes(body, selector)
    if (query === null) continue
    const list = listOf(match, selector, query)
    const verdict = (await list.permit.rows?.(list.asked, false)) ?? { rows: 'all' }
    if (verdict.rows === 'all') continue
    if (verdict.rows !== 'none' && verdict.rows !== 'filtered') throw new GatewayError('GW_ROWS_NOT_EXACT')
    const keep = verdict.rows === 'none' ? null : verdict.keep
    const ids = await idsOf(
      {
        match: list,
        hop: { ...hop, method: 'POST', path: list.operation.template, body: query, retry: 'always' },
      },
      keep,
      parts.config.limits.filteredRows,
    )
    body = spliceMember(
      spliceMember(body, [selector], undefined),
      [member],
      [...new Set([...givenIds(match, member), ...ids])],
    )
  }
  return body
}

const SELECTORS = Object.keys(LISTS).filter(isSelector)

function isSelector(name: string): name is Selector {
  return Object.hasOwn(LISTS, name)
}

function selectorsOf({ selects = {} }: Operation): readonly (readonly [Selector, string])[] {
  return SELECTORS.flatMap((selector) => {
    const member = selects[selector]
    return member === undefined ? [] : [[selector, member] as const]
  })
}

/** The list operation, as the caller would ask it with the selector's query. */
function listOf(match: Match, selector: Selector, query: Buffer): Match {
  const id = LISTS[selector]
  const permit = id === null ? undefined : match.engine.permits.get(id)
  if (permit === undefined) throw new GatewayError('GW_ROWS_NOT_EXACT')
  const body: unknown = JSON.parse(query.toString('utf8'))
  return {
    ...match,
    operation: permit.operation,
    permit,
    asked: { ...match.asked, params: {}, query: new Map(), body },
  }
}

async function idsOf(
  exchange: Pick<Exchange, 'match' | 'hop'>,
  keep: KeepRows | null,
  maxRows: number,
): Promise<readonly string[]> {
  const { seen } = await readVisible(
    exchange,
    { keep, maxRows },
    { form: 'list', wanted: Number.POSITIVE_INFINITY },
  )
  if (seen === null)
    throw new GatewayError('GW_ROWS_NOT_EXACT', { message: 'The engine refuses the query in the body' })
  return seen.flatMap(({ row }) => (typeof row['id'] === 'string' ? [row['id']] : []))
}

function givenIds({ asked }: Match, member: string): readonly string[] {
  const given = bodyValue(asked.body, member)
  return Array.isArray(given) ? given.filter((id) => typeof id === 'string') : []
}
