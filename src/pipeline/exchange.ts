import type { FastifyReply, FastifyRequest } from 'fastify'
import type { EngineParts, Parts } from './parts.ts'
import type { Operation } from '../operations/table.ts'
import type { Permit } from '../policy/authz/permit.ts'
import type { AccessRequest } from '../request/access-request.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'

/** An answer that must be looked at before it goes out is read whole, up to this. */
export const MAX_READ_BYTES = 64 * 1024 ** 2

/** What the stages have found: whose operation it is, and what is asked of it. */
export interface Match {
  readonly engine: EngineParts
  readonly operation: Operation
  readonly permit: Permit
  readonly accessRequest: AccessRequest
}

/** A request that has passed the stages, and what would be sent to the engine for it. */
export interface Exchange {
  readonly parts: Parts
  readonly match: Match
  readonly upstreamRequest: UpstreamRequest
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}
