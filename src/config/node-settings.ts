import { z } from 'zod'
import { RELEASES } from '../operations/published/releases.ts'
import { decimal, groupName, httpUrl, listedName, percent, time } from './values.ts'

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
        group: groupName
          .nullable()
          .default(null)
          .describe(
            'The group of the node, for example `old` or `new`. `engines.NAME.shift` distributes the requests between two groups. ' +
              'If null, the node belongs to no group.',
          ),
      }),
    ],
    'a URL or { url, weight, drain, group } is needed',
  )
  .meta({ title: 'URL or `{ url, weight, drain, group }`' })
  .transform((value) =>
    typeof value === 'string' ? { url: value, weight: 1, drain: false, group: null } : value,
  )

/** The setting `engines.NAME.balancing`. */
export const balancing = z
  .enum(['least-load', 'round-robin'])
  .default('least-load')
  .describe(
    'How the gateway chooses the node of a request. `least-load`: of two random nodes, the one with fewer requests in flight and a lower latency, by weight. ' +
      '`round-robin`: the nodes in turn, by weight, regardless of their load.',
  )

export type BalancingPolicy = z.infer<typeof balancing>

/** The section `engines.NAME.shift`. */
export const shift = z.strictObject({
  to: groupName.describe('The group to which requests are shifted. The other group gets all other requests.'),
  release: z
    .enum(RELEASES)
    .nullable()
    .default(null)
    .describe(
      'The family and version of the group `to`, if its nodes do not show the gateway `GET /telemetry/data` or `GET /version`. ' +
        'Values that the nodes show are used first. `release` of the engine has the same meaning for the other group. If null, the family is then unknown.',
    ),
  reads: percent()
    .default(0)
    .describe(
      'The share of the reads that the group gets, until a command or a return changes the shares. Requests about one entity go to one group.',
    ),
  writes: percent()
    .default(0)
    .describe(
      'The share of the writes that the group gets. Long polls go to the group with the same share, because the writes create their tasks.',
    ),
  operations: z
    .array(z.string())
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'The ids of the operations that are shifted, as in docs/operations.md. If null, all operations are shifted.',
    ),
  callers: z
    .array(listedName('leave out callers to shift the requests of all users'))
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'The ids of the users whose requests are shifted. If null, the requests of all users are shifted.',
    ),
  return: z
    .strictObject({
      errors: percent()
        .default(0.02)
        .describe(
          'How much larger the share of failed requests of the group may be than that of the other group, of one operation or of all. ' +
            'A request fails if no complete response arrives, or if its status is 500 or more. ' +
            'Fewer than 5 failures, failures of one caller, and differences that may be a coincidence have no effect.',
        ),
      slower: decimal(1, 1000)
        .nullable()
        .default(5)
        .describe(
          'How many times longer reads of the group may take on average than those of the other group. If null, they may take any time.',
        ),
      differences: z
        .int()
        .min(0)
        .max(1000)
        .nullable()
        .default(null)
        .describe(
          'How many confirmed differences `compare` may find in the responses of the group within ten minutes, while the group has a share. If null, any number.',
        ),
    })
    .nullable()
    .prefault({})
    .describe(
      'Limits of the group. If it passes one of them, all requests return to the other group until `move` is called. ' +
        'If null, requests never return by themselves.',
    ),
})

/** The section `engines.NAME.compare`. */
export const compare = z.strictObject({
  rate: percent()
    .refine((share) => share > 0, 'compares nothing: leave out compare, or set a larger share')
    .prefault('1%')
    .describe(
      'The share of the reads whose responses are compared. Each comparison sends 2 to 16 requests to the nodes, after the client has its response.',
    ),
  operations: z
    .array(z.string())
    .min(1)
    .nullable()
    .default(null)
    .describe('The ids of the operations that are compared. If null, all reads are compared.'),
})

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
