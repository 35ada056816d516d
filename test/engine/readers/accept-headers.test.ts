import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import { jsonAcceptOf, otherFormOf } from '../../../src/request/accept.ts'
import type { Random } from '../../differential/random.ts'
import { javaSkip } from '../../support/requirements.ts'
import { compareReaders } from './compare.ts'
import { openEngine } from './open-engine.ts'
import { textFrom, words } from './texts.ts'
import type { Told } from './wire.ts'

const TIDY_TYPES = words(`
    application/json application/json application/hal+json application/hal+json */*
    application/* * text/html text/* text/csv */json */hal+json APPLICATION/JSON
    Application/Hal+Json application/*+json application/vnd.x+json
  `)
const ODD_TYPES = [
  ...words(`
    application/xml json application application/ /json application/json/x application/hal
    application/hal+ "application/json" application/jsön
  `),
  '',
  'application/ json',
  'application /json',
]
const TYPES = [...TIDY_TYPES, ...ODD_TYPES]
const TIDY_QUALITIES = words('0 1 0.5 0.1 0.9 0.333 1.000 0.001 0.0 0.49 .5')
const ODD_QUALITIES = [
  ...words(`
    1. 0. 0.0001 0.3333333 0.50 00.5 1.0000 0.99999999999 0.12345678901234567 2 1.5 -1 -0 +1
    5e-1 1e0 0x1 x "0.5" "0.1 '0.5' 0.5.1 1,5 NaN Infinity 99999999999 0.5f ٠ ０ 0.5x 1_0 . ..5
    0..5 10 100
  `),
  '',
  '0 .5',
  '0.5 x',
]
const QUALITIES = [...TIDY_QUALITIES, ...ODD_QUALITIES]
const NAMES = [...words('q q q q q Q qs charset v x xq q* "q" level profile'), ' q', 'q ', '\tq', '']
const TIDY_VALUES = ['1', 'utf-8', '"a,b"', '"a;q=0.1"', '"a\\"b"', '""', 'x-y']
const ODD_VALUES = [
  ...words(String.raw`" "a 'a,b' "\ "x"y (c) <x> q=0.3 "q=0.2" application/hal+json \" =`),
  '"q=0.9, */*"',
  'a b',
]
const VALUES = [...TIDY_VALUES, ...ODD_VALUES]
const SEPARATORS = [...words(', , , ,, ; ,;'), ', ', ' ,', ' , ', '\t,', ' ', ', ,']

/** Makes an Accept header. Most of them are well-formed, because the engine accepts few others. */
function makeAccept(random: Random): string {
  const isTidy = random.chance(0.75)
  const ranges = Array.from({ length: random.pick([1, 1, 2, 2, 2, 3, 4]) }, () => makeRange(random, isTidy))
  if (isTidy) return ranges.join(random.pick([',', ', ', ' , ', '\t,']))
  return (
    ranges.join(random.pick(SEPARATORS)) +
    textFrom(random, [...words('; , " ='), '', '', ' ', '\t', '\u00a0'], 2)
  )
}

function makeRange(random: Random, isTidy: boolean): string {
  let text = random.pick(isTidy || random.chance(0.5) ? TIDY_TYPES : TYPES)
  for (let left = random.pick([0, 0, 1, 1, 1, 2, 3]); left > 0; left -= 1)
    text += isTidy ? tidyParameter(random, text) : parameter(random)
  return text
}

function tidyParameter(random: Random, before: string): string {
  const isQuality = random.chance(0.7) && (!/;\s*q=/i.test(before) || random.chance(0.2))
  const name = isQuality
    ? random.pick(['q', 'q', 'q', 'Q'])
    : random.pick(['v', 'charset', 'level', 'xq', 'qs', 'q*'])
  const value = random.pick(isQuality ? TIDY_QUALITIES : TIDY_VALUES)
  return `${random.pick([';', ';', '; ', ' ;', ' ; ', ';\t'])}${name}=${value}`
}

function parameter(random: Random): string {
  const name = random.pick(NAMES)
  const value = random.pick(name.trim().toLowerCase() === 'q' && random.chance(0.9) ? QUALITIES : VALUES)
  const equals = random.chance(0.94) ? '=' : random.pick(['', ' =', '= ', ' = ', '=='])
  return `${random.pick([';', ';', '; ', ' ;', ' ; ', ';;'])}${name}${equals}${equals === '' ? '' : value}`
}

type Form = 'hal' | 'neither' | false

/** Returns the format of the response, derived from its body, because the engine repeats the requested media type. Null if it refused the header. */
function formOf({ status, bytes }: Told): Form | null {
  if (status === 406) return 'neither'
  return status === 200 ? bytes.includes('"_embedded"') && 'hal' : null
}

t.test(
  'the engine responds to each Accept header in the format that the gateway expects',
  { skip: javaSkip },
  async (t) => {
    const { ask } = await openEngine(t)
    await compareReaders(t, {
      what: 'Accept',
      inputs: 3000,
      part: 21,
      make: makeAccept,
      compare: async (accept) => {
        // As Node.js and the engine's container receive a header field: without surrounding blanks, one character for each byte.
        const sent = Buffer.from(accept).toString('latin1').trim()
        const [tasks, count] = await Promise.all(
          ['/task?maxResults=0', '/task/count'].map((path) => ask({ path, headers: { accept: sent } })),
        )
        if (tasks === undefined || count === undefined) throw new Error('no response')
        try {
          const gateway = [otherFormOf({ accept: 'hal' }, sent), otherFormOf({}, sent)]
          const engine = [formOf(tasks), formOf(count)]
          // The engine itself refuses headers that it cannot parse.
          const isSame = engine.every((form, index) => form === null || form === gateway[index])
          if (!isSame) return { engine, gateway }
          if (engine[0] !== false) return null
          const alone = await ask({ path: '/task?maxResults=0', headers: { accept: jsonAcceptOf(sent) } })
          return formOf(alone) === false ? null : { engine: alone.status, gateway: jsonAcceptOf(sent) }
        } catch (error) {
          if (error instanceof GatewayError) return 'refused'
          throw error
        }
      },
    })
  },
)
