import type { AskEngine } from '../../src/request/engine-request.ts'

/** A response: a status without a body, or a value that is sent as JSON with status 200, or bytes. */
export type StubResponse = number | Buffer | object

export interface StubEngine {
  readonly ask: AskEngine
  /** The paths of all requests. */
  readonly asked: string[]
}

/** An engine that answers paths, without their query strings, as given. All others are 404. */
export function stubEngine(responses: Readonly<Record<string, StubResponse>>): StubEngine {
  const asked: string[] = []
  return {
    asked,
    ask: async ({ method, path }) => {
      asked.push(`${method} ${path}`)
      const response = responses[path] ?? responses[path.replace(/\?.*/, '')] ?? 404
      if (typeof response === 'number') return { status: response, body: Buffer.alloc(0) }
      return {
        status: 200,
        body: Buffer.isBuffer(response) ? response : Buffer.from(JSON.stringify(response)),
      }
    },
  }
}

/** The responses of an engine about itself. */
export function aboutEngine(
  product: string,
  version: string,
  schema: string,
): Readonly<Record<string, StubResponse>> {
  return {
    '/telemetry/data': { product: { name: `${product} BPM Runtime` } },
    '/version': { version },
    '/schema/log': [{ id: '0', timestamp: '2026-01-01T00:00:00.000+0000', version: schema }],
    '/history/cleanup/configuration': { enabled: true },
    '/deployment/registered': [],
    '/deployment': [],
    '/group': [{ id: 'g' }],
    '/user': [{ id: 'u' }],
  }
}

/** The responses of an engine with one deployment for each list of resources, by their names. */
export function withDeployments(
  deployments: readonly Readonly<Record<string, string>>[],
): Readonly<Record<string, StubResponse>> {
  const ids = deployments.map((_, at) => ({ id: `d${at}` }))
  const lists = deployments.flatMap((resources, at) => {
    const named = Object.entries(resources)
    return [
      [`/deployment/d${at}/resources`, named.map(([name], number) => ({ id: `r${number}`, name }))] as const,
      ...named.map(
        ([, text], number) => [`/deployment/d${at}/resources/r${number}/data`, Buffer.from(text)] as const,
      ),
    ]
  })
  return { '/deployment': ids, ...Object.fromEntries(lists) }
}
