import { GatewayError } from '../errors.ts'
import { type AskEngine, invalidAnswer, jsonOf } from '../request/engine-request.ts'
import type { ReadEngine } from '../policy/authz/entities/look-ups.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'
import type { Upstream } from '../proxy/upstream.ts'
import type { Traces } from '../traces/traces.ts'

/** A look-up's answer beyond this is no entity. */
const MAX_LOOKUP_BYTES = 16 * 1024 ** 2

/** Hops of the gateway's own, without a caller: who it is then, the upstream's credentials say. */
export function askerOf(upstream: Upstream): AskEngine {
  return function askEngine({ method, path, body, isRead = method === 'GET', limitBytes, headersMs }) {
    const upstreamRequest: UpstreamRequest = {
      method,
      path,
      headers: { accept: 'application/json', ...(body === undefined ? {} : JSON_BODY) },
      body: body === undefined ? null : Buffer.from(JSON.stringify(body)),
      // A password that was verified twice would be counted twice.
      retry: isRead ? 'always' : 'unsent',
      newTasks: 'none',
      ...(headersMs === undefined ? {} : { headersMs }),
    }
    return upstream.fetch(upstreamRequest, limitBytes)
  }
}

/** The same, where each request in the course of a caller's is a span, named after what the path begins with: `look-up task`. */
export function withTracedLookUps(upstream: Upstream, traces: Traces): Upstream {
  return {
    ...upstream,
    fetch: (upstreamRequest, limitBytes) => {
      const subject = SUBJECT.exec(upstreamRequest.path)?.[1] ?? ''
      return traces.lookUp(subject, () => upstream.fetch(upstreamRequest, limitBytes))
    },
  }
}

const SUBJECT = /^\/((?:history\/)?[a-z-]+)/

const JSON_BODY = { 'content-type': 'application/json' }

/** Reads of the gateway's own, for decisions. */
export function readerOf(upstream: Upstream): ReadEngine {
  const ask = askerOf(upstream)
  return async function readEngine(path, query) {
    const limits = { limitBytes: MAX_LOOKUP_BYTES, isRead: true }
    const answer = await ask(
      query === undefined
        ? { method: 'GET', path, ...limits }
        : { method: 'POST', path, body: query, ...limits },
    )
    // Some entities that do not exist are a 400 at the engine.
    if (answer.status === 404 || answer.status === 400) return null
    if (answer.status === 200) {
      const value = jsonOf(answer, 'a look-up')
      // `null` stands for "not found" here, which only the status says.
      if (value === null) throw invalidAnswer('The engine answered a look-up with null')
      return value
    }
    throw new GatewayError('GW_UPSTREAM_INVALID', {
      message: `The engine answered a look-up with ${answer.status}`,
    })
  }
}
