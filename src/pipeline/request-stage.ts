import type { ReceivedRequest } from './context.ts'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { MaybePromise } from '../request/maybe-promise.ts'

/** A stage of a request. It throws its refusal, or rejects with it. The fast path and the framework run the same stages. */
export type RequestStage = (request: ReceivedRequest) => MaybePromise<void>

export type RequestHook = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
) => void

/**
 * Returns a hook that runs a stage. A request from the fast path has already passed the first `context.passedStages` stages, and
 * passes none of them twice. `index` is the place of the stage in the order of all stages. Default: the stage always runs.
 */
export function hookOf(stage: RequestStage, index = Infinity): RequestHook {
  return function runStage(request, _reply, done) {
    if (index < request.context.passedStages) return done()
    const passed = stage(request)
    if (passed instanceof Promise) passed.then(() => done(), done)
    else done()
  }
}
