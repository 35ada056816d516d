import { parseArgs } from 'node:util'
import { FAMILIES, type Family } from '../engine/build.ts'
import { type EngineSettings, readEngineSettings } from './engine-settings.ts'

export interface Options {
  readonly seed: number
  /** The time after which no new phase begins. */
  readonly minutes: number
  readonly sets: number
  readonly family: Family
  /** The ids of the compared operations. If empty, all operations are compared. */
  readonly only: readonly string[]
  readonly nineteen: boolean
  /** The only set that is compared, to examine it again. Null for all sets. */
  readonly set: number | null
  /** If true, the gateway does not get the records that an engine creates automatically. It must derive their grants without them. */
  readonly implied: boolean
  readonly engineSettings: EngineSettings
  /** The gateway's `limits.scannedItems`, or null for the default. With a low limit, unnecessary filtering is refused. */
  readonly scannedItems: number | null
  /** The number of items of each page with which lists are read from the gateway. If null, each list is read at once. */
  readonly pageSize: number | null
  /** The file to which unequal comparisons are written. Null for no file. */
  readonly keep: string | null
  /** A `keep` file of an earlier run. A comparison with a new outcome is a failure, unless the outcome is `rows` or `words`. */
  readonly against: string | null
  /** The percentage of comparisons that must be equal. */
  readonly percent: number
  /** Fewer comparisons are a failure, because the time was too short or some requests were not sent. */
  readonly atLeast: number
  /** The number of example lines for each operation. */
  readonly examples: number
}

export const USAGE = `Usage: npm run test:differential -- [options]
  --seed N            the same seed sends the same requests; default 7
  --sets N            sets of a user, groups, tenants and records; default 320
  --minutes M         no new phase after this; default 12
  --family F          camunda (7.22.0, default), camunda-7.24.0 or operaton
  --only ID[,ID]      only these operations
  --nineteen          only the nineteen most frequent operations
  --set N             only this set, with the same content as in a whole run
  --implied           the gateway gets no records that an engine creates automatically
  --engine-settings S settings of the secured engine and of the gateway: specific-variables, task-work
  --scanned-items N   limits.scannedItems of the gateway: with 5, a list that is filtered and not rewritten gets 403
  --page-size N       lists are read from the gateway in pages of N items, and compared as a whole
  --keep FILE         writes the comparisons that were not equal to this file
  --against FILE      the --keep file of an earlier run: another difference is a failure, except 403 GW_ITEMS_NOT_EXACT
  --percent P         fewer equal comparisons are a failure; default 99
  --at-least N        fewer comparisons are a failure; default 1
  --examples N        the number of examples printed for each operation; default 1
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
      'engine-settings': { type: 'string', default: '' },
      'scanned-items': { type: 'string' },
      'page-size': { type: 'string' },
      keep: { type: 'string' },
      against: { type: 'string' },
      percent: { type: 'string', default: '99' },
      'at-least': { type: 'string', default: '1' },
      examples: { type: 'string', default: '1' },
    },
  })
  return {
    seed: numberOf('seed', values.seed),
    sets: numberOf('sets', values.sets),
    minutes: numberOf('minutes', values.minutes),
    family: familyOf(values.family),
    only: values.only === '' ? [] : values.only.split(','),
    nineteen: values.nineteen,
    set: numberOrNull('set', values.set),
    implied: values.implied,
    engineSettings: readEngineSettings(values['engine-settings']),
    scannedItems: numberOrNull('scanned-items', values['scanned-items']),
    pageSize: numberOrNull('page-size', values['page-size']),
    keep: values.keep ?? null,
    against: values.against ?? null,
    percent: numberOf('percent', values.percent),
    atLeast: numberOf('at-least', values['at-least']),
    examples: numberOf('examples', values.examples),
  }
}

function familyOf(text: string): Family {
  const family = FAMILIES.find((one) => one === text)
  if (family === undefined) throw new Error(`--family: ${text} is none of ${FAMILIES.join(', ')}`)
  return family
}

function numberOrNull(name: string, text: string | undefined): number | null {
  return text === undefined ? null : numberOf(name, text)
}

function numberOf(name: string, text: string): number {
  const number = Number(text)
  if (!Number.isFinite(number) || number < 0) throw new Error(`--${name} needs a number\n${USAGE}`)
  return number
}
