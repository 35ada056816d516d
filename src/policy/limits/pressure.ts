import { GatewayError } from '../../errors.ts'
import type { Logger } from '../../log.ts'

/** What can run out. */
export type PressureKind = 'event-loop' | 'heap' | 'memory'

export interface PressureLimits {
  /** How late the event loop may be; null: as late as it is. */
  readonly lateMs: number | null
  /** In use in the heap by what has outlived its first collections. */
  readonly heapBytes: number
  /** In use in the heap and outside it. */
  readonly memoryBytes: number
}

/** In bytes. */
export interface Usage {
  /** What is in use in the heap. What it keeps beyond that it uses again; some allocators never give it back. */
  readonly heap: number
  /** Of that, what is not young. */
  readonly oldHeap: number
  /** What the heap keeps outside it: bodies, most of all. */
  readonly external: number
}

/** How the process is looked at; tests put their own in its place. */
export interface Probe {
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly usage: () => Usage
  /** Has garbage collected soon; resolves when it is done, never rejects. */
  readonly collect: () => Promise<void>
  /** Returns what ends it. */
  readonly every: (ms: number, look: () => void) => () => void
}

/** Whether this process has room for more work. One for the whole process. */
export interface Pressure {
  /** What new requests are refused with; null: there is room. */
  readonly refusal: () => GatewayError | null
  /** A request is to send so much: counted until it has `arrived`, which is to be said once. Null: there is room for it. */
  readonly reserve: (bytes: number) => GatewayError | null
  /** It is in memory, or does not come any more. */
  readonly release: (bytes: number) => void
  /** Limits that count from now on. */
  readonly limit: (limits: PressureLimits) => void
  readonly isOver: (kind: PressureKind) => boolean
  readonly close: () => void
}

const LOOK_MS = 100
/** Over the limit in so many looks in a row: a single pause, as garbage collection makes it, refuses nobody. */
const LOOKS_UNTIL_OVER = 2
/** Calm in so many in a row: about a second. */
const LOOKS_UNTIL_CALM = 10
/** What is calm, as a share of the limit. */
const CALM: Readonly<Record<PressureKind, number>> = { 'event-loop': 0.5, heap: 0.9, memory: 0.9 }
const RETRY_AFTER_SECONDS = 2
/**
 * Who takes no work makes no garbage, and who makes none collects none: 300 MiB that nobody needed any more still stood after
 * 20 s. So it is asked for, at most once a second and for a tenth of the time; but no later than after five seconds, also where one
 * takes seconds: meanwhile requests may be refused for what is only garbage.
 */
const COLLECT_PAUSE_MS = 1000
const COLLECT_SHARE = 10
const MOST_PAUSE_MS = 5000

const MESSAGES: Readonly<Record<PressureKind, string>> = {
  'event-loop': 'The gateway has more work than it can do: its event loop is late',
  heap: 'The gateway has no memory for this request: its heap is full',
  memory: 'The gateway has no memory for this request',
}

interface PressureOptions {
  readonly limits: PressureLimits
  readonly probe: Probe
  /** Once per change. */
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** Looks at the process ten times a second. */
export function createPressure({ limits: first, probe, log }: PressureOptions): Pressure {
  const marks = [createMark('event-loop', log), createMark('heap', log), createMark('memory', log)] as const
  const [loop, heap, memory] = marks
  const collect = createCollect(probe)
  let limits = first
  let lookedAtMs = probe.now()
  const bodies = createBodies()
  let used = { heap: 0, memory: 0 }
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
    refusal = marks.find((mark) => mark.isOver())?.refusal ?? null
  }

  const stop = probe.every(LOOK_MS, look)
  return {
    refusal: () => refusal,
    reserve: (bytes) => {
      const more = bodies.unseen() + bytes
      const hasMemory = used.memory + more < limits.memoryBytes
      // What is checked is a copy in the heap.
      if (hasMemory && used.heap + more < limits.heapBytes) return bodies.announce(bytes)
      collect()
      return hasMemory ? heap.refusal : memory.refusal
    },
    release: bodies.arrived,
    limit: (to) => {
      limits = to
    },
    isOver: (kind) => marks.some((mark) => mark.kind === kind && mark.isOver()),
    close: stop,
  }
}

/** What requests bring, as far as it was not there when memory was looked at. */
function createBodies() {
  let comingBytes = 0
  let arrivedBytes = 0
  return {
    unseen: () => comingBytes + arrivedBytes,
    announce: (bytes: number) => {
      comingBytes += bytes
      return null
    },
    arrived: (bytes: number) => {
      comingBytes -= bytes
      arrivedBytes += bytes
    },
    looked: () => {
      arrivedBytes = 0
    },
  }
}

/** One thing that can run out, and whether it has. */
function createMark(kind: PressureKind, log: PressureOptions['log']) {
  let isOver = false
  let looks = 0
  let share = 0

  function turn(value: number, limit: number): void {
    isOver = !isOver
    looks = 0
    const line = { pressure: kind, value: Math.round(value), limit: Math.round(limit) }
    if (isOver) log.warn(line, 'new requests are refused until there is room again')
    else log.info(line, 'there is room for new requests again')
  }

  return {
    kind,
    refusal: new GatewayError('GW_OVERLOADED', {
      message: MESSAGES[kind],
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    }),
    isOver: () => isOver,
    /** It is over, or would be. */
    isTight: () => share >= (isOver ? CALM[kind] : 1),
    note: (value: number, limit: number) => {
      share = value / limit
      const isToTurn = isOver ? share < CALM[kind] : share >= 1
      looks = isToTurn ? looks + 1 : 0
      if (looks >= (isOver ? LOOKS_UNTIL_CALM : LOOKS_UNTIL_OVER)) turn(value, limit)
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
