import { parseArgs } from 'node:util'
import type { Family } from '../engine/build.ts'

export interface Options {
  readonly seed: number
  /** No new phase begins after this. */
  readonly minutes: number
  readonly sets: number
  readonly family: Family
  /** Operations to ask; empty: all. */
  readonly only: readonly string[]
  readonly nineteen: boolean
  /** Only this set, to look at it again. */
  readonly set: number | null
  /** The gateway is not given the records that an engine writes by itself: it has to know what they say without them. */
  readonly implied: boolean
  /** The gateway's `limits.filteredRows`; null: its default. With a few, what is filtered without need is refused. */
  readonly filteredRows: number | null
  /** Fewer comparisons are a failure: then the time was too short, or something was not asked. */
  readonly atLeast: number
  /** How many lines of examples an operation gets. */
  readonly examples: number
}

export const USAGE = `Usage: npm run test:differential -- [options]
  --seed N            default 7: the same seed asks the same
  --sets N            sets of a user, groups, tenants and records; default 320
  --minutes M         no new phase after this; default 12
  --family F          camunda (default) or operaton
  --only ID[,ID]      these operations alone
  --nineteen          the nineteen operations alone
  --set N             one set alone, as it is in the whole run
  --implied           the gateway is not given what an engine writes by itself
  --filtered-rows N   limits.filteredRows of the gateway: with 5, what is filtered and not asked for shows as a 403
  --at-least N        fewer comparisons are a failure; default 1
  --examples N        examples printed for an operation; default 1
`

export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '7' },
      sets: { type: 'string', default: '320' },
      minutes: { type: 'string', default: '12' },
      family: { type: 'string', default: 'camunda' },
      only: { type: 'string', default: '' },
      nineteen: { type: 'boolean', default: false },
      set: { type: 'string' },
      implied: { type: 'boolean', default: false },
      'filtered-rows': { type: 'string' },
      'at-least': { type: 'string', default: '1' },
      examples: { type: 'string', default: '1' },
    },
  })
  return {
    seed: numberOf('seed', values.seed),
    sets: numberOf('sets', values.sets),
    minutes: numberOf('minutes', values.minutes),
    family: values.family === 'operaton' ? 'operaton' : 'camunda',
    only: values.only === '' ? [] : values.only.split(','),
    nineteen: values.nineteen,
    set: values.set === undefined ? null : numberOf('set', values.set),
    implied: values.implied,
    filteredRows:
      values['filtered-rows'] === undefined ? null : numberOf('filtered-rows', values['filtered-rows']),
    atLeast: numberOf('at-least', values['at-least']),
    examples: numberOf('examples', values.examples),
  }
}

function numberOf(name: string, text: string): number {
  const number = Number(text)
  if (!Number.isFinite(number) || number < 0) throw new Error(`--${name} needs a number\n${USAGE}`)
  return number
}
