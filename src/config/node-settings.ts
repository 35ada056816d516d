import { z } from 'zod'
import { decimal, httpUrl, time } from './values.ts'

const LEAST_INTERVAL_MS = 500
/** A timer can wait 10 % longer than this, which jitter needs. */
const LONGEST_INTERVAL_MS = 500 * 3_600_000

/** A plain URL is a node with default settings. */
export const node = z
  .union(
    [
      httpUrl,
      z.strictObject({
        url: httpUrl.describe("The node's REST API."),
        weight: decimal(0.1, 100)
          .default(1)
          .describe("The node's share of the requests, relative to the other nodes'."),
        drain: z
          .boolean()
          .default(false)
          .describe(
            'If true, the node gets no new requests and no probes; requests under way end. ' +
              'Danger: if every node is drained, the engine answers 503.',
          ),
      }),
    ],
    'a URL or { url, weight, drain } is needed',
  )
  .meta({ title: 'URL or `{ url, weight, drain }`' })
  .transform((value) => (typeof value === 'string' ? { url: value, weight: 1, drain: false } : value))

/** The section `health`. */
export const health = z
  .strictObject({
    probe: z
      .boolean()
      .default(true)
      .describe(
        'Asks each node for `GET {base}/engine`. If false, only requests find out whether a node is healthy.',
      ),
    interval: time(LEAST_INTERVAL_MS)
      .meta({ title: 'duration from 500ms to 500h' })
      .default(5000)
      .describe(
        'From one probe of a node to the next, a tenth more or less. An unhealthy node is probed sooner.',
      ),
    timeout: time().default(2000).describe('Bounds the whole answer to a probe.'),
    maxEjection: time(1000)
      .default(60_000)
      .describe(
        'The longest time for which an ejected node gets no trial. The first ejection lasts a second, each further one twice as long.',
      ),
  })
  .refine(({ interval }) => interval <= LONGEST_INTERVAL_MS, {
    path: ['interval'],
    error: 'must be at most 500h',
  })
