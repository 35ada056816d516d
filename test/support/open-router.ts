import { fastify } from 'fastify'
import type { Test } from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { Method } from '../../src/operations/table.ts'
import { isWellFormed, paramsOf } from '../../src/pipeline/locate-request.ts'
import { createPathTemplates } from '../../src/pipeline/path-templates.ts'
import { registerRoutes } from '../../src/pipeline/routes.ts'

export interface MatchedRoute {
  readonly id: string
  readonly template: string
  readonly params: Readonly<Record<string, string>>
}

/**
 * Opens the gateway's router without its stages. The returned function resolves to the operation, the template and the parameters of
 * a request with a canonical path, or to null if no operation matches.
 */
export async function openRouter(
  t: Test,
): Promise<(path: string, method?: Method) => Promise<MatchedRoute | null>> {
  const routes = new Map<string, MatchedRoute>()
  const app = fastify({
    routerOptions: { maxParamLength: 16 * 1024 },
    genReqId: ({ headers }) => String(headers['x-request-id']),
  })
  await registerRoutes(app, {
    templates: createPathTemplates(OPERATIONS).all,
    bodyBytes: () => 1,
    handlerOf:
      ({ id, template }) =>
      (request, reply) => {
        if (isWellFormed(request)) routes.set(request.id, { id, template, params: paramsOf(request) })
        return reply.send()
      },
  })
  await app.ready()
  t.teardown(() => app.close())
  let asked = 0
  return async (path, method = 'GET') => {
    const requestId = String((asked += 1))
    await app.inject({ method, url: path, headers: { 'x-request-id': requestId } })
    const route = routes.get(requestId) ?? null
    routes.delete(requestId)
    return route
  }
}
