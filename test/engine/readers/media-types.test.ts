import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import { checkMedia } from '../../../src/policy/validation/media.ts'
import type { Random } from '../../differential/random.ts'
import { javaSkip } from '../../support/requirements.ts'
import { compareReaders } from './compare.ts'
import { answerOf, openEngine } from './open-engine.ts'
import { textFrom, words } from './texts.ts'
import { jsonOf } from './wire.ts'

const TYPES = [
  ...words(`
    application/json application/json application/json APPLICATION/JSON Application/Json
    application/* */* text/json application/hal+json application/vnd.x+json text/plain
    application application/json/x */json application/json-patch+json application/xml
    application/jsonx application/octet-stream
  `),
  '',
  'application/ json',
  'application /json',
]
const CHARSETS = [
  ...words(`
    utf-8 UTF-8 utf8 Utf8 "utf-8" 'utf-8' iso-8859-1 latin1 us-ascii utf-16 UTF-16LE utf-32
    "UTF-16" utf16 UTF_16 unicode x-utf-16le-bom UnicodeBig ISO-10646-UCS-2 csUnicode UTF-16BE
    cp1252 ebcdic-cp-us IBM037 Cp037 utf-7 x "" " utf-8" "utf-8 ä utf-8, gb18030 shift_jis
    CESU-8 x-IBM1047 ISO-2022-JP
  `),
  '',
  'utf-8 x',
]
const NAMES = [
  ...words('charset charset charset Charset CHARSET charset* boundary q v xcharset "charset" version'),
  ' charset',
  'charset ',
  '',
]

function makeType(random: Random): string {
  let text = random.pick(random.chance(0.7) ? TYPES.slice(0, 5) : TYPES)
  for (let left = random.pick([0, 1, 1, 2, 3]); left > 0; left -= 1) {
    const name = random.pick(NAMES)
    const equals = random.chance(0.93) ? '=' : random.pick(['', ' =', '= ', '=='])
    text += `${random.pick([';', ';', '; ', ' ;', ';\t', ';;', ',', ' '])}${name}${equals}${equals === '' ? '' : random.pick(CHARSETS)}`
  }
  return random.chance(0.1)
    ? text + textFrom(random, [...words('; , " = application/json x'), ' ', '\t', '\u00a0'], 2)
    : text
}

/** Content types that the gateway refuses although the engine accepts them. Each is listed in docs/deviations.md. */
const REFUSED_ALL_THE_SAME = /charset\s*=\s*"?(?:utf-?(?:16|32)|ucs-?[24])|charset="[";\s]|^\*\//i

const NAME = 'ä€😀'

t.test(
  'a body whose content type the gateway accepts is refused by the engine or parsed as UTF-8',
  { skip: javaSkip },
  async (t) => {
    const { ask } = await openEngine(t)
    await compareReaders(t, {
      what: 'Content-Type of JSON',
      inputs: 3000,
      part: 31,
      maxRefused: 0.8,
      make: makeType,
      compare: async (type) => {
        const sent = Buffer.from(type).toString('latin1').trim()
        const body = `{"resourceType":"Task","name":"${NAME}","query":{}}`
        const told = await ask({
          method: 'POST',
          path: '/filter/create',
          headers: { 'content-type': sent },
          body,
        })
        const isTaken = told.status === 200 && Object(jsonOf(told))['name'] === NAME
        if (!isRefused({ 'content-type': sent }))
          return isTaken || told.status >= 400 ? null : { engine: answerOf(told), gateway: NAME }
        return isTaken && !REFUSED_ALL_THE_SAME.test(sent) ? { engine: NAME, gateway: 415 } : 'refused'
      },
    })
  },
)

function isRefused(headers: Readonly<Record<string, string>>): boolean {
  try {
    checkMedia({ method: 'POST' }, { ...headers, 'content-length': '1' })
    return false
  } catch (error) {
    if (error instanceof GatewayError) return true
    throw error
  }
}
