type NodeHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * The page runs no script, loads nothing, and has an origin of its own. Otherwise it could send requests with the credentials that
 * the browser has for the gateway. Styles in the page are harmless.
 */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/**
 * Adds headers to a response with other content than JSON, so that a browser that opens it runs no code in it: forms, attachments,
 * files of deployments, values of variables, error pages. Callers and deployers choose their content and often their type. Returns
 * whether it added them.
 */
export function restrictContent(headers: Record<string, string | string[]>, parsed: NodeHeaders): boolean {
  const { 'content-type': type, 'content-security-policy': existing } = headers
  if (type === undefined ? isEmpty(parsed) : typeof type === 'string' && JSON_TYPE.test(type)) return false
  headers['x-content-type-options'] = 'nosniff'
  // A browser enforces each policy of a list. The policy of an engine is kept, because it may restrict more.
  headers['content-security-policy'] = existing === undefined ? POLICY : `${String(existing)}, ${POLICY}`
  return true
}

/** Returns whether a response without a type has no body. Otherwise browsers derive a type from its content. */
function isEmpty(parsed: NodeHeaders): boolean {
  const endsWithConnection = parsed['connection'] === 'close' && parsed['content-length'] === undefined
  return (
    parsed['transfer-encoding'] === undefined &&
    Number(parsed['content-length'] ?? 0) === 0 &&
    !endsWithConnection
  )
}
