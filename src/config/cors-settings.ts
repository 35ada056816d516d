import { z } from 'zod'
import { age, origin, requestHeaderName } from './values.ts'

/** The section `cors`. It has no `*`, because every caller has credentials here and a listed origin may send writes. */
export const cors = z.strictObject({
  origins: z
    .array(origin)
    .min(1, 'at least one origin is needed')
    .describe(
      'Origins whose pages may read responses and send writes, exactly as a browser sends them. `*` and `null` are not accepted. ' +
        'Danger: a page of a listed origin can write everything that its visitor may write, also if `cors.credentials` is false, because an HTML form needs no CORS permission. ' +
        'With an `http` origin, anyone on the network between the origin and its visitor can act as that origin.',
    ),
  credentials: z
    .boolean()
    .default(false)
    .describe(
      'If true, pages may read responses to requests that use the credentials stored in the browser. ' +
        'A page that sets `Authorization` itself does not need this setting.',
    ),
  allowedHeaders: z
    .array(requestHeaderName)
    .default(['Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match', 'X-Request-Id'])
    .describe(
      'Request headers that pages may set, in addition to the headers that need no permission. Without `Content-Type`, no page can send JSON.',
    ),
  maxAge: age()
    .default(600_000)
    .describe(
      'How long a browser may reuse the response to a preflight request, in whole seconds. Most browsers limit this to two hours or less. ' +
        'If zero, the browser sends a preflight before each request.',
    ),
})
