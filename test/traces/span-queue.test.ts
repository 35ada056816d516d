import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace'
import t, { type Test } from 'tap'
import { createSpanQueue } from '../../src/traces/span-queue.ts'

const SUCCESS: ExportResult = { code: ExportResultCode.SUCCESS }
const FAILURE: ExportResult = { code: ExportResultCode.FAILED, error: new Error('no room') }

/** Opens a queue in front of a test exporter, whose exports end when the test says so. */
function openQueue(t: Test, maxSpans: number) {
  const waiting: { readonly spans: readonly ReadableSpan[]; readonly end: (result: ExportResult) => void }[] =
    []
  const events: unknown[] = []
  const queue = createSpanQueue({
    exporter: {
      export: (spans, end) => void waiting.push({ spans, end }),
      shutdown: () => Promise.resolve(),
    },
    maxSpans,
    timeoutMs: 60_000,
    onExport: (spans) => events.push(['exported', spans]),
    onDrop: (reason, spans) => events.push(['dropped', reason, spans]),
    onLoss: (reason, why) => events.push(['loss', reason, why]),
    onRecovery: (lost) => events.push(['recovery', lost]),
  })
  const tracer = new TracerProvider({ spanProcessors: [queue] }).getTracer('test')
  t.teardown(() => waiting.forEach(({ end }) => end(SUCCESS)))
  return {
    events,
    /** Starts and ends this number of spans. */
    add: (count: number) => {
      for (let index = 0; index < count; index += 1) tracer.startSpan('x').end()
    },
    /** Exports all waiting spans with this result. Returns the number of spans. */
    flush: async (result: ExportResult) => {
      const flushed = queue.forceFlush().catch(() => undefined)
      const spans = waiting.reduce((sum, { spans: { length } }) => sum + length, 0)
      for (const { end } of waiting.splice(0)) end(result)
      await flushed
      return spans
    },
    shutdown: () => queue.shutdown(),
  }
}

t.test('a full span queue drops further spans, counts them and reports one loss', async (t) => {
  const { add, flush, events } = openQueue(t, 20)
  add(20) // exported immediately, because it is a whole batch
  add(25)
  t.same(events, [
    ['dropped', 'queue', 1],
    ['loss', 'queue', '20 spans wait'],
    ...Array.from({ length: 4 }, () => ['dropped', 'queue', 1]),
  ])
  t.equal(await flush(SUCCESS), 40)
})

t.test('spans of a failed export are lost, and the recovery reports their number', async (t) => {
  const { add, flush, events } = openQueue(t, 20)
  add(3)
  await flush(FAILURE)
  t.same(events, [
    ['dropped', 'export', 3],
    ['loss', 'export', 'no room'],
  ])
  add(2)
  await flush(FAILURE)
  events.length = 0
  // The first success does not end the loss, because spans were lost since the previous export.
  for (const expected of [
    [['exported', 1]],
    [
      ['exported', 1],
      ['recovery', 5],
    ],
    [['exported', 1]],
  ]) {
    add(1)
    await flush(SUCCESS)
    t.same(events.splice(0), expected)
  }
})

t.test('a span that ends after the shutdown is counted as dropped', async (t) => {
  const { add, shutdown, events } = openQueue(t, 20)
  await shutdown()
  add(1)
  t.same(events, [
    ['dropped', 'queue', 1],
    ['loss', 'queue', 'the queue is closed'],
  ])
})

t.test('the queue accepts spans again when an export has started', async (t) => {
  const { add, flush, events } = openQueue(t, 20)
  for (let round = 0; round < 3; round += 1) {
    add(20)
    t.equal(await flush(SUCCESS), 20)
  }
  t.same(events, [
    ['exported', 20],
    ['exported', 20],
    ['exported', 20],
  ])
})
