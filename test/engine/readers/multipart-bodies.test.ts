import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import { checkMedia } from '../../../src/policy/validation/media.ts'
import { checkMultipart, readMultipart } from '../../../src/policy/validation/multipart.ts'
import type { Random } from '../../differential/random.ts'
import { javaSkip } from '../../support/requirements.ts'
import { compareReaders, type Outcome } from './compare.ts'
import { answerOf, openEngine } from './open-engine.ts'
import { words } from './texts.ts'
import type { Told } from './wire.ts'

/** A form as bytes, one character for each byte. */
interface Form {
  readonly type: string
  readonly body: string
}

const DOCTYPE = '<!DOCTYPE definitions><definitions/>'

t.test('the gateway checks every part of a form that the engine reads', { skip: javaSkip }, async (t) => {
  const { ask, make } = await openEngine(t)
  const send = ({ type, body }: Form, path: string): Promise<Told> =>
    ask({ method: 'POST', path, headers: { 'content-type': type }, body: Buffer.from(body, 'latin1') })

  await compareReaders(t, {
    what: 'models in a form',
    inputs: 2500,
    part: 41,
    maxRefused: 0.9,
    make: (random) => makeForm(random, modelParts(random)),
    compare: async (form) => {
      const told = await send(form, '/deployment/create')
      return outcomeOf(form, told, /DOCTYPE is disallowed/)
    },
  })

  await make('POST /task/create', { id: 'form' })
  await compareReaders(t, {
    what: 'names in a form',
    inputs: 2500,
    part: 42,
    maxRefused: 0.9,
    make: (random) => makeForm(random, valueParts(random)),
    compare: async (form) => {
      const told = await send(form, '/task/form/localVariables/x/data')
      return outcomeOf(form, told, /serialized java type/)
    },
  })
})

/**
 * Returns the outcome for a form. If the engine finds a hazard, the gateway must have refused the form. The gateway
 * must not refuse a well-formed form.
 */
async function outcomeOf({ type, body }: Form, told: Told, found: RegExp): Promise<Outcome> {
  const refusal = await refusalOf({ type, body })
  const isFound = told.status >= 400 && found.test(told.bytes.toString())
  if (refusal === null) return isFound ? { engine: answerOf(told), gateway: 'passes' } : null
  const isTaken = told.status < 300 && TIDY_TYPE.test(type) && TIDY.test(body)
  return isTaken && refusal === 'GW_BAD_MULTIPART' ? { engine: answerOf(told), gateway: refusal } : 'refused'
}

async function refusalOf({ type, body }: Form): Promise<string | null> {
  try {
    checkMedia({ method: 'POST', media: 'multipart' }, { 'content-type': type, 'content-length': '1' })
    await checkMultipart(await readMultipart(Buffer.from(body, 'latin1'), type), new Set())
    return null
  } catch (error) {
    if (error instanceof GatewayError) return error.code
    throw error
  }
}

/** Content type and body of a well-formed form, as clients write it. */
const TIDY_TYPE = /^multipart\/form-data; ?boundary=(?:B|"B")$/
const TIDY =
  /^(?:--B\r\nContent-Disposition: form-data; name="[\w .-]*"(?:; filename="[\w .-]*")?(?:\r\nContent-Type: [\w/]+)?\r\n\r\n[^\r\n]*\r\n)+--B--\r\n$/

const BOUNDARIES = words("B B B B ----WebKitFormBoundaryx7 a'()+_,-./:=?b 0 B-- -- =_x a=b")
const TYPES = [
  ...words(`
    multipart/form-data;boundary=@ multipart/form-data;boundary="@" multipart/form-data;Boundary=@
    Multipart/Form-Data;BOUNDARY=@ multipart/form-data;charset=utf-8;boundary=@ multipart/form-data;boundary=@;x=y
    multipart/form-data;boundary='@' multipart/form-data;boundary=@,x multipart/form-data;boundary=@;boundary=C
    multipart/form-data;boundary=C;boundary=@ multipart/form-data;boundary*=utf-8''@ multipart/form-data;boundary=@;
    multipart/form-data;boundary="=?utf-8?Q?@?=" multipart/mixed;boundary=@ multipart/form-data multipart/form-data;boundary=
    multipart/form-data;xboundary=C;boundary=@ multipart/form-data;;boundary=@ multipart/form-data,boundary=@ multipart/related;boundary=@
    multipart/form-data;x="boundary=C";boundary=@ multipart/form-data;x=";boundary=C";boundary=@ multipart/form-data;boundary=%42
  `),
  'multipart/form-data; boundary=@',
  'multipart/form-data; boundary = @',
  'multipart/form-data; boundary="@ "',
  'multipart/form-data; boundary=" @"',
  'multipart/form-data ; boundary=@ x',
  'multipart/form-data;\tboundary=\t@',
  'multipart/form-data; boundary="\\@"',
  'multipart/form-data; x="\\";boundary=C"; boundary=@',
]

function makeForm(random: Random, parts: readonly (readonly [headers: string, content: string])[]): Form {
  const isTidy = random.chance(0.7)
  const boundary = isTidy ? 'B' : random.pick(BOUNDARIES)
  const type = isTidy && random.chance(0.8) ? 'multipart/form-data; boundary=@' : random.pick(TYPES)
  const end = () =>
    random.chance(0.95) ? '\r\n' : random.pick(['\n', '\r', '\r\n\r\n', ' \r\n', '\t\r\n', ''])
  const line = isTidy ? () => '\r\n' : end
  const delimiter = () =>
    isTidy || random.chance(0.9)
      ? `--${boundary}`
      : random.pick([
          `-${boundary}`,
          `--${boundary} `,
          ` --${boundary}`,
          `--${boundary.toLowerCase()}`,
          `----${boundary}`,
          `--${boundary}--`,
          `--${boundary}x`,
          '--C',
          '--@',
        ])
  let body =
    isTidy || random.chance(0.7)
      ? ''
      : random.pick([
          'x\r\n',
          '\r\n',
          `x--${boundary}`,
          '\n',
          `--${boundary}`,
          `--${boundary}--\r\n`,
          '--C\r\n',
        ])
  for (const [headers, content] of parts)
    body += `${delimiter()}${line()}${isTidy ? headers : headers.replace(/\r\n/g, line)}${line()}${line()}${content}${line()}`
  const last =
    isTidy || random.chance(0.6)
      ? `--${boundary}--\r\n`
      : random.pick([
          '',
          `--${boundary}`,
          `--${boundary}-`,
          `--${boundary}--x`,
          `--${boundary}\r\n`,
          `--${boundary}--\r\n--${boundary}\r\n`,
        ])
  return { type: type.replace('@', () => boundary), body: body + last }
}

const MODEL_NAMES = [
  ...words(`
    a.bpmn a.bpmn a.bpmn20.xml bpmn xbpmn a.BPMN a.bpmn.txt a.txt a.xml a.bpmn; a.bpmn" a'.bpmn =?utf-8?Q?a.bpmn?= =?utf-8?Q?a=2Ebpmn?=
    =?utf-8?B?YS5icG1u?= a%2Ebpmn a.bp\\mn utf-8''a.bpmn a.dmn a.cmmn a.bpmn\\ C:\\a.bpmn a/b.bpmn a.bpmn# a.bpmn?x a,b.bpmn a.bpm
    =?utf-8?q?a=2e?=bpmn =?x?Q?a.bpmn?= a.bpmn=?utf-8?Q??= a.txt;filename=a.bpmn \u00e4.bpmn a.bpmn\u0000 =?iso-8859-1?Q?a.=62pmn?=
  `),
  'a.bpmn ',
  ' a.bpmn',
  'a.bpmn\t',
  'a. bpmn',
  'a.\r\n bpmn',
  'a.bpmn\u00a0',
  'a.bpmn\u0085',
  'a.bpmn\u0001',
  'a.bpmn\u000b',
  '=?utf-8?Q?a.?= =?utf-8?Q?bpmn?=',
]

function modelParts(random: Random): readonly (readonly [string, string])[] {
  const parts: (readonly [string, string])[] = []
  for (let left = random.pick([1, 1, 2, 3]); left > 0; left -= 1)
    parts.push(
      random.chance(0.3)
        ? [
            `Content-Disposition: form-data; name="d"; filename="x${random.below(99)}.txt"`,
            random.pick(['x', '--', '--B', `--B\r\n`, '--Bx']),
          ]
        : [
            headersOf(random, [
              ['name', random.pick(['d', 'data', 'x', ''])],
              ['filename', random.pick(MODEL_NAMES)],
            ]),
            random.pick([
              DOCTYPE,
              DOCTYPE,
              DOCTYPE,
              ` ${DOCTYPE}`,
              `\u00ef\u00bb\u00bf${DOCTYPE}`,
              `<!-- -->${DOCTYPE}`,
              `<?xml version="1.0"?>${DOCTYPE}`,
              utf16(DOCTYPE),
            ]),
          ],
    )
  return parts
}

function utf16(text: string): string {
  return `\u00ff\u00fe${Buffer.from(text, 'utf16le').toString('latin1')}`
}

const VALUE_NAMES = [
  ...words(`
    type type type Type TYPE data typ type; type" 'type' =?utf-8?Q?type?= =?utf-8?B?dHlwZQ==?= t%79pe ty\\pe utf-8''type type\u0000
    =?utf-8?Q?t=79pe?= valueType x;name=type type,x =?x?Q?type?= ty=?utf-8?Q?pe?= =?us-ascii?q?type?=
  `),
  'type ',
  ' type',
  'type\t',
  'ty pe',
  '',
  'type\u00a0',
  'type\u0001',
  '=?utf-8?Q?ty?= =?utf-8?Q?pe?=',
  'type\r\n ',
]

function valueParts(random: Random): readonly (readonly [string, string])[] {
  const parts: (readonly [string, string])[] = [
    ['Content-Disposition: form-data; name="data"', random.pick(['x', '', '--B', 'name="type"'])],
    [headersOf(random, [['name', random.pick(VALUE_NAMES)]]), 'java.lang.String'],
  ]
  if (random.chance(0.2)) parts.push([headersOf(random, [['name', random.pick(VALUE_NAMES)]]), 'x'])
  return random.sample(parts, parts.length)
}

type Parameter = readonly [name: string, value: string]

/** Returns the headers of a part, mostly as clients write them. */
function headersOf(random: Random, parameters: readonly Parameter[]): string {
  const field = random.chance(0.9)
    ? 'Content-Disposition'
    : random.pick([
        'content-disposition',
        'CONTENT-DISPOSITION',
        'Content-Disposition ',
        ' Content-Disposition',
        'Content-\u0000Disposition',
        'Content_Disposition',
        'X',
      ])
  const colon = random.chance(0.9) ? ': ' : random.pick([':', ' : ', ':\t', ':\r\n ', '::', ''])
  const kind = random.chance(0.9)
    ? 'form-data'
    : random.pick([
        'Form-Data',
        'attachment',
        'form-datax',
        'file',
        'form-data ',
        'inline',
        '"form-data"',
        'form-data,x',
        '',
      ])
  const all = random.chance(0.9)
    ? parameters
    : ([...parameters, ...parameters, ['x', 'name="type"']] satisfies readonly Parameter[])
  const written = random.sample(all, all.length).map((one) => parameterOf(random, one))
  const disposition = `${field}${colon}${kind}${written.join('')}`
  const other = random.pick([
    'Content-Type: application/json',
    'Content-Type: text/plain',
    'X: y',
    'Content-Transfer-Encoding: base64',
    'Content-Disposition: form-data; name="x"',
    'X: "',
  ])
  if (random.chance(0.7)) return disposition
  return random.chance(0.5) ? `${disposition}\r\n${other}` : `${other}\r\n${disposition}`
}

function parameterOf(random: Random, [name, value]: Parameter): string {
  const before = random.chance(0.9)
    ? '; '
    : random.pick([
        ';',
        ' ; ',
        ';\t',
        ';\r\n ',
        ';;',
        ', ',
        ' ',
        '; x="y"; ',
        ';\r\n\t',
        '; x="; ',
        ';\u00a0',
        ';\u000b',
        '; \r\n\r',
      ])
  const spelt = random.chance(0.85)
    ? name
    : random.pick([
        name.toUpperCase(),
        `${name}*`,
        `${name}*0`,
        `${name} `,
        ` ${name}`,
        `x${name}`,
        `"${name}"`,
        `${name}\t`,
        `\u0000${name}`,
        `${name}*0*`,
        `${name}\u00a0`,
      ])
  const equals = random.chance(0.9)
    ? '='
    : random.pick([' = ', '= ', ' =', '=\t', '==', '', '=\r\n ', '=\u00a0'])
  const quoted = random.chance(0.8)
    ? `"${value}"`
    : random.pick([
        value,
        `'${value}'`,
        `"${value}`,
        `${value}"`,
        `""${value}""`,
        `" ${value} "`,
        `"\\${value}"`,
        `"${value}"x`,
        `x"${value}"`,
      ])
  return `${before}${spelt}${equals}${quoted}`
}
