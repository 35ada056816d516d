import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Location, Mutant } from '@stryker-mutator/api/core'
import type { Logger } from '@stryker-mutator/api/logging'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import { Random } from '../differential/random.ts'

/** A mutant that contains more mutants than this is not chosen, because all mutants in a chosen range are tested. */
const MAX_CONTAINED = 8

/** Returns random ranges of the source that contain about `size` mutants, in the format of Stryker's option `mutate`. */
export async function sampleOf(patterns: readonly string[], size: number, seed: number): Promise<string[]> {
  const mutants = await mutantsIn(patterns)
  const ranges: string[] = []
  const chosen = new Set<Mutant>()
  for (const mutant of Random.of(seed, 0).sample(mutants, mutants.length)) {
    if (chosen.size >= size) break
    const contained = chosen.has(mutant) ? [] : mutants.filter((other) => contains(mutant, other))
    if (contained.length === 0 || contained.length > MAX_CONTAINED) continue
    for (const other of contained) chosen.add(other)
    ranges.push(rangeOf(mutant))
  }
  return ranges
}

async function mutantsIn(patterns: readonly string[]): Promise<readonly Mutant[]> {
  const names = globSync([...patterns]).toSorted()
  const files = await Promise.all(
    names.map(async (name) => ({ name, mutate: true, content: await readFile(name, 'utf8') })),
  )
  const options = { plugins: null, ignorers: [], excludedMutations: [] }
  const { mutants } = await new Instrumenter(SILENT).instrument(files, options)
  return mutants
}

function contains(outer: Mutant, inner: Mutant): boolean {
  return (
    outer.fileName === inner.fileName &&
    isBefore(outer.location.start, inner.location.start) &&
    isBefore(inner.location.end, outer.location.end)
  )
}

function isBefore(one: Location['start'], other: Location['start']): boolean {
  return one.line < other.line || (one.line === other.line && one.column <= other.column)
}

function rangeOf({ fileName, location: { start, end } }: Mutant): string {
  return `${fileName}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`
}

const isEnabled = (): boolean => false
const write = (): void => undefined

const SILENT: Logger = {
  isTraceEnabled: isEnabled,
  isDebugEnabled: isEnabled,
  isInfoEnabled: isEnabled,
  isWarnEnabled: isEnabled,
  isErrorEnabled: isEnabled,
  isFatalEnabled: isEnabled,
  trace: write,
  debug: write,
  info: write,
  warn: write,
  error: write,
  fatal: write,
}
