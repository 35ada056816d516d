import t from 'tap'
import { checkMedia } from '../../../src/policy/validation/media.ts'
import { cpuMs } from '../../support/cpu-time.ts'

const sent = (type: string | undefined, more: Readonly<Record<string, string>> = {}) => ({
  'content-length': '2',
  ...(type !== undefined && { 'content-type': type }),
  ...more,
})
const empty = (type: string) => ({ 'content-type': type, 'content-encoding': 'gzip', 'content-length': '0' })
const refused = { code: 'GW_UNSUPPORTED_MEDIA', statusCode: 415 }

t.test('a body must be JSON in UTF-8', async (t) => {
  const taken = [
    'application/json',
    'APPLICATION/JSON',
    ' application/json ; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; charset=utf8; version=1',
    'application/json;',
    'application/json;charset=iso-8859-1',
    'application/json; charset="US-ASCII"',
    'application/json; charset=nonsense',
    'application/json; charset=x-utf-16',
    'application/json; charset=ucs-9',
  ]
  for (const type of taken) t.doesNotThrow(() => checkMedia({ method: 'POST' }, sent(type)), type)
  const others = [
    undefined,
    '',
    'json',
    'text/json',
    'text/plain',
    'application/jsonx',
    'application/*',
    'application/hal+json',
    'application/json, text/plain',
    'application/json; charset=utf-16',
    'application/json; charset=UTF-16LE',
    'application/json; charset=utf-32',
    'application/json; charset=iso-8859-1; charset=UTF16',
    'application/json; charset="ucs-2"',
    'application/json; charset=UCS2',
    'application/json; charset=ucs-4',
    'application/json; charset=utf32',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; charset=',
    'application/json; foo',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ]
  for (const type of others)
    t.throws(() => checkMedia({ method: 'PUT' }, sent(type)), refused, type ?? 'none')
})

t.test('a multipart operation accepts a form and nothing else', async (t) => {
  const upload = { method: 'POST', media: 'multipart' } as const
  t.doesNotThrow(() => checkMedia(upload, sent('multipart/form-data; boundary=x')))
  t.doesNotThrow(() => checkMedia(upload, sent('Multipart/Form-Data; boundary="x y"')))
  t.throws(() => checkMedia(upload, sent('application/json')), refused)
  t.throws(() => checkMedia(upload, sent('multipart/mixed; boundary=x')), refused)
  t.throws(() => checkMedia(upload, sent('multipart/form-data, boundary=x')), refused)
})

t.test('a compressed body is refused', async (t) => {
  for (const coding of ['gzip', 'br', 'identity, gzip', 'x'])
    t.throws(
      () => checkMedia({ method: 'POST' }, sent('application/json', { 'content-encoding': coding })),
      refused,
      coding,
    )
  t.doesNotThrow(() =>
    checkMedia({ method: 'POST' }, sent('application/json', { 'content-encoding': 'Identity' })),
  )
})

t.test('a request without a body has no media type or an accepted one', async (t) => {
  const upload = { method: 'POST', media: 'multipart' } as const
  t.doesNotThrow(() => checkMedia({ method: 'POST' }, { 'content-length': '0' }))
  t.doesNotThrow(() => checkMedia({ method: 'POST' }, {}))
  t.doesNotThrow(() => checkMedia(upload, {}))
  t.doesNotThrow(() => checkMedia({ method: 'PUT' }, empty('application/json; charset=')))
  t.doesNotThrow(() => checkMedia(upload, empty('multipart/form-data; boundary=x')))
  t.throws(() => checkMedia({ method: 'POST' }, empty('text/plain')), refused)
  t.throws(() => checkMedia({ method: 'PUT' }, empty('application/x-www-form-urlencoded')), refused)
  t.throws(() => checkMedia(upload, empty('application/json')), refused)
  t.doesNotThrow(
    () => checkMedia({ method: 'GET' }, sent('text/plain')),
    'the engine never reads the body of a GET',
  )
  t.doesNotThrow(() => checkMedia({ method: 'DELETE', media: 'none' }, sent('text/plain')))
  const chunked = { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' }
  t.throws(() => checkMedia({ method: 'POST' }, chunked), refused)
})

t.test('the time of the check is bounded for every header', async (t) => {
  const started = cpuMs()
  for (const type of [`application/json${'; '.repeat(8000)}x`, `application/json;${' '.repeat(16_000)}x`])
    t.throws(() => checkMedia({ method: 'POST' }, sent(type)), refused)
  t.equal(cpuMs() - started < 1000, true)
})
