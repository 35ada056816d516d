import { z } from 'zod'
import { collectorUrl, headerName, headerValue, percent, time, wholeNumber } from './values.ts'

const MAX_HEADERS = 16

/** The section `traces`. */
export const traces = z.strictObject({
  endpoint: collectorUrl.describe(
    'The URL of a collector that receives OTLP over HTTP, for example `http://collector:4318`. The gateway adds `/v1/traces`. ' +
      'It reads no environment variables of OpenTelemetry. To use one, write `${OTEL_EXPORTER_OTLP_ENDPOINT}`.',
  ),
  headers: z
    .record(headerName, headerValue)
    .refine(
      (headers) => Object.keys(headers).length <= MAX_HEADERS,
      `at most ${MAX_HEADERS} headers are permitted`,
    )
    .default({})
    .describe('Headers of each export. Use `${file:…}` for secrets.'),
  sampleRatio: percent()
    .default(0.1)
    .describe(
      'The share of requests that are recorded. If `trustParent` is true, it applies only to requests without a `traceparent`.',
    ),
  trustParent: z
    .boolean()
    .default(false)
    .describe(
      "If true, the caller's `traceparent` decides whether a request is recorded. " +
        "If false, the gateway continues the caller's trace, but `sampleRatio` decides. " +
        'Danger: if true, every client that reaches the gateway, even without credentials, can cause all of its requests to be recorded, or none.',
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
      'Maximum number of spans of each process that wait for an export. A span needs about 2 KiB. Further spans are dropped and counted.',
    ),
  timeout: time()
    .default(5000)
    .describe(
      'Maximum time of one export, retries included. After this time, its spans are dropped and counted.',
    ),
})
