import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

// A measurement is noisy if other processes use the CPU. Their CPU time is that of the machine without that of this process and its
// descendants.

const TICKS_PER_SECOND = 100
/** Rows with a larger share of foreign CPU time are marked. */
export const NOISY_SHARE = 0.1

export interface CpuTimes {
  readonly atMs: number
  readonly machineSeconds: number
  readonly ownSeconds: number
}

export interface ProcessTimes {
  readonly pid: number
  readonly parent: number
  /** The CPU time of the process itself, in ticks. */
  readonly own: number
  /** The CPU time of its children that have ended. */
  readonly ended: number
}

/** Returns the CPU times until now. On a system without /proc, all of them are 0. */
export function readCpuTimes(): CpuTimes {
  const machine = read('/proc/stat')
  const processes = readProcesses()
  return {
    atMs: performance.now(),
    machineSeconds: machine === null ? 0 : busyTicksOf(machine) / TICKS_PER_SECOND,
    ownSeconds: treeTicksOf(processes, process.pid) / TICKS_PER_SECOND,
  }
}

/** Returns the CPU time of other processes between two times, as a share of all cores: 0 to 1. */
export function foreignShare(before: CpuTimes, after: CpuTimes, cores = availableParallelism()): number {
  const seconds = (after.atMs - before.atMs) / 1000
  const machine = after.machineSeconds - before.machineSeconds
  const own = after.ownSeconds - before.ownSeconds
  return Math.min(1, Math.max(0, (machine - own) / (seconds * cores)))
}

/**
 * Returns the busy ticks in the first line of /proc/stat: user, nice, system, and the time that the hypervisor gave to other machines.
 * Interrupts are omitted, because most of them belong to the connections of the measurement.
 */
export function busyTicksOf(stat: string): number {
  const [, user = 0, nice = 0, system = 0, , , , , steal = 0] = (stat.split('\n', 1)[0] ?? '')
    .split(/\s+/)
    .map(Number)
  return user + nice + system + steal
}

/** Returns the times in the text of /proc/PID/stat, fields 4 and 14 to 17 of proc(5). The second field may contain spaces. */
export function processTimesOf(stat: string): ProcessTimes {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const at = (field: number): number => Number(fields[field - 3])
  return { pid: Number.parseInt(stat, 10), parent: at(4), own: at(14) + at(15), ended: at(16) + at(17) }
}

/** Returns the ticks of a process and all of its descendants, those that have ended included. */
export function treeTicksOf(processes: readonly ProcessTimes[], root: number): number {
  const children = Map.groupBy(processes, ({ parent }) => parent)
  const ticksOf = (one: ProcessTimes): number =>
    (children.get(one.pid) ?? []).reduce((sum, child) => sum + ticksOf(child), one.own + one.ended)
  return processes.filter(({ pid }) => pid === root).reduce((sum, one) => sum + ticksOf(one), 0)
}

/** Returns the CPU time of a process and its descendants in seconds. */
export function cpuSecondsOf(pid: number): number {
  return treeTicksOf(readProcesses(), pid) / TICKS_PER_SECOND
}

function readProcesses(): readonly ProcessTimes[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => read(`/proc/${pid}/stat`) ?? [])
      .map(processTimesOf)
  } catch {
    return []
  }
}

/** Returns null if the file does not exist: the process has ended. */
function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
