import t from 'tap'
import type { HazardRule } from '../../../src/operations/hazard-rules.ts'
import { checkMultipart, readMultipart } from '../../../src/policy/validation/multipart.ts'
import { cpuMs } from '../../support/cpu-time.ts'
import { longestTurnOf } from '../../support/longest-turn.ts'

const MODEL = '<definitions><process id="a"/></definitions>'
const DOCTYPE = `<!DOCTYPE definitions [<!ENTITY a "b">]>${MODEL}`
const TYPE = 'multipart/form-data; boundary=B'

/** Returns a form in which each character is one byte. Text outside ASCII is given as its bytes. */
function form(...parts: readonly (readonly [headers: string, content: string])[]): string {
  const texts = parts.map(
    ([headers, content]) => `--B\r\nContent-Disposition: form-data; ${headers}\r\n\r\n${content}\r\n`,
  )
  return `${texts.join('')}--B--\r\n`
}

async function check(body: string, type = TYPE, allowedHazards: readonly HazardRule[] = []) {
  await checkBytes(Buffer.from(body, 'latin1'), type, allowedHazards)
}

async function checkBytes(bytes: Buffer, type = TYPE, allowedHazards: readonly HazardRule[] = []) {
  await checkMultipart(await readMultipart(bytes, type), new Set(allowedHazards))
}

const doctype = { code: 'GW_HAZARD', message: /'doctype'/ }
const unreadable = { code: 'GW_BAD_MULTIPART', statusCode: 400 }
const latin1 = (text: string, encoding: BufferEncoding) => Buffer.from(text, encoding).toString('latin1')

t.test('a DOCTYPE is refused under every file name that the engine reads as a model', async (t) => {
  const names = [
    'name="d"; filename="a.bpmn"',
    'name="d"; filename=a.dmn',
    'name="d"; filename="x.bpmn20.xml"',
    'name="d"; filename="xcmmn11.xml"',
    'name="d"; filename="no-dotbpmn"',
    'name="d"; filename="A.BPMN "',
    'name="d";\r\n filename="a.bpmn"',
    'name="d"; filename="=?UTF-8?Q?a=2Eb=70mn?="',
    'name="d"; filename*=UTF-8\'\'a%2Ebpmn',
    String.raw`name="d"; filename="a.bp\mn"`,
    'name="d"; filename="a.txt"; filename="a.bpmn"',
    'name="d"; filename=a b.bpmn',
    'name="d"; filename=a.\r\n bpmn',
    'name="d"; filename== a.bpmn',
    'name="d"; filename="a"b.bpmn',
  ]
  for (const name of names) {
    await t.rejects(check(form([name, DOCTYPE])), doctype, name)
    await t.resolves(check(form([name, DOCTYPE]), TYPE, ['doctype']), `${name}, allowedHazards`)
    await t.resolves(check(form([name, MODEL])), `${name}, without`)
  }
})

t.test('a model is found wherever a reader may see a part', async (t) => {
  const part = `\r\nContent-Disposition: form-data; name="d"; filename="a.bpmn"\r\n\r\n${DOCTYPE}\r\n--B--`
  const bodies = {
    'after a preamble': `junk\r\n--B${part}`,
    'after a preamble on its line': `junk--B${part}`,
    'after a bare line feed': `--B${part.replace('\r\n', '\n')}`,
    'after the end': `--B--\r\n--B${part}`,
    'without an end': `--B${part.replace('--B--', '')}`,
  }
  for (const [claim, body] of Object.entries(bodies)) await t.rejects(check(body), doctype, claim)
})

t.test('a DOCTYPE is found in every encoding, or the encoding is refused', async (t) => {
  const declared = (encoding: string, rest = DOCTYPE) => `<?xml version="1.0" encoding="${encoding}"?>${rest}`
  const contents = {
    'after a declaration': `<?xml version='1.0'?>\n${DOCTYPE}`,
    'after a comment': `<!-- > --><?pi ?>\r\n ${DOCTYPE}`,
    'UTF-8 with a mark': latin1(`\ufeff${DOCTYPE}`, 'utf8'),
    'UTF-16 with a mark': latin1(`\ufeff${DOCTYPE}`, 'utf16le'),
    'UTF-16 without one': latin1(declared('UTF-16LE'), 'utf16le'),
    'UTF-16, big end first': Buffer.from(`\ufeff${DOCTYPE}`, 'utf16le').swap16().toString('latin1'),
    'UTF-32': '\0\0\xfe\xff\0\0\0<',
    EBCDIC: '\x4c\x6f\xa7\x94',
    'EBCDIC after a declaration in ASCII': declared('IBM037', '\x4c'),
    'an encoding that shifts': declared('ISO-2022-JP', MODEL),
    'UTF-7': declared('UTF-7', MODEL),
    'UTF-16 declared in ASCII': declared('UTF-16BE', MODEL),
  }
  for (const [claim, content] of Object.entries(contents))
    await t.rejects(check(form(['name="d"; filename="a.bpmn"', content])), doctype, claim)
})

t.test('content that has no DOCTYPE of a model is accepted', async (t) => {
  const parts: readonly (readonly [string, string])[] = [
    ['name="d"; filename="form.html"', '<!DOCTYPE html><html/>'],
    ['name="d"; filename="bpmn-form.html"', '<!DOCTYPE html><html/>'],
    ['name="d"; filename="picture.svg"', '<!DOCTYPE svg><svg/>'],
    ['name="deployment-name"', '<!DOCTYPE bpmn>'],
    ['name="d"; filename="a.bpmn"', `<definitions><![CDATA[<!DOCTYPE html>]]></definitions>`],
    ['name="d"; filename="a.bpmn"', `<?xml version="1.0" encoding="ISO-8859-1"?>${MODEL}`],
    [
      'name="d"; filename="a.bpmn"',
      latin1(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${MODEL}`, 'utf16le'),
    ],
    ['name="d"; filename="a.bpmn"', ''],
    ['name="d"; filename="=?UTF-8?Q?b=C3=BCro.png?="', '\x89PNG\r\n\x1a\n'],
    ['name="data"; filename="type"', 'x'],
  ]
  for (const part of parts) await t.resolves(check(form(part)), part[0])
})

t.test('a part that names the class of an object is refused', async (t) => {
  const hazard = { code: 'GW_HAZARD', message: /'object-type-name'/ }
  const upload = form(['name="data"\r\nContent-Type: application/json', '{}'], ['name=type', 'java.net.URL'])
  await t.rejects(check(upload), hazard)
  await t.rejects(check(upload.replace('name=type', 'name="type"; filename="x"')), hazard)
  await t.rejects(check(upload.replace('name=type', 'name="=?UTF-8?Q?type?="')), unreadable)
  await t.resolves(check(upload, TYPE, ['object-type-name']))
  await t.resolves(check(form(['name="data"; filename="a"', 'x'], ['name="valueType"', 'File'])))
  await t.resolves(check(form(['name="type"; filename="a.bpmn"', MODEL])), 'no data beside it: a deployment')
})

t.test('a body whose parts are ambiguous is refused', async (t) => {
  const body = form(['name="d"; filename="a.bpmn"', MODEL])
  const types = [
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=A',
    'multipart/form-data; boundary=A; boundary=B',
    'multipart/form-data; boundary=B; BOUNDARY=B',
    'multipart/form-data; boundary="=?UTF-8?Q?B?="',
    `multipart/form-data; boundary=${'B'.repeat(71)}`,
  ]
  for (const type of types) await t.rejects(check(body, type), unreadable, type)
  await t.resolves(check(body, 'multipart/form-data; Boundary="B"; charset=utf-8'))
  for (const boundary of ['=?UTF-8?Q?B?=', 'a=?b', 'a<b', `B${'B'.repeat(70)}`, 'B '])
    await t.rejects(
      check(body.replaceAll('--B', `--${boundary}`), `multipart/form-data; boundary="${boundary}"`),
      unreadable,
      `of the very boundary ${boundary}`,
    )
  const mixed = form(['name="d"\r\nContent-Type: multipart/mixed; boundary=C', '--C--'])
  await t.rejects(check(mixed), unreadable, 'a multipart part')
})

t.test('a body that would take long to check is refused', async (t) => {
  const model = 'name="d"; filename="a.bpmn"'
  await t.rejects(
    check(form([model, `<!--${' '.repeat(1_048_576)}-->${MODEL}`])),
    doctype,
    'a prolog beyond 1 MiB',
  )
  await t.rejects(check(form([model, `${' '.repeat(1_048_576)}${MODEL}`])), doctype)
  await t.rejects(
    check(form([model, `<?xml version="1.0"${' '.repeat(1000)}encoding="UTF-8"?>${MODEL}`])),
    doctype,
  )
  await t.resolves(check(form([model, `${MODEL}${' '.repeat(1_048_576)}`])), 'a long model is looked into')
  await t.rejects(check(form([`name="d"\r\nX: ${'x'.repeat(10_240)}`, MODEL])), unreadable, 'long headers')
  await t.rejects(check('--B\r\n'.repeat(10_001)), unreadable, 'too many parts')
})

t.test('a part name that the engine would decode is refused', async (t) => {
  const encoded = [
    'name*=a',
    'name *=a',
    'name="a=?b"',
    'name="a\\b"',
    'name=a\\b',
    'name=\r\n "=?"',
    'name=a name=?x',
    'name= name="a\\b"',
    'name=a name="b\\c"',
    'x; NAME = a=?',
  ]
  for (const headers of encoded) await t.rejects(check(form([headers, 'x'])), unreadable, headers)
  for (const headers of ['name=?', 'name="a"\\', 'name=a\r\n\\', 'name=";=?', 'surname="a\\b"', 'name\\'])
    await t.resolves(check(form([headers, 'x'])), headers)
})

/** Returns the milliseconds of CPU time that a check of a body takes, whatever its result. */
async function durationOf(body: string): Promise<number> {
  const startedAt = cpuMs()
  await check(body).catch(() => undefined)
  return cpuMs() - startedAt
}

t.test('the time of a check is linear in the length of the body', async (t) => {
  const hostile = {
    'parts without a blank line': '--B\r\n'.repeat(9999) + 'x'.repeat(32 * 1024 ** 2),
    'blanks in a name': `--B\r\nname=${' '.repeat(10_000)}\r\n\r\n`.repeat(100),
    'names in a name': `--B\r\n${' name='.repeat(1700)}\r\n\r\n`.repeat(200),
  }
  for (const [claim, body] of Object.entries(hostile)) {
    let ms = Number.POSITIVE_INFINITY
    for (let count = 0; count < 5 && ms >= 1000; count += 1) ms = Math.min(ms, await durationOf(body))
    t.ok(ms < 1000, `${claim}: ${Math.round(ms)} ms`)
  }
})

const MAX_TURN_MS = 200

const part = (headers: string): string => `--B\r\nContent-Disposition: form-data; ${headers}\r\n\r\n`

t.test('other work runs while a long body is checked', async (t) => {
  const hostile = {
    'a file of hyphens': `${part('name="x"; filename="x.bin"')}${'-'.repeat(32 * 1024 ** 2)}\r\n--B--`,
    'long headers': `${part('name="x";'.repeat(1100))}x\r\n`.repeat(1000),
    'many parts': `${part('name=x; '.repeat(120))}x\r\n`.repeat(10_001),
    comments: `${part('name="x"; filename="x.bpmn"')}${'<!---->'.repeat(2_000_000)}<a/>\r\n--B--`,
  }
  for (const [claim, body] of Object.entries(hostile)) {
    const bytes = Buffer.from(body, 'latin1')
    const longest = await longestTurnOf(MAX_TURN_MS, () => checkBytes(bytes).catch(() => undefined))
    t.ok(longest < MAX_TURN_MS, `${claim}: ${longest.toFixed(0)} ms`)
  }
})

function checkDeadline(): never {
  throw new Error('left')
}

t.test('the check of a long body stops if the client disconnects', async (t) => {
  const bytes = Buffer.from(`--B\r\n\r\n${'-'.repeat(32 * 1024 ** 2)}`)
  const startedAt = cpuMs()
  await t.rejects(readMultipart(bytes, TYPE, checkDeadline), { message: 'left' })
  t.ok(cpuMs() - startedAt < 1000)
})

t.test('control characters in headers of a part are refused because Java trims them off names', async (t) => {
  for (const control of ['\u0000', '\u0001', '\u0008', '\u000b', '\u000c', '\u001f', '\u007f']) {
    await t.rejects(check(form(['name="data"', 'x'], [`name="type${control}"`, 'x'])), unreadable)
    await t.rejects(check(form([`name="d"; filename="a.bpmn${control}"`, DOCTYPE])), unreadable)
  }
  await t.resolves(check(form(['name="d";\tfilename="a.bpmn"', MODEL])))
})
