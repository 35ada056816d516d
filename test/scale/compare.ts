import { isDeepStrictEqual } from 'node:util'
import { OPERATIONS } from '../../src/operations/all.ts'
import { prefilterOf } from '../../src/operations/prefilters.ts'
import { isJson, rowsOf } from '../differential/admin.ts'
import { basicOf, type Client, jsonOf } from '../differential/http.ts'
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

/** The comparison of the responses of both sides to one path and caller. */
export interface Pair {
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

async function pairOf(
  sides: Sides,
  { path, caller }: { readonly path: string; readonly caller: ScaleCaller },
): Promise<Omit<Pair, 'peakBytes'>> {
  const credentials = basicOf(caller.user, PASSWORD)
  const total = path.endsWith('/count') ? 0 : await totalOf(sides.secured, `${path}/count`, credentials)
  const firsts = [0, Math.floor(total / 2), Math.max(0, total - PAGE)]
  const queries = path.endsWith('/count')
    ? [path]
    : firsts.map((first) => `${path}?firstResult=${first}&maxResults=${PAGE}`)
  const pair = { path, user: caller.user, outcome: 'equal' as Pair['outcome'], securedMs: 0, gatewayMs: 0 }
  for (const query of queries) {
    const expected: Timed[] = []
    const answered: Timed[] = []
    do {
      expected.push(await timed(sides.secured, query, credentials))
      answered.push(await timed(sides.gateway, query, credentials))
    } while (expected.length < ROUNDS && middleOf(expected) < SHORT_MS)
    pair.securedMs += middleOf(expected)
    pair.gatewayMs += middleOf(answered)
    const outcomes = expected.map((one, at) => outcomeOf(one, answered[at] ?? one))
    pair.outcome = [pair.outcome, ...outcomes].find((outcome) => outcome !== 'equal') ?? 'equal'
  }
  return pair
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

async function timed({ send }: Client, path: string, credentials: string): Promise<Timed> {
  const began = performance.now()
  const answer = await send({ method: 'GET', path }, credentials)
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
  /** Selects the templates of lists and counts. Default: all. */
  readonly only?: RegExp
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
  { callers, only = /^/, onPair = () => undefined }: Comparing,
): Promise<Compared> {
  const gateway = await openGatewayFor(engines, callers)
  const sides = { secured: engines.atSecured, gateway: gateway.client }
  try {
    const pairs: Pair[] = []
    let mostBytes = (await gateway.memory()).peakBytes
    for (const path of PATHS.filter((one) => only.test(one)))
      for (const caller of callers) {
        await gateway.forgetPeak()
        const found = await pairOf(sides, { path, caller })
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
