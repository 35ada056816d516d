import t from 'tap'
import { decodeModel, isDoubtful } from '../../../src/policy/validation/model-text.ts'

const MARK = '\ufeff'
const model = (encoding: string | null, name = 'B\u00e4r') =>
  `${encoding === null ? '' : `<?xml version="1.0" encoding='${encoding}'?>\n`}<process name="${name}"/>`

const utf16 = (text: string, order: 'le' | 'be') => {
  const bytes = Buffer.from(text, 'utf16le')
  return order === 'le' ? bytes : bytes.swap16()
}
const latin1 = (text: string) => Buffer.from(text, 'latin1')
const asUtf8 = (bytes: Buffer) => bytes.toString('utf8')

/** Camunda 7.22 deploys these models. test/engine/model-encodings.test.ts compares the names. */
t.test('a model is decoded as the XML parser of the engine decodes it', (t) => {
  for (const [claim, bytes, name] of [
    ['UTF-8', Buffer.from(model('UTF-8')), 'B\u00e4r'],
    ['UTF-8 with a mark', Buffer.from(MARK + model('utf-8')), 'B\u00e4r'],
    ['no declaration', Buffer.from(model(null)), 'B\u00e4r'],
    ['ISO-8859-1', latin1(model('ISO-8859-1')), 'B\u00e4r'],
    ['a control character of ISO-8859-1', latin1(model('iso-8859-1', 'B\u0080r')), 'B\u0080r'],
    ['latin1', latin1(model('latin1')), 'B\u00e4r'],
    ['windows-1252', latin1(model('windows-1252', 'B\u0080r')), 'B\u20acr'],
    ['US-ASCII', latin1(model('US-ASCII', 'Bar')), 'Bar'],
    ['UTF-16, little end first', utf16(MARK + model('UTF-16'), 'le'), 'B\u00e4r'],
    ['UTF-16, big end first', utf16(MARK + model('UTF-16'), 'be'), 'B\u00e4r'],
    ['UTF-16 with a mark and no declaration', utf16(MARK + model(null), 'le'), 'B\u00e4r'],
    ['UTF-16LE without a mark', utf16(model('UTF-16LE'), 'le'), 'B\u00e4r'],
    ['UTF-16BE without a mark', utf16(model('UTF-16BE'), 'be'), 'B\u00e4r'],
  ] as const) {
    const text = decodeModel(bytes)
    t.equal(/ name="(.*)"/.exec(text ?? '')?.[1], name, claim)
    t.equal(text?.[0], '<', `${claim}: without the mark`)
  }
  t.end()
})

t.test('other encodings, and bytes that are not of the encoding, are not read', (t) => {
  for (const [claim, bytes] of [
    ['an encoding that is not in the list', latin1(model('ISO-8859-15'))],
    ['UTF-8 with other bytes', latin1(model('UTF-8'))],
    ['no declaration, with other bytes', latin1(model(null))],
    ['US-ASCII with other bytes', latin1(model('US-ASCII'))],
    ['windows-1252 with a byte without a character', latin1(model('windows-1252', 'B\u0081r'))],
    ['a mark of UTF-8 and another encoding', Buffer.from(MARK + model('ISO-8859-1'))],
    ['a mark of UTF-16 and another encoding', utf16(MARK + model('UTF-8'), 'le')],
    ['the other order', utf16(MARK + model('UTF-16BE'), 'le')],
    ['half a character of UTF-16', utf16(MARK + model('UTF-16'), 'le').subarray(0, -1)],
  ] as const)
    t.equal(decodeModel(bytes), null, claim)
  t.end()
})

t.test('a text that was UTF-8 already is the text of the model', (t) => {
  for (const text of [model('UTF-8'), model(null), model('ISO-8859-1', 'Bar'), MARK + model('UTF-8')])
    t.equal(isDoubtful(text), false, text)
  for (const text of [
    asUtf8(latin1(model('ISO-8859-1'))),
    asUtf8(utf16(MARK + model('UTF-16'), 'le')),
    asUtf8(utf16(model('UTF-16BE', 'Bar'), 'be')),
    // Two characters of ISO-8859-1 whose bytes are one character of UTF-8.
    asUtf8(latin1(model('ISO-8859-1', 'B\u00c3\u00a4r'))),
  ])
    t.equal(isDoubtful(text), true, text)
  t.end()
})
