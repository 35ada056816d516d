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
        url: httpUrl.describe('The URL of the node. For an engine, it is the base URL of its REST API.'),
        weight: decimal(0.1, 100)
          .default(1)
          .describe("The node's share of the requests, relative to the other nodes."),
        drain: z
          .boolean()
          .default(false)
          .describe(
            'If true, the node gets no new requests and no probes. Requests in flight continue. Danger: if every node is drained, requests get 503.',
          ),
      }),
    ],
    'a URL or { url, weight, drain } is needed',
  )
  .meta({ title: 'URL or `{ url, weight, drain }`' })
  .transform((value) => (typeof value === 'string' ? { url: value, weight: 1, drain: false } : value))

/** The setting `engines.NAME.balancing`. */
export const balancing = z
  .enum(['least-load', 'round-robin'])
  .default('least-load')
  .describe(
    'How the gateway chooses the node of a request. `least-load`: of two random nodes, the one with fewer requests in flight and a lower latency, by weight. ' +
      '`round-robin`: the nodes in turn, by weight, regardless of their load.',
  )

export type BalancingPolicy = z.infer<typeof balancing>

/** The section `health`. */
export const health = z
  .strictObject({
    probe: z
      .boolean()
      .default(true)
      .describe(
        'Sends probes to each node: `GET {base}/engine`. If false, the gateway detects unhealthy nodes only from requests.',
      ),
    interval: time(LEAST_INTERVAL_MS)
      .meta({ title: 'duration from 500ms to 500h' })
      .default(5000)
      .describe(
        'Time between two probes of a node, with a random deviation of up to a tenth. An unhealthy node is probed sooner.',
      ),
    timeout: time().default(2000).describe('Maximum time for the complete response to a probe.'),
    maxEjection: time(1000)
      .default(60_000)
      .describe(
        'Longest time for which an ejected node gets no trial request. The first ejection lasts a second. ' +
          'Each further ejection lasts twice as long, up to this time.',
      ),
  })
  .refine(({ interval }) => interval <= LONGEST_INTERVAL_MS, {
    path: ['interval'],
    error: 'must be at most 500h',
  })
