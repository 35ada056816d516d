import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import type { Operation } from '../operations/table.ts'
import { METHODS } from '../request/canonical.ts'

/** The configuration of a route: its operation and the methods of its path. A method without an operation is refused. */
export interface RouteConfig {
  readonly operation: Operation | null
  /** All methods of the path, as in `Allow`. */
  readonly methods: string
}

export interface RouteOptions {
  readonly operations: readonly Operation[]
  /** Creates the handler of an operation. Called once for each operation. */
  readonly handlerOf: (operation: Operation) => RouteHandlerMethod
  readonly bodyBytes: (operation: Operation) => number
}

/** Number of templates that are registered in one turn of the event loop. Registering all of them at once would block requests for 60 ms. */
const A_TURN = 20

/** Registers all operations. HEAD uses the operation of GET, and other methods get 405. */
export async function registerRoutes(app: FastifyInstance, options: RouteOptions): Promise<void> {
  const templates = [...byTemplate(options.operations)]
  for (const [index, [template, operations]] of templates.entries()) {
    if (index % A_TURN === 0) await setImmediate()
    registerTemplate(app, template, { ...options, operations })
  }
}

function registerTemplate(
  app: FastifyInstance,
  url: string,
  { operations, handlerOf, bodyBytes }: RouteOptions,
): void {
  const served = new Set(operations.flatMap(methodsOf))
  const methods = [...served].join(', ')
  for (const operation of operations) {
    const config: RouteConfig = { operation, methods }
    app.route({
      method: methodsOf(operation),
      url,
      config,
      bodyLimit: bodyBytes(operation),
      handler: handlerOf(operation),
    })
  }
  const others = [...METHODS].filter((method) => !served.has(method))
  const config: RouteConfig = { operation: null, methods }
  app.route({ method: others, url, config, handler: noHandler })
}

function methodsOf({ method }: Operation): string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method]
}

/** Never runs, because the earlier stages refuse such a request. */
function noHandler(): never {
  throw new Error('No operation has this method')
}

function byTemplate(operations: readonly Operation[]): ReadonlyMap<string, readonly Operation[]> {
  const templates = new Map<string, Operation[]>()
  for (const operation of operations) {
    const operationsOfPath = templates.get(operation.template)
    if (operationsOfPath === undefined) templates.set(operation.template, [operation])
    else operationsOfPath.push(operation)
  }
  return templates
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
