import { z } from 'zod'
import { age, origin, requestHeaderName } from './values.ts'

/** The section `cors`. It has no `*`, because every caller has credentials here and a listed origin may send writes. */
export const cors = z.strictObject({
  origins: z
    .array(origin)
    .min(1, 'at least one origin is needed')
    .describe(
      'Origins whose pages may read answers and send writes, as exact as a browser writes them; neither `*` nor `null` is one. ' +
        'Danger: every page of a listed origin can write with what its visitor may do, also where `cors.credentials` is false, for a form needs no permission. ' +
        'An `http` origin is whoever is between it and its visitor.',
    ),
  credentials: z
    .boolean()
    .default(false)
    .describe(
      'Whether pages may read what was asked with the credentials that the browser keeps. A page that sends `Authorization` itself does not need it.',
    ),
  allowedHeaders: z
    .array(requestHeaderName)
    .default(['Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match', 'X-Request-Id'])
    .describe(
      'Request headers that pages may set, beside those that need no permission. Without `Content-Type` no page sends JSON.',
    ),
  maxAge: age()
    .default(600_000)
    .describe(
      'How long a browser may go by the answer to a preflight, in whole seconds; most keep it two hours at most. Zero: it asks before each request.',
    ),
})
