/**
 * Trace headers: W3C Trace Context, B3 (Zipkin), Jaeger, AWS X-Ray and Google Cloud. `baggage` is not included, because its members
 * can be chosen freely, and applications put users and tenants there.
 */
const TRACE_HEADERS = [
  'b3',
  'traceparent',
  'tracestate',
  'uber-trace-id',
  'x-amzn-trace-id',
  'x-b3-flags',
  'x-b3-parentspanid',
  'x-b3-sampled',
  'x-b3-spanid',
  'x-b3-traceid',
  'x-cloud-trace-context',
] as const

/** Headers of a client that an engine's API reads, and trace headers. All other headers stay at the gateway. */
export const API_REQUEST_HEADERS: ReadonlySet<string> = new Set([
  ...TRACE_HEADERS,
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'content-digest',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
  'user-agent',
  'x-request-id',
])

/** Headers that browsers and the pages of web applications send. No header in the list contains the client's identity or address. */
export const APPLICATION_REQUEST_HEADERS: ReadonlySet<string> = new Set([
  ...API_REQUEST_HEADERS,
  'access-control-request-headers',
  'access-control-request-method',
  'cache-control',
  'dnt',
  'last-event-id',
  'origin',
  'pragma',
  'prefer',
  'priority',
  'referer',
  'save-data',
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-fetch-user',
  'sec-gpc',
  'upgrade-insecure-requests',
  'x-csrf-token',
  'x-csrftoken',
  'x-requested-with',
  'x-xsrf-token',
])

/**
 * Headers of an engine's response that a client of the API may see. They describe the body, control how it may be stored and used,
 * or belong to the status. Cookies of a node or of its load balancer, redirects, CORS headers and headers of the server's
 * software are not included.
 */
export const API_RESPONSE_HEADERS: ReadonlySet<string> = new Set([
  'accept-ranges',
  'allow',
  'cache-control',
  'content-digest',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'content-security-policy',
  'content-type',
  'cross-origin-embedder-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'date',
  'etag',
  'expires',
  'last-modified',
  'permissions-policy',
  'pragma',
  'referrer-policy',
  'retry-after',
  'server-timing',
  'traceresponse',
  'vary',
  'warning',
  'www-authenticate',
  'x-content-type-options',
  'x-download-options',
  'x-frame-options',
  'x-permitted-cross-domain-policies',
  'x-xss-protection',
])

/** Returns the names of one of these lists together with the names that the configuration adds, in lower case. */
export function withAdded(names: ReadonlySet<string>, added: readonly string[]): ReadonlySet<string> {
  return added.length === 0 ? names : new Set([...names, ...added])
}
