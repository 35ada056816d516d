import { z } from 'zod'
import { collectorUrl, decimal, headerName, headerValue, time, wholeNumber } from './values.ts'

const MAX_HEADERS = 16

/** The section `traces`. */
export const traces = z.strictObject({
  endpoint: collectorUrl.describe(
    'The collector that receives OTLP over HTTP, like `http://collector:4318`; `/v1/traces` is added. ' +
      'No environment variable of OpenTelemetry is read: write `${OTEL_EXPORTER_OTLP_ENDPOINT}` where one is to count.',
  ),
  headers: z
    .record(headerName, headerValue)
    .refine(
      (headers) => Object.keys(headers).length <= MAX_HEADERS,
      `at most ${MAX_HEADERS} headers are taken`,
    )
    .default({})
    .describe('Headers of each export; a secret best as `${file:…}`.'),
  sampleRatio: decimal(0, 1)
    .default(0.1)
    .describe('The part of the requests that is recorded, of those whose caller does not decide.'),
  trustParent: z
    .boolean()
    .default(false)
    .describe(
      "Whether the caller's `traceparent` decides if a request is recorded. With false its trace is continued, and `sampleRatio` decides. " +
        'Danger: with true whoever reaches the gateway, without credentials too, can have every request recorded, or none.',
    ),
  serviceName: z
    .string()
    .refine(
      (text) => /^[\w./ -]{1,128}$/.test(text),
      '1 to 128 letters, digits, spaces, ., /, - and _ are needed',
    )
    .meta({ title: '1 to 128 letters, digits, spaces, `.`, `/`, `-` and `_`' })
    .default('engine-gateway')
    .describe('The attribute `service.name` of all spans.'),
  queue: wholeNumber(16, 65_536)
    .default(4096)
    .describe(
      'Spans of each process that wait for an export, some 2 KiB each; more are dropped and counted.',
    ),
  timeout: time()
    .default(5000)
    .describe('One export with its repetitions; then its spans are dropped and counted.'),
})
