import type { Random } from '../../differential/random.ts'
import { textFrom, words } from './texts.ts'

const USUAL_NAMES = words(`
  a b process process bpmn:task bpmn:startEvent camunda:property a:b operaton:x script camunda:script bpmn:scriptTask
`)
const NAMES = words(`
  definitions process script script script scriptTask startEvent messageEventDefinition condition a a a b Script SCRIPT
  __proto__ constructor _ x.y-1 é ſcript scri\u0300pt \u{10000}x script\u00b7 1x -x x\u00d7 script\u0085
`)
const PREFIXES = [
  ...words('bpmn: bpmn: camunda: camunda: operaton: a: a: xml: xmlns: unknown: : a:b: é:'),
  ...Array.from({ length: 16 }, () => ''),
]
const ADDRESSES = words(`
  http://www.omg.org/spec/BPMN/20100524/MODEL http://camunda.org/schema/1.0/bpmn http://activiti.org/bpmn
  http://operaton.org/schema/1.0/bpmn http://camunda.org/schema/1.0/dmn http://camunda.org/schema/1.0/bpm&#110; u u
`)
/** Namespaces that a document may not declare. */
const RESERVED = words('http://www.w3.org/XML/1998/namespace http://www.w3.org/2000/xmlns/')
const BLANKS = [' ', ' ', ' ', ' ', ' ', '\n', '\t', '\r\n', '\r', '  ']
const ODD_BLANKS = ['', '\u0085', '\u2028', '\u00a0', '\u000b', '\ufeff', '\0']
const TEXTS = [
  ...words(
    'x x x ${a} ä 😀 &lt; &amp; &gt; &quot; &apos; &#60; &#x3C; &#x1F600; &#9; &#10; &#13; > " \' ]] ]> ] - &#xD7FF; &#xE000;',
  ),
  ...BLANKS,
  '\u0085',
  '\u2028',
  '\u007f',
  '\u0080',
]
/** Texts that are an error in most places, or that another parser may take for markup. */
const ODD_TEXTS = [
  ...words(`
    < > / & ' " = ]]> <!-- --> -- <![CDATA[ <![cdata[ <![CDATA[]]> <? ?> <?x?> &e; &lt &#0; &#1; &#x8; &#x110000; &#xFFFE; &#xD800; &#X3C;
    &#60 &#; &; &LT; &#x85; &#x2028; <script/> <a:script/> </a> </ <a/ <script <script/x <a<script/> <!x> <!ELEMENT <!DOCTYPE <!doctype
    %e; /> <//script> <script/>]]> \uffff \ufffe \ufeff \u0085 \u2028
  `),
  '<!DOCTYPE a>',
  '<!DOCTYPE a [<!ENTITY e "<script/>">]>',
  '<!doctype a>',
  '<! DOCTYPE a>',
  '<?xml version="1.0"?>',
  '<?XML x?>',
  '<?xml-x y?>',
  '<!-- <!DOCTYPE a> -->',
  '< script/>',
  '<script />',
  '</a >',
  ' xmlns=""',
  ' a="1" a="2"',
  '\0',
  '\u0001',
  '\u001f',
  '\u000b',
  '\ud800',
]
const DECLARATIONS = [
  '<?xml version="1.0" encoding="@"?>',
  '<?xml version="1.0" encoding="@"?>',
  '<?xml version="1.0" encoding="@"?>',
  "<?xml version='1.0' encoding='@' standalone='yes'?>",
  '<?xml version="1.1" encoding="@"?>',
  '<?xml version="1.1"?>',
  '<?xml version="1.0"?>',
  '<?xml version="1.0" ?>',
  '<?xml\tversion = "1.0"\r\nencoding = "@" ?>',
]
const ODD_DECLARATIONS = [
  '<?xml version="1.0" standalone="no" encoding="@"?>',
  '<?xml encoding="@"?>',
  '<?xml version="1.2" encoding="@"?>',
  '<?xml version="2.0"?>',
  '<?XML version="1.0"?>',
  '<?xml version="1.0"encoding="@"?>',
  '<?xml version="1.0" encoding="@" encoding="UTF-8"?>',
  '<?xml version="1.0" x=\' encoding="UTF-16"\' encoding="@"?>',
  '<?xml version="1.0" encoding="@">',
  '<?xml?>',
  ' <?xml version="1.0"?>',
  '\u0085<?xml version="1.1"?>',
  '<!-- --><?xml version="1.0"?>',
]
const ENCODINGS = words(`
  UTF-8 UTF-8 UTF-8 UTF-8 UTF-8 UTF-8 UTF-8 UTF-8 UTF-8 UTF-8 UTF-8 UTF-8 UTF-8 UTF-8 UTF-8 utf-8 Utf8 UTF8 ISO-8859-1 iso-8859-1 latin1 windows-1252 US-ASCII ascii UTF-16 UTF-16LE UTF-16BE
  UTF-7 ISO-8859-15 IBM037 Shift_JIS GBK CESU-8 x UTF-32 EUC-JP ISO-10646-UCS-2
`)
/** Bytes that are not valid UTF-8, or that other decoders read as a markup character. */
const ODD_BYTES = [
  'ff',
  'c0bc',
  'c080',
  'eda080edb080',
  'f4908080',
  'e0',
  '80',
  '3c00',
  '85',
  'fe',
  '1b2442',
  '2b4144772d',
  'efbfbe',
  'efbbbf',
]
const ODD_SHARE = 0.01

/** Returns the bytes of a document: most of them are models as modelers write them, with up to three faults. */
export function makeModel(random: Random): Buffer {
  let text = `${declaration(random)}${misc(random)}${root(random)}${random.chance(0.2) ? misc(random) : ''}`
  const faults = random.chance(0.6) ? 0 : 1 + random.below(2)
  for (let left = faults; left > 0; left -= 1) text = withFault(random, text)
  return bytesOf(random, text)
}

function declaration(random: Random): string {
  if (random.chance(0.3)) return ''
  const text = random.pick(random.chance(0.93) ? DECLARATIONS : ODD_DECLARATIONS)
  return text.replaceAll('@', random.pick(ENCODINGS))
}

/** Returns what may stand before and after the root element. */
function misc(random: Random): string {
  const pieces = [
    '<!-- x -->',
    '<!-- <!DOCTYPE a> -->',
    '<?x y?>',
    '<?x <!DOCTYPE a> ?>',
    '<!---->',
    ...BLANKS,
  ]
  const text = textFrom(random, pieces, 3)
  if (!random.chance(0.1)) return text
  const name = random.pick([
    'a',
    'definitions',
    'a SYSTEM "u"',
    'a PUBLIC "p" "u"',
    'a [<!ENTITY e "x">]',
    'a []',
    '',
  ])
  return `${text}${random.pick(['<!DOCTYPE ', '<!DOCTYPE ', '<!DOCTYPE\n', '<!doctype ', '<!DOCTYPE'])}${name}>${textFrom(random, pieces, 1)}`
}

function root(random: Random): string {
  const declared = ['bpmn', 'camunda', 'operaton', 'a']
    .filter(() => random.chance(0.99))
    .map((prefix) => ` xmlns:${prefix}="${addressOf(random)}"`)
  return element(random, 0, declared.join(''))
}

function element(random: Random, depth: number, declared: string): string {
  const name = nameOf(random)
  const start = `<${name}${declared}${attributes(random)}${random.chance(0.2) ? blank(random) : ''}`
  if (random.chance(0.25)) return `${start}/>`
  return `${start}>${content(random, depth)}</${name}${random.chance(0.1) ? blank(random) : ''}>`
}

function content(random: Random, depth: number): string {
  let text = ''
  for (let left = random.below(depth > 3 ? 2 : 4); left > 0; left -= 1) {
    const kind = random.below(10)
    if (kind < 5) text += element(random, depth + 1, '')
    else if (kind < 8) text += textFrom(random, TEXTS, 4).replaceAll(']]>', ']]')
    else if (kind < 9)
      text += random.pick([
        '<![CDATA[<script/>&x;]]>',
        '<![CDATA[]]]]>',
        '<![CDATA[a\r\nb]]>',
        '<![CDATA[]]>',
      ])
    else text += random.pick(['<!-- <script/> -->', '<?x <script/> ?>', '<!-- & ]]> -->', '<?x?>'])
  }
  return text
}

function attributes(random: Random): string {
  let text = ''
  const names = random.sample(
    ['id', 'name', 'language', 'expressionLanguage', nameOf(random), nameOf(random)],
    random.below(3),
  )
  for (const name of names) {
    const quote = random.chance(0.8) ? '"' : "'"
    const value = textFrom(random, TEXTS, 4).replaceAll(quote, '')
    text += `${blank(random)}${name}${random.pick(['=', '=', '=', ' = ', '\n='])}${quote}${value}${quote}`
  }
  if (random.chance(0.1))
    text += `${blank(random)}${random.pick(['xmlns', 'xmlns:a', 'xmlns:bpmn', 'xmlns:x'])}="${addressOf(random)}"`
  return text
}

function nameOf(random: Random): string {
  return random.chance(0.96) ? random.pick(USUAL_NAMES) : `${random.pick(PREFIXES)}${random.pick(NAMES)}`
}

function addressOf(random: Random): string {
  return random.pick(random.chance(0.99) ? ADDRESSES : RESERVED)
}

function blank(random: Random): string {
  return random.pick(random.chance(1 - ODD_SHARE) ? BLANKS : ODD_BLANKS)
}

/** Inserts a text, or deletes or repeats a part. */
function withFault(random: Random, text: string): string {
  const at = random.below(text.length + 1)
  const end = at + 1 + random.below(6)
  if (random.chance(0.7))
    return text.slice(0, at) + random.pick(random.chance(0.7) ? ODD_TEXTS : TEXTS) + text.slice(at)
  return text.slice(0, at) + (random.chance(0.5) ? '' : text.slice(at, end).repeat(2)) + text.slice(end)
}

/** Encodes the text, mostly as it declares. */
function bytesOf(random: Random, text: string): Buffer {
  const declared = /encoding\s*=\s*["']([^"']*)/.exec(text)?.[1]?.toLowerCase() ?? 'utf-8'
  const bytes = encoded(random, text, random.chance(0.9) ? declared : random.pick(ENCODINGS).toLowerCase())
  if (random.chance(0.95)) return bytes
  const at = random.below(bytes.length + 1)
  return Buffer.concat([
    bytes.subarray(0, at),
    Buffer.from(random.pick(ODD_BYTES), 'hex'),
    bytes.subarray(at),
  ])
}

function encoded(random: Random, text: string, encoding: string): Buffer {
  const marked = random.chance(encoding === 'utf-16' ? 0.9 : 0.15) ? `\ufeff${text}` : text
  if (encoding.startsWith('utf-16')) {
    const little = Buffer.from(marked, 'utf16le')
    return encoding === 'utf-16be' || (encoding === 'utf-16' && random.chance(0.5)) ? little.swap16() : little
  }
  if (/8859|latin|1252|ascii/.test(encoding)) return Buffer.from(text, 'latin1')
  return Buffer.from(marked)
}
