import { type OperatorText, operatorText, GatewayError } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { createCallerShares } from './caller-shares.ts'

/** A resource that can run out. */
export const PRESSURE_KINDS = ['event-loop', 'heap', 'memory'] as const
export type PressureKind = (typeof PRESSURE_KINDS)[number]

export interface PressureLimits {
  /** Delay of the event loop. Null if it has no limit. */
  readonly lateMs: number | null
  /** Heap in use by objects that survived their first collections. */
  readonly heapBytes: number
  /** Memory in use inside and outside the heap. */
  readonly memoryBytes: number
}

/** In bytes. */
export interface Usage {
  /** Bytes in use in the heap. Memory that the heap reserves beyond this is reused; some allocators never return it. */
  readonly heap: number
  /** The part of `heap` in the old generation. */
  readonly oldHeap: number
  /** Memory outside the heap that belongs to its objects, mostly request bodies. */
  readonly external: number
}

/** How the process is measured; tests replace it. */
export interface Probe {
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly usage: () => Usage
  /** Requests a garbage collection; resolves when it is done, never rejects. */
  readonly collect: () => Promise<void>
  /** Returns a function that stops it. */
  readonly every: (ms: number, look: () => void) => () => void
}

/** Whether this process has resources for more requests. One per process. */
export interface Pressure {
  /** Returns the error for all new requests, or null if at least some of them can be accepted. */
  readonly refusal: () => GatewayError | null
  /**
   * Counts a request of the caller with a body of `bytes`. Returns an error while the event loop is late, if this caller is one of
   * those that cause most of the load, and null otherwise.
   */
  readonly refusalOf: (caller: string, bytes: number) => GatewayError | null
  /** Reserves memory for the body of a request, until `release` is called once. Returns null if there is enough memory. */
  readonly reserve: (bytes: number) => GatewayError | null
  /** Called when the body is in memory, or will not arrive. */
  readonly release: (bytes: number) => void
  /** Replaces the limits. */
  readonly limit: (limits: PressureLimits) => void
  readonly isOver: (kind: PressureKind) => boolean
  /** Returns the used share of the limit. */
  readonly ratio: (kind: PressureKind) => number
  readonly close: () => void
}

const LOOK_MS = 100
/** Consecutive checks over the limit. A single garbage collection pause therefore refuses no request. */
const LOOKS_UNTIL_OVER = 2
/** Consecutive checks below the calm level: about a second. */
const LOOKS_UNTIL_CALM = 10
/** The calm level, as a share of the limit. */
const CALM: Readonly<Record<PressureKind, number>> = { 'event-loop': 0.5, heap: 0.9, memory: 0.9 }
/**
 * Consecutive checks at `FAR_OVER` times the limit until requests of all callers are refused. Until then, requests of the callers
 * that cause most of the load are refused, which often is enough.
 */
const LOOKS_UNTIL_FAR_OVER = 4
const FAR_OVER = 2
const RETRY_AFTER_SECONDS = 2
/**
 * A process that accepts no requests allocates nothing, and therefore collects no garbage: 300 MiB of garbage remained after
 * 20 s. A collection is therefore requested, at most once a second and for a tenth of the time, but after five seconds at
 * the latest, even if a collection takes seconds. Until then, requests may be refused because of garbage.
 */
const COLLECT_PAUSE_MS = 1000
const COLLECT_SHARE = 10
const MOST_PAUSE_MS = 5000

const MESSAGES: Readonly<Record<PressureKind, OperatorText>> = {
  'event-loop': operatorText`The gateway is overloaded: its event loop is late`,
  heap: operatorText`The gateway does not have enough memory for this request: its heap is full`,
  memory: operatorText`The gateway does not have enough memory for this request`,
}

interface PressureOptions {
  readonly limits: PressureLimits
  readonly probe: Probe
  /** Receives one message for each change. */
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** Creates the pressure of a process, which is measured ten times a second. */
export function createPressure({ limits: first, probe, log }: PressureOptions): Pressure {
  const marks = [createMark('event-loop', log), createMark('heap', log), createMark('memory', log)] as const
  const [loop, heap, memory] = marks
  const collect = createCollect(probe)
  let limits = first
  let lookedAtMs = probe.now()
  const bodies = createBodies()
  let used = { heap: 0, memory: 0 }
  const shares = createCallerShares(probe.now)
  let refusal: GatewayError | null = null

  function look(): void {
    const nowMs = probe.now()
    const lateMs = Math.max(0, nowMs - lookedAtMs - LOOK_MS)
    const { oldHeap, heap: heapUsed, external } = probe.usage()
    lookedAtMs = nowMs
    used = { heap: oldHeap, memory: heapUsed + external }
    bodies.looked()
    loop.note(lateMs, limits.lateMs ?? Infinity)
    heap.note(used.heap, limits.heapBytes)
    memory.note(used.memory, limits.memoryBytes)
    if (heap.isTight() || memory.isTight()) collect()
    if (loop.isOver() && loop.isTight()) shares.tighten()
    else shares.loosen()
    refusal = marks.find((mark) => (mark === loop ? mark.isFarOver() : mark.isOver()))?.refusal ?? null
  }

  const stop = probe.every(LOOK_MS, look)
  return {
    refusal: () => refusal,
    refusalOf: (caller, bytes) => (shares.take(caller, bytes) ? null : loop.refusal),
    reserve: (bytes) => {
      const more = bodies.unseen() + bytes
      const hasMemory = used.memory + more < limits.memoryBytes
      // The checks work on a copy of the body in the heap.
      if (hasMemory && used.heap + more < limits.heapBytes) return bodies.reserve(bytes)
      collect()
      return hasMemory ? heap.refusal : memory.refusal
    },
    release: bodies.release,
    limit: (to) => {
      limits = to
    },
    isOver: (kind) => marks.some((mark) => mark.kind === kind && mark.isOver()),
    ratio: (kind) => marks.find((mark) => mark.kind === kind)?.ratio() ?? 0,
    close: stop,
  }
}

/** Bytes of request bodies that the last measurement did not include. */
function createBodies() {
  let comingBytes = 0
  let arrivedBytes = 0
  return {
    unseen: () => comingBytes + arrivedBytes,
    reserve: (bytes: number) => {
      comingBytes += bytes
      return null
    },
    release: (bytes: number) => {
      comingBytes -= bytes
      arrivedBytes += bytes
    },
    looked: () => {
      arrivedBytes = 0
    },
  }
}

/** A resource, and whether it has run out. */
function createMark(kind: PressureKind, log: PressureOptions['log']) {
  let isOver = false
  let isFarOver = false
  let looks = 0
  let looksFarOver = 0
  let share = 0

  function turn(value: number, limit: number): void {
    isOver = !isOver
    looks = 0
    const line = { pressure: kind, value: Math.round(value), limit: Math.round(limit) }
    if (isOver) log.warn(line, 'limit reached; new requests are refused')
    else log.info(line, 'below the limit; new requests are accepted again')
  }

  return {
    kind,
    refusal: new GatewayError('GW_OVERLOADED', {
      message: MESSAGES[kind],
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    }),
    isOver: () => isOver,
    /** Returns whether the use was far above the limit, and is still above the calm level. */
    isFarOver: () => isFarOver,
    ratio: () => share,
    /** Returns whether the use exceeds the limit, or the calm level while requests are refused. */
    isTight: () => share >= (isOver ? CALM[kind] : 1),
    note: (value: number, limit: number) => {
      share = value / limit
      const isToTurn = isOver ? share < CALM[kind] : share >= 1
      looks = isToTurn ? looks + 1 : 0
      if (looks >= (isOver ? LOOKS_UNTIL_CALM : LOOKS_UNTIL_OVER)) turn(value, limit)
      looksFarOver = share >= FAR_OVER ? looksFarOver + 1 : 0
      isFarOver = isOver && (isFarOver || looksFarOver >= LOOKS_UNTIL_FAR_OVER)
    },
  }
}

function createCollect({ now, collect }: Probe): () => void {
  let notBeforeMs = -Infinity
  return function collectNow() {
    const startMs = now()
    if (startMs < notBeforeMs) return
    notBeforeMs = Infinity
    void collect().then(() => {
      const endMs = now()
      const pauseMs = Math.max(COLLECT_PAUSE_MS, COLLECT_SHARE * (endMs - startMs))
      notBeforeMs = endMs + Math.min(pauseMs, MOST_PAUSE_MS)
    })
  }
}
