import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Match } from './match.ts'
import type { Parts } from './parts.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'

/** An answer that must be looked at before it goes out is read whole, up to this. */
export const MAX_READ_BYTES = 64 * 1024 ** 2

/** A request that has passed the stages, and the hop that would ask the engine for it. */
export interface Exchange {
  readonly parts: Parts
  readonly match: Match
  readonly upstreamRequest: UpstreamRequest
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}
