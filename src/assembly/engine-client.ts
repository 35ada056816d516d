import { operatorText } from '../errors.ts'
import { type AskEngine, invalidResponse, jsonOf } from '../request/engine-request.ts'
import { factMissing } from '../policy/authz/entities/entity-facts.ts'
import type { ReadBytes, ReadEngine } from '../policy/authz/entities/look-ups.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'
import type { Upstream } from '../proxy/upstream.ts'
import type { Traces } from '../traces/traces.ts'

/** Maximum size of a lookup response. A larger response cannot be an entity. */
const MAX_LOOKUP_BYTES = 16 * 1024 ** 2

/**
 * Returns a function that sends the gateway's own requests, which have no caller. The engine sees the credentials of the
 * upstream.
 */
export function askerOf(upstream: Upstream): AskEngine {
  return function askEngine({ method, path, body, isRead = method === 'GET', limitBytes, headersMs }) {
    const upstreamRequest: UpstreamRequest = {
      method,
      path,
      headers: { accept: 'application/json', ...(body === undefined ? {} : JSON_BODY) },
      body: body === undefined ? null : Buffer.from(JSON.stringify(body)),
      // Otherwise a retry could verify a password twice, and a failure would be counted twice.
      retry: isRead ? 'always' : 'unsent',
      newTasks: 'none',
      headersMs,
    }
    return upstream.fetch(upstreamRequest, limitBytes)
  }
}

/**
 * Wraps an upstream so that each lookup during a caller's request becomes a span, named after the start of its path: `look-up
 * task`.
 */
export function withTracedLookUps(upstream: Upstream, traces: Traces): Upstream {
  return {
    ...upstream,
    fetch: (upstreamRequest, limitBytes) => {
      const subject = SUBJECT.exec(upstreamRequest.path)?.[1] ?? ''
      return traces.lookUp(subject, () => upstream.fetch(upstreamRequest, limitBytes))
    },
  }
}

/** Wraps an upstream so that each request of the gateway itself fails. The failure names the request. */
export function withoutEngine(upstream: Upstream): Upstream {
  return {
    ...upstream,
    fetch: async ({ method, path }) => {
      throw factMissing(`no fact replaces ${method} ${path}`)
    },
  }
}

const SUBJECT = /^\/((?:history\/)?[a-z-]+)/

const JSON_BODY = { 'content-type': 'application/json' }

/** Returns a function that reads from the engine for the gateway's decisions. */
export function readerOf(upstream: Upstream): ReadEngine {
  const ask = askerOf(upstream)
  return async function readEngine(path, query) {
    const limits = { limitBytes: MAX_LOOKUP_BYTES, isRead: true }
    const response = await ask(
      query === undefined
        ? { method: 'GET', path, ...limits }
        : { method: 'POST', path, body: query, ...limits },
    )
    // The engine responds with 400 for some entities that do not exist.
    if (response.status === 404 || response.status === 400) return null
    if (response.status === 200) {
      const value = jsonOf(response, operatorText`a lookup`)
      // The caller of this function takes `null` as "not found", which only the status may say.
      if (value === null) throw invalidResponse(operatorText`The engine's response to a lookup is null`)
      return value
    }
    throw invalidResponse(operatorText`The engine responded to a lookup with status ${response.status}`)
  }
}

/** Returns a function that reads a resource, for example a model, for the gateway's decisions. */
export function bytesReaderOf(upstream: Upstream): ReadBytes {
  const ask = askerOf(upstream)
  return async function readBytes(path) {
    const { status, body } = await ask({ method: 'GET', path, limitBytes: MAX_LOOKUP_BYTES })
    if (status === 200) return body
    if (status >= 400 && status < 500) return null
    throw invalidResponse(operatorText`The engine responded to a lookup with status ${status}`)
  }
}
