import { z } from 'zod'
import { size, time, wholeNumber } from './values.ts'

/** The path of the endpoint for tools. An engine with a name has the path `/mcp/engine/NAME`. */
export const MCP_PATH = '/mcp'

/** The longest result. To convert 1 MiB takes up to 20 ms in one turn of the event loop, and 16 MiB took 660 ms. */
const MAX_RESULT_BYTES = 1024 ** 2

/** The section `mcp`. */
export const mcp = z
  .strictObject({
    tools: z
      .union(
        [z.enum(['default', 'all']), z.array(z.string().min(1)).min(1).max(1000)],
        'default, all or a list of operations is needed',
      )
      .default('default')
      .describe(
        'The operations that are tools, by their ids. `default`: a list of about forty operations for the daily work. `all`: every operation except uploads. ' +
          'An agent reads the description of every tool, and many agents accept at most 128.',
      ),
    defaultResults: wholeNumber(1, 10_000)
      .default(20)
      .describe('Number of items of a list if the agent does not set `maxResults`.'),
    maxResults: wholeNumber(1, 10_000)
      .default(100)
      .describe('Maximum `maxResults` of a list. A larger value is an error that the agent can read.'),
    maxResultBytes: size(1024)
      .default(64 * 1024)
      .refine(
        (bytes) => bytes <= MAX_RESULT_BYTES,
        'must be at most 1MiB, because the gateway converts a result at once',
      )
      .describe(
        'Maximum size of a result, at most `1MiB`. A longer result is cut after a whole item of a list, and explains how the agent gets the rest.',
      ),
    streams: z
      .strictObject({
        open: wholeNumber(1, 100_000)
          .default(1000)
          .describe(
            'Maximum number of open streams in each process. Through a stream, a client learns that its tools have changed. A further stream gets 503 `GW_OVERLOADED`.',
          ),
        perUser: wholeNumber(1, 100_000)
          .default(10)
          .describe(
            'Maximum number of open streams of each user, in each process. A further stream gets 429 `GW_RATE_LIMITED`.',
          ),
        maxAge: time(1000)
          .default(600_000)
          .describe(
            'Age after which a stream is closed. The client then connects again, and is authenticated again.',
          ),
      })
      .prefault({})
      .describe('Limits of the streams with notifications.'),
  })
  .refine(({ defaultResults, maxResults }) => defaultResults <= maxResults, {
    path: ['defaultResults'],
    message: 'must not exceed maxResults',
  })
