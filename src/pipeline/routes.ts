import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import type { Operation } from '../operations/table.ts'
import { methodsOfOperation, type PathTemplate } from './path-templates.ts'

export interface RouteConfig {
  /** Null if the path does not have the method. */
  readonly operation: Operation | null
}

export interface RouteOptions {
  readonly templates: readonly PathTemplate[]
  /** Creates the handler of an operation. Called once for each operation. */
  readonly handlerOf: (operation: Operation) => RouteHandlerMethod
  readonly bodyBytes: (operation: Operation) => number
}

/** Number of templates that are registered in one turn of the event loop. Registering all of them at once would block requests for 30 ms. */
const A_TURN = 20

/**
 * Registers all operations. HEAD uses the operation of GET. Other methods have no routes, because each route costs CPU time at the
 * start: stage 4 refuses them as it refuses unknown paths, with the methods that path-templates.ts finds.
 */
export async function registerRoutes(app: FastifyInstance, options: RouteOptions): Promise<void> {
  for (const [index, template] of options.templates.entries()) {
    if (index % A_TURN === 0) await setImmediate()
    registerTemplate(app, template, options)
  }
}

function registerTemplate(
  app: FastifyInstance,
  { template: url, operations, refusedMethods }: PathTemplate,
  { handlerOf, bodyBytes }: RouteOptions,
): void {
  for (const operation of operations) {
    const config: RouteConfig = { operation }
    app.route({
      method: methodsOfOperation(operation),
      url,
      config,
      bodyLimit: bodyBytes(operation),
      handler: handlerOf(operation),
    })
  }
  if (refusedMethods.size === 0) return
  const config: RouteConfig = { operation: null }
  app.route({ method: [...refusedMethods], url, config, handler: noHandler })
}

/** Never runs, because the earlier stages refuse such a request. */
function noHandler(): never {
  throw new Error('No operation has this method')
}

/** Builds an upstream path from a template and the matched and checked parameters. */
export type PathOf = (params: Readonly<Record<string, string>>) => string

export function createPathOf(template: string): PathOf {
  const segments = template
    .split('/')
    .slice(1)
    .map((text) => (text.startsWith(':') ? { text, name: text.slice(1) } : { text, name: null }))
  return (params) => {
    let path = ''
    for (const { text, name } of segments)
      path += name === null ? `/${text}` : `/${encodeURIComponent(params[name] ?? '')}`
    return path
  }
}

/** Returns false if a literal of the template was spelt with `%`. The engine does not decode literals, so it has no such path. */
export function spellsLiterals(template: string, rawPath: string): boolean {
  const raw = rawPath.split('/')
  return template.split('/').every((literal, index) => literal.startsWith(':') || literal === raw[index])
}
