import { OWN, type Row } from '../part.ts'
import { MEMORY_CASES } from '../parts/memory.ts'
import { REDIS_CASES } from '../parts/redis.ts'
import type { Results } from './results.ts'
import { foreignText, median, numberText, tableText, valuesOf, valueText } from './table.ts'

// Calculates the tables of docs/capacity.md from the results of the benchmark.

/** Shares of the requests of a usual client. */
const MIX = { read: 0.5, query: 0.2, list: 0.1, write: 0.1, cached: 0.1 } as const
type Kind = keyof typeof MIX

/** The part of a core that requests may use on average, so that a peak and a garbage collection find a free core. */
const CORE_SHARE = 0.6
/** The heap limit divided by the heap in use after a garbage collection. With less, V8 collects too often. */
const HEAP_FACTOR = 2
/** The image limits the heap to this share of the container's memory. */
const HEAP_SHARE = 0.5
const MiB = 1024 ** 2
const MIN_CONTAINER_BYTES = 512 * MiB
const CONTAINER_STEP_BYTES = 256 * MiB
/** Client connections of a replica, in addition to those of long polls. */
const CONNECTIONS = 200

/** The growth of costs with the load. CPU times are in microseconds, memory is in bytes. */
export interface Slopes {
  /** The CPU time of a request under saturation. */
  readonly cpuMicros: Readonly<Record<Kind, number>>
  /** The CPU time of a read at 1,000 requests a second. It is larger, because fewer requests share a turn of the event loop. */
  readonly readAtLowRate: number
  readonly base: number
  readonly records: number
  readonly engine: number
  readonly connection: number
  readonly poll: number
  readonly redis: Readonly<Record<keyof typeof REDIS_CASES, Readonly<Record<string, number>>>>
}

/** The load of all replicas together. */
export interface Load {
  readonly perSecond: number
  readonly engines: number
  readonly records: number
  readonly polls: number
}

export interface Capacity {
  /** Cores that requests keep busy. */
  readonly cores: number
  readonly replicas: number
  /** The memory of a replica after a garbage collection, without cached responses, which are outside of the heap. */
  readonly inUse: number
  /** The memory limit of its container. */
  readonly container: number
}

/** Calculates the replicas and the memory for a load, with one replica more than the load needs. */
export function capacityOf(slopes: Slopes, { perSecond, engines, records, polls }: Load): Capacity {
  const cores = (perSecond * meanMicros(slopes)) / 1e6
  const needed = Math.max(1, Math.ceil(cores / CORE_SHARE))
  const inUse =
    slopes.base +
    (records / 10_000) * slopes.records +
    engines * slopes.engine +
    CONNECTIONS * slopes.connection +
    Math.ceil(polls / needed) * slopes.poll
  const wanted = (inUse * HEAP_FACTOR) / HEAP_SHARE
  const container = Math.max(
    MIN_CONTAINER_BYTES,
    Math.ceil(wanted / CONTAINER_STEP_BYTES) * CONTAINER_STEP_BYTES,
  )
  return { cores, replicas: needed + 1, inUse, container }
}

/** Returns the CPU time of a request of the mix, at the cost of a low rate. */
function meanMicros({ cpuMicros, readAtLowRate }: Slopes): number {
  const saturated = KINDS.reduce((sum, kind) => sum + MIX[kind] * cpuMicros[kind], 0)
  return saturated * Math.max(1, readAtLowRate / cpuMicros.read)
}

/** The case of the part `latencies` with the lowest rate. */
const LOW_RATE_CASE = '1,000 a second, all cores'
const KINDS = Object.keys(MIX).filter((kind): kind is Kind => kind in MIX)

/** Returns null if a slope has not been measured. */
export function slopesOf(results: Results): Slopes | null {
  const valueOf = (part: string, name: string, key: string): number => {
    const row = ownRow(results, part, name)
    return row === undefined ? Number.NaN : median(valuesOf(row, key))
  }
  const memoryOf = (name: keyof typeof MEMORY_CASES) => valueOf('memory', MEMORY_CASES[name], 'live')
  const redis = Object.entries(REDIS_CASES).map(([name, row]) => {
    const keys = ['commands', 'received', 'sent', 'stored', 'cpuMicros'] as const
    return [name, Object.fromEntries(keys.map((key) => [key, valueOf('redis', row, key)]))]
  })
  const slopes: Slopes = {
    cpuMicros: {
      read: valueOf('requests', 'read', 'cpuMicros'),
      write: valueOf('requests', 'write', 'cpuMicros'),
      query: valueOf('requests', 'query', 'cpuMicros'),
      list: valueOf('requests', 'list', 'cpuMicros'),
      cached: valueOf('requests', 'cached', 'cpuMicros'),
    },
    readAtLowRate: valueOf('latencies', LOW_RATE_CASE, 'cpuMicros'),
    base: memoryOf('base'),
    records: memoryOf('records'),
    engine: memoryOf('engine'),
    connection: memoryOf('connection'),
    poll: memoryOf('poll'),
    redis: Object.fromEntries(redis),
  }
  const numbers = [...Object.values(slopes.cpuMicros), slopes.readAtLowRate, slopes.base, slopes.records]
  const further = [
    slopes.engine,
    slopes.connection,
    slopes.poll,
    slopes.redis.rate?.['commands'] ?? Number.NaN,
  ]
  return [...numbers, ...further].some(Number.isNaN) ? null : slopes
}

/** Returns the row of the gateway in a case. */
function ownRow({ parts }: Results, part: string, name: string): Row | undefined {
  return parts[part]?.rows.find((one) => one.case === name && one.server === OWN)
}

const SIZES: readonly Load[] = [
  { perSecond: 500, engines: 1, records: 1_000, polls: 100 },
  { perSecond: 2_000, engines: 3, records: 20_000, polls: 500 },
  { perSecond: 5_000, engines: 10, records: 50_000, polls: 2_000 },
  { perSecond: 10_000, engines: 10, records: 100_000, polls: 10_000 },
]

/** The load of the example: 3 engines, 2,000 requests a second, 20,000 records, 500 parked polls. */
const EXAMPLE: Load = { perSecond: 2_000, engines: 3, records: 20_000, polls: 500 }
const EXAMPLE_KEYS_PER_SECOND = 20
const EXAMPLE_MISSES_PER_SECOND = 5
const EXAMPLE_EVICTIONS_PER_SECOND = 0.1

/** Returns the sections of docs/capacity.md by name. Returns none if a slope has not been measured. */
export function capacitySections(results: Results): ReadonlyMap<string, string> {
  const slopes = slopesOf(results)
  if (slopes === null) return new Map()
  return new Map([
    ['sizes', sizesText(slopes)],
    ['slopes', slopesText(slopes, results)],
    ['limits', limitsText(results)],
    ['redis', redisText(slopes)],
    ['example', exampleText(slopes)],
  ])
}

function sizesText(slopes: Slopes): string {
  const rows = SIZES.map((load) => {
    const { cores, replicas, container } = capacityOf(slopes, load)
    const { perSecond, engines, records, polls } = load
    const sizes = [perSecond, engines, records, polls].map(countText)
    return [...sizes, cores.toFixed(2), String(replicas), containerText(container)]
  })
  return tableText(
    [
      'requests a second',
      'engines',
      'records',
      'parked polls',
      'busy cores',
      'replicas',
      'memory limit of each',
    ],
    rows,
  )
}

function slopesText(slopes: Slopes, results: Results): string {
  const { cpuMicros, readAtLowRate, base, records, engine, connection, poll } = slopes
  const rows = [
    ...KINDS.map((kind) => [
      `request: ${kind}`,
      'CPU time',
      valueText(cpuMicros[kind], 'µs'),
      'requests',
      kind,
    ]),
    ['read at 1,000 a second', 'CPU time', valueText(readAtLowRate, 'µs'), 'latencies', LOW_RATE_CASE],
    memoryCells('process', base, MEMORY_CASES.base),
    memoryCells('10,000 records', records, MEMORY_CASES.records),
    memoryCells('engine', engine, MEMORY_CASES.engine),
    memoryCells('open connection', connection, MEMORY_CASES.connection),
    memoryCells('parked poll, with its connection', poll, MEMORY_CASES.poll),
  ]
  return tableText(
    ['for each', 'of', 'value', 'measured with', 'foreign CPU'],
    rows.map(([name = '', of = '', value = '', part = '', measured = '']) => {
      const row = ownRow(results, part, measured)
      return [name, of, value, commandOf(part), row === undefined ? '' : foreignText(row)]
    }),
  )
}

function memoryCells(name: string, value: number, measured: string): readonly string[] {
  return [name, 'memory in use', valueText(value, 'bytes'), 'memory', measured]
}

function limitsText({ parts }: Results): string {
  const rows = (parts['memory']?.rows ?? []).filter((row) => row.case.startsWith('after traffic'))
  return tableText(
    ['process', 'memory in use', 'resident'],
    rows.map((row) => [
      row.case,
      ...['live', 'resident'].map((key) => valueText(median(valuesOf(row, key)), 'bytes')),
    ]),
  )
}

function redisText({ redis }: Slopes): string {
  const rows = Object.entries(REDIS_CASES).map(([name, title]) => {
    const of = (key: string) => Object.entries(redis).find(([one]) => one === name)?.[1][key] ?? 0
    const bytes = ['received', 'sent', 'stored'].map((key) => valueText(of(key), 'bytes'))
    return [title, numberText(of('commands')), ...bytes]
  })
  return tableText(['request', 'commands', 'received by Redis', 'sent by Redis', 'stored'], rows)
}

function exampleText(slopes: Slopes): string {
  const { perSecond, engines, records, polls } = EXAMPLE
  const { cores, replicas, inUse, container } = capacityOf(slopes, EXAMPLE)
  const { rate, key, filled, evict } = slopes.redis
  const perSecondOf = (of: (cost: RedisCost) => number) =>
    perSecond * of(rate) +
    EXAMPLE_KEYS_PER_SECOND * of(key) +
    EXAMPLE_MISSES_PER_SECOND * of(filled) +
    EXAMPLE_EVICTIONS_PER_SECOND * of(evict)
  const keyBytes = EXAMPLE_KEYS_PER_SECOND * 3600 * (key['stored'] ?? 0)
  const lines = [
    `- **Cores.** ${countText(perSecond)} requests a second of the mix need ${numberText(meanMicros(slopes))} µs each: ` +
      `${cores.toFixed(2)} busy cores. With at most ${CORE_SHARE * 100} % of a core for each process this is ` +
      `${replicas - 1} ${replicas === 2 ? 'process' : 'processes'}, and one more for a missing replica: **${replicas} replicas** of one core.`,
    `- **Memory.** ${valueText(slopes.base, 'bytes')} for a process, ${valueText((records / 10_000) * slopes.records, 'bytes')} for ` +
      `${countText(records)} records, ${valueText(engines * slopes.engine, 'bytes')} for ${engines} engines, ` +
      `${valueText(Math.ceil(polls / (replicas - 1)) * slopes.poll, 'bytes')} for its share of ${countText(polls)} polls if one replica is missing, and ` +
      `${valueText(CONNECTIONS * slopes.connection, 'bytes')} for ${CONNECTIONS} other connections: ` +
      `${valueText(inUse, 'bytes')} in use. The heap limit is twice that, and the container twice the heap limit: **${containerText(container)}**.`,
    `- **Redis.** With \`limits.rate\` for all requests, ${EXAMPLE_KEYS_PER_SECOND} writes a second with an \`Idempotency-Key\`, ` +
      `${EXAMPLE_MISSES_PER_SECOND} responses a second that are stored in the cache and a deployment every ten seconds: ` +
      `**${countText(Math.round(perSecondOf(commandsOf)))} commands and ${valueText(perSecondOf(bytesOf), 'bytes')} a second**. ` +
      `With \`idempotency.keep: 1h\`, the keys need ${valueText(keyBytes, 'bytes')}, with the default of a day ${valueText(24 * keyBytes, 'bytes')}.`,
  ]
  return lines.join('\n')
}

type RedisCost = Slopes['redis']['rate']

function commandsOf(cost: RedisCost): number {
  return cost['commands'] ?? 0
}

function bytesOf(cost: RedisCost): number {
  return (cost['received'] ?? 0) + (cost['sent'] ?? 0)
}

function commandOf(part: string): string {
  return `\`npm run bench -- --only ${part}\``
}

function countText(value: number): string {
  return value.toLocaleString('en-US')
}

function containerText(bytes: number): string {
  return `${bytes / MiB} MiB`
}
