import type { Measured } from '../load/wrk.ts'

/** Returns the output line with the medians of one server. */
export function valueLine(name: string, measured: readonly Measured[]): string {
  const perSecond = Math.round(median(measured.map((one) => one.perSecond)))
  const cpu = median(measured.map((one) => one.cpuMicros))
  return `  ${name.padEnd(22)} ${`${perSecond}`.padStart(7)} requests/s  ${cpu.toFixed(1).padStart(6)} µs CPU/request\n`
}

/** Returns the line with our throughput divided by theirs, and their CPU time per request divided by ours. Ratios are taken per round. */
export function ratioLine(ours: readonly Measured[], theirs: readonly Measured[]): string {
  const throughput = ratiosOf(ours, theirs, (us, them) => us.perSecond / them.perSecond)
  const cpu = ratiosOf(ours, theirs, (us, them) => them.cpuMicros / us.cpuMicros)
  return `    engine-gateway is ${spread(throughput)} of it in throughput, ${spread(cpu)} by CPU\n`
}

function ratiosOf(
  ours: readonly Measured[],
  theirs: readonly Measured[],
  ratio: (us: Measured, them: Measured) => number,
): readonly number[] {
  return ours.flatMap((us, round) => {
    const them = theirs[round]
    return them === undefined ? [] : [ratio(us, them)]
  })
}

function spread(ratios: readonly number[]): string {
  return `${median(ratios).toFixed(2)}x (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - ((sorted.length + 1) % 2)], sorted[middle]]
  return (low + high) / 2
}
