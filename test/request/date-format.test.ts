import t from 'tap'
import { DEFAULT_DATE_PATTERN } from '../../src/config/date-pattern.ts'
import { createDateFormat } from '../../src/request/date-format.ts'

const AT = Date.UTC(2026, 1, 3, 4, 5, 6, 7)

for (const { pattern, text, readAs = AT } of [
  { pattern: "yyyy-MM-dd'T'HH:mm:ss.SSSZ", text: '2026-02-03T04:05:06.007+0000' },
  { pattern: "yyyy-MM-dd'T'HH:mm:ss.SSSX", text: '2026-02-03T04:05:06.007Z' },
  { pattern: "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", text: '2026-02-03T04:05:06.007Z' },
  { pattern: 'dd.MM.yyyy HH:mm:ss Z', text: '03.02.2026 04:05:06 +0000', readAs: AT - 7 },
  { pattern: 'yyyyMMddHHmmssSSSZ', text: '20260203040506007+0000' },
  { pattern: "d/M/y 'at' H:m:s''X", text: "3/2/2026 at 4:5:6'Z", readAs: AT - 7 },
])
  t.test(`a date is written and read as ${pattern}`, async (t) => {
    const format = createDateFormat(pattern)
    t.equal(format.format(AT), text)
    t.equal(format.toMs(text), readAs)
    t.equal(format.hasMilliseconds, readAs === AT)
  })

t.test('the default format reads offsets', async (t) => {
  const { toMs } = createDateFormat()
  t.equal(toMs('2026-02-03T05:35:06.007+0130'), AT)
  t.equal(toMs('2026-02-02T23:05:06.007-0500'), AT)
})

for (const text of [
  '2026-02-03T04:05:06.007',
  '2026-02-03T04:05:06.007Z',
  '2026-02-03 04:05:06',
  '2026-02-30T04:05:06.007+0000',
  '2026-13-03T04:05:06.007+0000',
  '2026-02-03T24:05:06.007+0000',
  '03/02/2026',
  'Tue Feb 03 2026',
  '',
  null,
  AT,
])
  t.test(`the default format does not read ${JSON.stringify(text)}`, async (t) => {
    t.equal(createDateFormat().toMs(text), null)
  })

for (const { pattern, reason } of [
  { pattern: "yyyy-MM-dd'T'HH:mm:ss", reason: 'the time zone of the engine is not known' },
  { pattern: 'yyyy-MM-dd', reason: 'it names a day' },
  { pattern: 'd MMM yyyy HH:mm:ss Z', reason: 'names of months depend on a language' },
  { pattern: 'yy-MM-dd HH:mm:ss Z', reason: 'it does not show the century' },
  { pattern: 'yyyy-MM-dd hh:mm:ss Z', reason: 'it does not show the half of the day' },
  { pattern: 'yyyy-MM-dd HH:mm:ss z', reason: 'names of time zones have several meanings' },
  { pattern: 'yyyy-MM-dd HH:mm:ss:mm Z', reason: 'a field stands twice' },
])
  t.test(`dates as ${pattern} are neither read nor written: ${reason}`, async (t) => {
    const format = createDateFormat(pattern)
    t.equal(format.toMs(format.pattern), null)
    t.equal(format.toMs('2026-02-03T04:05:06.007+0000'), null)
    t.equal(format.format(AT), null)
  })

for (const { pattern, text, mayRead } of [
  { pattern: DEFAULT_DATE_PATTERN, text: '2026-02-03T04:05:06.007+0000', mayRead: true },
  { pattern: DEFAULT_DATE_PATTERN, text: ' 2026 - -2 -3T 4: 5: 6.7 CET', mayRead: true },
  { pattern: DEFAULT_DATE_PATTERN, text: '2026-02-03T04:05:06', mayRead: false },
  { pattern: DEFAULT_DATE_PATTERN, text: '04:05:06.007 2026-02-03T', mayRead: false },
  { pattern: DEFAULT_DATE_PATTERN, text: 'order-1-2T', mayRead: false },
  { pattern: DEFAULT_DATE_PATTERN, text: '', mayRead: false },
  { pattern: 'yyyyMMdd', text: '4711', mayRead: true },
  { pattern: "d/M/y 'at' H:m:s''X", text: "3/2/2026 at 4:5:6'Z", mayRead: true },
  { pattern: "d/M/y 'at' H:m:s''X", text: '3/2/2026 at 4:5:6Z', mayRead: false },
  { pattern: 'd MMM yyyy', text: '3 Feb 2026', mayRead: true },
  { pattern: 'd MMM yyyy', text: '3-Feb-2026', mayRead: false },
])
  t.test(`an engine ${mayRead ? 'may read' : 'does not read'} '${text}' as ${pattern}`, async (t) => {
    t.equal(createDateFormat(pattern).mayRead(text), mayRead)
  })

t.test('a long text of separators is checked in linear time', async (t) => {
  t.equal(createDateFormat().mayRead('-'.repeat(1_000_000)), false)
})
