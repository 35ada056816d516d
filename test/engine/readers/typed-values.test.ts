import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import { checkHazards } from '../../../src/policy/validation/hazards.ts'
import { readJson } from '../../../src/request/json.ts'
import type { Random } from '../../differential/random.ts'
import { javaSkip } from '../../support/requirements.ts'
import { seed } from '../seed.ts'
import { compareReaders } from './compare.ts'
import { arrayToken, documentBytes, numberToken, objectToken, stringToken, valueToken } from './json-texts.ts'
import { answerOf, openEngine } from './open-engine.ts'
import { words } from './texts.ts'
import { refusalOf } from './verdicts.ts'

const TYPES = words(
  'String Integer Long Short Double Boolean Date Bytes Null Number Object File Json Xml string integer INTEGER boolean x date double',
)
const PIECES: Readonly<Record<string, readonly string[]>> = {
  whole: [
    ...words(
      String.raw`5 0 12 - + \t \u0000 .0 null e1 x 2147483647 2147483648 32767 32768 9223372036854775807 9223372036854775808 _ \" \\ ٣ ５ 𝟏`,
    ),
    ' ',
    '\u00a0',
  ],
  decimal: [
    ...words(
      String.raw`1 . 5 e3 E-3 - + NaN INF -INF Infinity null x d f 0x1p3 , _ \t \u0000 1e400 \u00a0 ٣`,
    ),
    ' ',
  ],
  flag: [...words(String.raw`true TRUE True false tRUE null \t \u0000 1 0 x \"`), ' ', '\u00a0'],
  date: [
    ...words(
      String.raw`2020-01-01T00:00:00.000+0000 2020-01-01T00:00:00.000UTC +0000 2020 -01 T Z null \u0000 \" \\ x`,
    ),
    ' ',
  ],
  bytes: [...words(String.raw`YQ== YWI= YWJj Y Q = == - _ \n \r \t null \u0000 ä % +/ ++ YQ`), ' '],
}
const INFO = [
  '"transient"',
  '"objectTypeName"',
  '"serializationDataFormat"',
  '"filename"',
  '"mimeType"',
  '"encoding"',
  '"x"',
]

function typedToken(random: Random): string {
  const members: (readonly [string, string])[] = []
  if (random.chance(0.95))
    members.push(['"type"', random.chance(0.95) ? `"${random.pick(TYPES)}"` : valueToken(random, 1)])
  if (random.chance(0.97)) members.push(['"value"', valueOf(random)])
  if (random.chance(0.3))
    members.push(['"valueInfo"', random.chance(0.95) ? infoToken(random) : valueToken(random)])
  return objectToken(random, members)
}

function valueOf(random: Random): string {
  const kind = random.below(10)
  if (kind < 5) return stringToken(random, random.pick(Object.values(PIECES)))
  if (kind < 7) return numberToken(random)
  return kind < 8 ? arrayToken(random, [valueToken(random, 1)]) : valueToken(random)
}

function infoToken(random: Random): string {
  return objectToken(
    random,
    random
      .sample(INFO, random.below(4))
      .map(
        (name) =>
          [
            name,
            random.chance(0.4)
              ? random.pick(['true', 'false', 'null', '"f.txt"', '"text/plain"'])
              : valueToken(random, 1),
          ] as const,
      ),
  )
}

t.test('the engine parses typed values as the gateway does', { skip: javaSkip }, async (t) => {
  const { ask, base } = await openEngine(t)
  const { reviewInstanceId: id } = await seed(base)
  await compareReaders(t, {
    what: 'typed values',
    inputs: 3000,
    part: 61,
    make: (random) => documentBytes(random, typedToken(random)),
    compare: async (bytes) => {
      const path = `/process-instance/${id}/variables/x`
      const told = await ask({
        method: 'PUT',
        path,
        headers: { 'content-type': 'application/json' },
        body: bytes,
      })
      try {
        const body = readJson(bytes)
        checkHazards(
          { id: 'setProcessInstanceVariable', method: 'PUT' },
          { query: new Map(), body },
          { allowedHazards: new Set(), allowedExpressions: new Set() },
        )
        const verdict = refusalOf('setProcessInstanceVariable', {
          params: { id, varName: 'x' },
          query: new Map(),
          body,
        })
        if (verdict === null) return null
        if (verdict === 'unmapped')
          return told.status === 400 ? null : { engine: answerOf(told), gateway: verdict }
        const engine = answerOf(told)
        return JSON.stringify(engine) === JSON.stringify(verdict) ? null : { engine, gateway: verdict }
      } catch (error) {
        if (error instanceof GatewayError) return 'refused'
        throw error
      }
    },
  })
})
