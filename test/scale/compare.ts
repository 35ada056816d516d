import { isDeepStrictEqual } from 'node:util'
import { OPERATIONS } from '../../src/operations/all.ts'
import { prefilterOf } from '../../src/operations/prefilters.ts'
import { isJson, rowsOf } from '../differential/admin.ts'
import { type Ask, basicOf, type Client, jsonOf } from '../differential/http.ts'
import { PASSWORD } from '../differential/sets.ts'
import type { ScaleCaller } from './callers.ts'
import { openGatewayFor, type ScaleEngines } from './engines.ts'

/** The number of items on a page of a list. */
const PAGE = 50

/** Lists and counts for which the gateway has plans, and those of tasks and variables. Users, groups and decisions are left out. */
const PATHS = OPERATIONS.filter(
  ({ method, items, template }) =>
    method === 'GET' &&
    (prefilterOf(items?.prefilter) !== null || /^\/(?:task|variable-instance)(?:\/count)?$/.test(template)) &&
    !/^\/(?:user|group|decision)|decision-/.test(template),
).map(({ template }) => template)

/** A list or a count. It is sent as a POST if it has a body. */
interface ScaleQuery {
  readonly path: string
  readonly parameters?: string
  readonly body?: unknown
}

/** Compares the numbers of the variables that each instance has, which are 0, 1, 2 and so on. */
const pagesBelow = (value: number) => ({ variableValues: [{ name: 'pages', operator: 'lt', value }] })

const QUERIES: readonly ScaleQuery[] = [
  ...PATHS.map((path) => ({ path })),
  // The order of these keys depends on the database, so the gateway cannot merge it.
  { path: '/process-instance', parameters: 'sortBy=businessKey&sortOrder=asc' },
  { path: '/variable-instance/count', body: pagesBelow(10) },
  { path: '/variable-instance/count', body: pagesBelow(3000) },
  { path: '/variable-instance/count', body: { variableName: 'colour' } },
]

function titleOf({ path, parameters, body }: ScaleQuery): string {
  const query = parameters === undefined ? path : `${path}?${parameters}`
  return body === undefined ? query : `POST ${query} ${JSON.stringify(body)}`
}

/** The comparison of the responses of both sides to one query and caller. */
export interface Pair {
  /** The title of the query. */
  readonly path: string
  readonly user: string
  readonly outcome: 'equal' | 'refused' | 'differs' | 'wider'
  readonly securedMs: number
  readonly gatewayMs: number
  /** The peak memory of the gateway during this comparison. */
  readonly peakBytes: number
}

interface Sides {
  readonly secured: Client
  readonly gateway: Client
}

/** If the engine needs less time, the query is sent up to `ROUNDS` times to each side in turn. The median time of each side counts. */
const SHORT_MS = 200
const ROUNDS = 5

interface PairInput {
  readonly query: ScaleQuery
  readonly caller: ScaleCaller
  readonly isFirstOnly: boolean
}

async function pairOf(
  sides: Sides,
  { query, caller, isFirstOnly }: PairInput,
): Promise<Omit<Pair, 'peakBytes'>> {
  const credentials = basicOf(caller.user, PASSWORD)
  const pair = {
    path: titleOf(query),
    user: caller.user,
    outcome: 'equal' as Pair['outcome'],
    securedMs: 0,
    gatewayMs: 0,
  }
  for (const ask of isFirstOnly ? [askOf(query, 0)] : await asksOf(sides.secured, query, credentials)) {
    const expected: Timed[] = []
    const answered: Timed[] = []
    do {
      expected.push(await timed(sides.secured, ask, credentials))
      answered.push(await timed(sides.gateway, ask, credentials))
    } while (expected.length < ROUNDS && middleOf(expected) < SHORT_MS)
    pair.securedMs += middleOf(expected)
    pair.gatewayMs += middleOf(answered)
    const outcomes = expected.map((one, at) => outcomeOf(one, answered[at] ?? one))
    pair.outcome = [pair.outcome, ...outcomes].find((outcome) => outcome !== 'equal') ?? 'equal'
  }
  return pair
}

/** Returns the request for a count, or the requests for the first, a middle and the last page of a list. */
async function asksOf(secured: Client, query: ScaleQuery, credentials: string): Promise<readonly Ask[]> {
  if (query.path.endsWith('/count')) return [askOf(query, 0)]
  const total = await totalOf(secured, `${query.path}/count`, credentials)
  return [0, Math.floor(total / 2), Math.max(0, total - PAGE)].map((first) => askOf(query, first))
}

/** Returns the request for a count, or for the page of a list that begins at this position. */
function askOf({ path, parameters, body }: ScaleQuery, first: number): Ask {
  const method = body === undefined ? 'GET' : 'POST'
  if (path.endsWith('/count')) return { method, path, body }
  const others = parameters === undefined ? '' : `&${parameters}`
  return { method, path: `${path}?firstResult=${first}&maxResults=${PAGE}${others}`, body }
}

function middleOf(times: readonly Timed[]): number {
  return times.map(({ ms }) => ms).toSorted((one, other) => one - other)[times.length >> 1] ?? 0
}

async function totalOf({ send }: Client, path: string, credentials: string): Promise<number> {
  const counted = jsonOf(await send({ method: 'GET', path }, credentials))
  return isJson(counted) ? Number(counted['count']) : 0
}

interface Timed {
  readonly status: number
  readonly value: unknown
  readonly ms: number
}

async function timed({ send }: Client, ask: Ask, credentials: string): Promise<Timed> {
  const began = performance.now()
  const answer = await send(ask, credentials)
  return { status: answer.status, value: jsonOf(answer), ms: performance.now() - began }
}

function outcomeOf(expected: Timed, answered: Timed): Pair['outcome'] {
  if (answered.status === 403) return 'refused'
  if (isDeepStrictEqual([expected.status, expected.value], [answered.status, answered.value])) return 'equal'
  return sizeOf(answered.value) > sizeOf(expected.value) || hasOther(expected.value, answered.value)
    ? 'wider'
    : 'differs'
}

function sizeOf(value: unknown): number {
  return Array.isArray(value) ? value.length : isJson(value) ? Number(value['count']) : 0
}

/** Returns whether the engine's page lacks an item of the gateway. The item may be on another page, which only the whole list shows. */
function hasOther(expected: unknown, answered: unknown): boolean {
  return rowsOf(answered).some((row) => !rowsOf(expected).some((other) => isDeepStrictEqual(row, other)))
}

interface Comparing {
  readonly callers: readonly ScaleCaller[]
  /** Selects lists and counts by their titles. Default: all. */
  readonly only?: RegExp
  /** Whether only the first page of each list is compared. Default: no. */
  readonly isFirstOnly?: boolean
  readonly onPair?: (pair: Pair) => void
}

export interface Compared {
  readonly pairs: readonly Pair[]
  /** The peak memory of the gateway in the whole run. */
  readonly peakBytes: number
}

/** Sends the same requests of each caller to the secured engine and to a gateway in front of the bare engine. Compares the responses. */
export async function compareRows(
  engines: ScaleEngines,
  { callers, only = /^/, isFirstOnly = false, onPair = () => undefined }: Comparing,
): Promise<Compared> {
  const gateway = await openGatewayFor(engines, callers)
  const sides = { secured: engines.atSecured, gateway: gateway.client }
  try {
    const pairs: Pair[] = []
    let mostBytes = (await gateway.memory()).peakBytes
    for (const query of QUERIES.filter((one) => only.test(titleOf(one))))
      for (const caller of callers) {
        await gateway.forgetPeak()
        const found = await pairOf(sides, { query, caller, isFirstOnly })
        const { peakBytes } = await gateway.memory()
        mostBytes = Math.max(mostBytes, peakBytes)
        pairs.push({ ...found, peakBytes })
        onPair({ ...found, peakBytes })
      }
    return { pairs, peakBytes: mostBytes }
  } finally {
    await gateway.close()
  }
}
