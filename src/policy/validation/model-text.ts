import { encodingOf } from './xml-prolog.ts'

const NOT_ASCII = /[^\0-\u007f]/
/** Bytes to which windows-1252 assigns no character. */
const UNASSIGNED = /[\u0081\u008d\u008f\u0090\u009d]/
const UTF8_MARK = '\u00ef\u00bb\u00bf'

/**
 * Returns the text of a model as the engine's XML parser reads it: by its first bytes, else by the encoding that the XML
 * declaration names. Null: the encoding is not one of those below, or the bytes are not of it.
 */
export function decodeModel(bytes: Buffer): string | null {
  const { order, declared } = encodingOf(bytes)
  const name = declared?.toLowerCase()
  if (order === null)
    return name === undefined || name === 'utf-8' ? decode(bytes, 'utf-8') : decodeSingle(bytes, name)
  const isOfOrder = name === undefined || name === 'utf-16' || name === `utf-16${order}`
  return isOfOrder ? decode(bytes, `utf-16${order}`) : null
}

/** Decodes an encoding of one byte for each character. */
function decodeSingle(bytes: Buffer, name: string): string | null {
  const text = bytes.toString('latin1')
  // The engine ignores the mark if the declaration names another encoding.
  if (text.startsWith(UTF8_MARK)) return null
  if (name === 'us-ascii') return NOT_ASCII.test(text) ? null : text
  // `TextDecoder` takes this name for windows-1252. The engine reads 256 characters, each with the number of its byte.
  if (name === 'iso-8859-1' || name === 'latin1') return text
  return name === 'windows-1252' && !UNASSIGNED.test(text) ? decode(bytes, name) : null
}

/** More than an XML declaration has. */
const MAX_PROLOG_CHARS = 2048
const LOST = '\ufffd'

/**
 * Whether the text that the engine's JSON has for a model may differ from the model: the engine decodes every model as
 * UTF-8 there.
 */
export function isDoubtful(xml: string): boolean {
  if (xml.includes(LOST) || xml.includes('\0')) return true
  const { declared = 'utf-8' } = encodingOf(Buffer.from(xml.slice(0, MAX_PROLOG_CHARS)))
  return declared.toLowerCase() !== 'utf-8' && NOT_ASCII.test(xml)
}

function decode(bytes: Buffer, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
