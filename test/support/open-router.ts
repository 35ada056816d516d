import { fastify } from 'fastify'
import type { Test } from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { isWellFormed, paramsOf } from '../../src/pipeline/locate-request.ts'
import { registerRoutes } from '../../src/pipeline/routes.ts'

export interface MatchedRoute {
  readonly template: string
  readonly params: Readonly<Record<string, string>>
}

/**
 * Opens the gateway's router without its stages. The returned function resolves to the template and the parameters of a
 * GET of a canonical path, or to null if no route matches.
 */
export async function openRouter(t: Test): Promise<(path: string) => Promise<MatchedRoute | null>> {
  const routes = new Map<string, MatchedRoute>()
  const app = fastify({
    routerOptions: { maxParamLength: 4096 },
    genReqId: ({ headers }) => String(headers['x-request-id']),
  })
  await registerRoutes(app, {
    operations: OPERATIONS,
    bodyBytes: () => 1,
    handlerOf:
      ({ template }) =>
      (request, reply) => {
        if (isWellFormed(request)) routes.set(request.id, { template, params: paramsOf(request) })
        return reply.send()
      },
  })
  await app.ready()
  t.teardown(() => app.close())
  let asked = 0
  return async (path) => {
    const id = String((asked += 1))
    await app.inject({ url: path, headers: { 'x-request-id': id } })
    const route = routes.get(id) ?? null
    routes.delete(id)
    return route
  }
}
