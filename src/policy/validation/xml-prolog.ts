/** Encodings that write markup with the bytes of ASCII. */
const ASCII_LIKE =
  /^(?:utf-?8|us-ascii|ascii|iso-?8859-\d+|latin-?\d|windows-125\d|cp125\d|koi8-[ru]|gbk|gb2312|gb18030|big5|euc-(?:jp|kr|cn|tw)|shift_jis|sjis|tis-620)$/i
const DECLARATION = /\sencoding\s*=\s*["']([^"']*)["']/

/** The first bytes of XML in encodings that are not decoded: UTF-32 in both byte orders, with and without a byte order mark, and EBCDIC. */
const STRANGE = ['0000feff', 'fffe0000', '0000003c', '3c000000', '00003c00', '003c0000', '4c6fa794']

/** The largest prolog that is scanned: 1 MiB. */
const MAX_PROLOG_BYTES = 1_048_576
const MAX_DECLARATION_CHARS = 1000
/** Such a declaration in UTF-16, with a mark. */
const MAX_DECLARATION_BYTES = 2 * MAX_DECLARATION_CHARS + 6

/**
 * Returns whether an XML document declares a DOCTYPE, in any encoding. Also returns true if this cannot be determined. A
 * DOCTYPE can occur only before the root element, so a `<!DOCTYPE` inside a script or a text does not count.
 *
 * An XML parser is not suitable. It reads text, so the encoding must be known first. If it stops at an error, this does not
 * show what another parser accepts. An error would have to count as a DOCTYPE, and the engine could no longer tell its
 * caller what is wrong with a model. This scan skips only what a parser must skip.
 */
export function declaresDoctype(document: Buffer): boolean {
  if (STRANGE.includes(document.toString('hex', 0, 4))) return true
  const head = document.subarray(0, MAX_PROLOG_BYTES)
  const { order, text, start, declaration } = prologOf(head)
  if (declaration.length > MAX_DECLARATION_CHARS) return true
  const encoding = declaredIn(declaration)
  const isKnown =
    encoding === undefined || (order === null ? ASCII_LIKE : /^utf-16(?:le|be)?$/i).test(encoding)
  return !isKnown || hasDoctype(text, start, head.length < document.length)
}

/** How the first bytes of a document write text, and the encoding that the XML declaration names. */
export interface XmlEncoding {
  /** The byte order of UTF-16; null: an encoding that writes markup with the bytes of ASCII. */
  readonly order: 'le' | 'be' | null
  readonly declared: string | undefined
}

/** Returns the encoding of an XML document. */
export function encodingOf(document: Buffer): XmlEncoding {
  const { order, declaration } = prologOf(document.subarray(0, MAX_DECLARATION_BYTES))
  return { order, declared: declaredIn(declaration) }
}

interface Prolog {
  readonly order: XmlEncoding['order']
  readonly text: string
  /** Where the text begins, after the mark and blanks. */
  readonly start: number
  /** Empty without one. */
  readonly declaration: string
}

function prologOf(head: Buffer): Prolog {
  const order = byteOrderOf(head)
  const text = order === null ? head.toString('latin1') : utf16Of(head, order)
  const start = /^(?:\ufeff|ï»¿)?\s*/.exec(text)?.[0].length ?? 0
  const declaration = text.startsWith('<?xml', start) ? text.slice(start, text.indexOf('?>', start)) : ''
  return { order, text, start, declaration }
}

function declaredIn(declaration: string): string | undefined {
  return DECLARATION.exec(declaration)?.[1]
}

function byteOrderOf(document: Buffer): 'le' | 'be' | null {
  const first = document.toString('hex', 0, 2)
  if (first === 'fffe' || first === '3c00') return 'le'
  return first === 'feff' || first === '003c' ? 'be' : null
}

function utf16Of(document: Buffer, order: 'le' | 'be'): string {
  if (order === 'le') return document.toString('utf16le')
  return Buffer.from(document.subarray(0, document.length - (document.length % 2)))
    .swap16()
    .toString('utf16le')
}

/** Skips processing instructions and comments. The text after them decides. `isCut` is true if the document is longer than the text. */
function hasDoctype(text: string, from: number, isCut: boolean): boolean {
  const blank = /\s*/y
  for (let at = from; ; ) {
    blank.lastIndex = at
    at += blank.exec(text)?.[0].length ?? 0
    const end = text.startsWith('<?', at) ? '?>' : text.startsWith('<!--', at) ? '-->' : null
    if (end === null) return text.startsWith('<!', at) || (isCut && at + '<!--'.length > text.length)
    const close = text.indexOf(end, at + 2)
    if (close < 0) return isCut
    at = close + end.length
  }
}
