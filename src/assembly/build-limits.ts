import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { monotonicMs, namespaceOf } from './build-cache.ts'
import { availableBytes, heapLimitBytes } from './process-memory.ts'
import { createRateStore, type RateStore } from '../redis/rate-store.ts'
import { type Config, settingsOf } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { Admission, AdmissionHandoverState, Handover } from './runtime.ts'
import { createRuleRateOf } from '../policy/limits/ceiling.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import type { Metrics } from '../metrics/registry.ts'
import {
  createGcraLimiter,
  createTakeRate,
  intervalMs,
  type Rate,
  type TakeRate,
} from '../policy/limits/rate.ts'
import {
  createPressure,
  PRESSURE_KINDS,
  type Pressure,
  type PressureLimits,
  type Probe,
  type Usage,
} from '../policy/limits/pressure.ts'

interface AdmissionOptions {
  readonly config: Config
  readonly metrics: Metrics
  readonly log: Logger
}

/** Takes over the rate counters and the pressure measurement of the previous configuration, or creates them. */
export function openAdmission(
  options: AdmissionOptions,
  { before, successor }: Handover<'admission'>,
): Admission {
  const { config } = options
  const handoverState = before?.admission ?? {
    pressure: buildPressure(options),
    limiter: createGcraLimiter(),
  }
  const store = buildRateStore(config)
  const hasRuleRates = hasRuleRatesIn(config)
  let isOwn = before === null
  return {
    pressure: handoverState.pressure,
    takeRate: (name, engine) =>
      buildTakeRate({ name, rate: settingsOf(config, engine).rate, hasRuleRates }, handoverState, store),
    activate: () => {
      isOwn = true
      handoverState.pressure.limit(limitsOf(config))
    },
    release: () => {
      store?.close()
      if (isOwn && successor() === null) handoverState.pressure.close()
    },
    handoverState,
  }
}

type RateConfig = NonNullable<Config['limits']['rate']>

interface RateOptions {
  readonly name: string
  readonly rate: RateConfig | null
  /** Whether rules for ceilings contain rates. */
  readonly hasRuleRates: boolean
}

function hasRuleRatesIn({ limits }: Config): boolean {
  return limits.ceilings.some(({ rate }) => rate !== null)
}

/** Creates the function that finds the rate that rules for ceilings give to a caller. */
export function buildRuleRateOf({ limits }: Config): Dependencies['ruleRateOf'] {
  return createRuleRateOf(
    limits.ceilings.map(({ rate, ...rule }) => ({ ...rule, rate: rate === null ? null : rateOf(rate) })),
  )
}

function buildTakeRate(
  { name, rate, hasRuleRates }: RateOptions,
  { limiter }: AdmissionHandoverState,
  store: RateStore | null,
): TakeRate | null {
  if (rate === null && !hasRuleRates) return null
  const general = rate === null ? null : rateOf(rate)
  const users = new Map(
    Object.entries(rate?.users ?? {}).map(([user, own]) => [user, own === 'unlimited' ? null : rateOf(own)]),
  )
  return createTakeRate({
    engine: name,
    rateOf: (user) => users.get(user) ?? (users.has(user) ? null : general),
    limiter,
    shared:
      store === null
        ? null
        : (principal, of) => store.consume(principal, { intervalMs: intervalMs(of), burst: of.burst }),
  })
}

function rateOf({ requests, per, burst }: Omit<RateConfig, 'users'>): Rate {
  return { requests, perMs: per, burst: burst ?? requests }
}

function buildRateStore(config: Config): RateStore | null {
  const { redis } = config.cache
  const isLimited =
    hasRuleRatesIn(config) ||
    Object.values(config.engines).some((engine) => settingsOf(config, engine).rate !== null)
  if (redis === null || !isLimited) return null
  return createRateStore({ redis, namespace: namespaceOf(config), now: monotonicMs })
}

function buildPressure({ config, metrics, log }: AdmissionOptions): Pressure {
  const pressure = createPressure({ limits: limitsOf(config), probe: probeOfProcess(), log })
  metrics.gauges(
    {
      name: 'gateway_pressure',
      help: 'Whether new requests are refused, by the resource that is exhausted.',
      labels: ['kind'],
    },
    () => PRESSURE_KINDS.map((kind) => ({ labels: { kind }, value: Number(pressure.isOver(kind)) })),
  )
  metrics.gauges(
    {
      name: 'gateway_pressure_ratio',
      help: 'Used part of the limit of each resource. From 1 on, new requests are refused.',
      labels: ['kind'],
    },
    () => PRESSURE_KINDS.map((kind) => ({ labels: { kind }, value: pressure.ratio(kind) })),
  )
  return pressure
}

function limitsOf({ limits: { pressure }, workers }: Config): PressureLimits {
  const { eventLoopDelay, heap, memory } = pressure
  return {
    lateMs: eventLoopDelay,
    heapBytes: heap * heapLimitBytes(),
    memoryBytes: memory <= 1 ? (memory * availableBytes()) / workers : memory,
  }
}

function probeOfProcess(): Probe {
  return {
    now: monotonicMs,
    usage: usageOfProcess,
    collect: createCollect(),
    every: (ms, look) => {
      const timer = setInterval(look, ms).unref()
      return () => clearInterval(timer)
    },
  }
}

function usageOfProcess(): Usage {
  const { heapUsed: heap, external } = process.memoryUsage()
  const young = getHeapSpaceStatistics().filter(({ space_name: name }) => name.startsWith('new_'))
  const youngBytes = young.reduce((sum, { space_used_size: bytes }) => sum + bytes, 0)
  return { heap, oldHeap: heap - youngBytes, external }
}

/**
 * Creates a function that runs a garbage collection. Node.js offers it only through a V8 flag. The flag is set when it is first
 * needed: it takes effect in contexts that are created afterwards.
 */
function createCollect(): Probe['collect'] {
  let gc: unknown = null
  return async function collect() {
    if (gc === null) {
      setFlagsFromString('--expose-gc')
      gc = runInNewContext('gc')
    }
    if (typeof gc === 'function') await gc({ type: 'major', execution: 'async' })
  }
}
