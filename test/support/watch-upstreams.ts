import type { Dependencies, EngineDependencies } from '../../src/pipeline/dependencies.ts'
import type { UpstreamRequest } from '../../src/proxy/wire/upstream-request.ts'

/** Returns the dependencies with upstreams that call `watch` before they send a request. `more` replaces members of each engine. */
export function watchUpstreams(
  dependencies: Dependencies,
  watch: (request: UpstreamRequest) => void,
  more: Partial<EngineDependencies> = {},
): Dependencies {
  const engines = [...dependencies.engines].map(([name, engine]): [string, EngineDependencies] => [
    name,
    { ...engine, upstream: watching(engine.upstream, watch), ...more },
  ])
  return { ...dependencies, engines: new Map(engines) }
}

function watching(
  upstream: EngineDependencies['upstream'],
  watch: (request: UpstreamRequest) => void,
): EngineDependencies['upstream'] {
  return {
    ...upstream,
    fetch: (request, limitBytes) => {
      watch(request)
      return upstream.fetch(request, limitBytes)
    },
    relay: (request, sink, headers) => {
      watch(request)
      return upstream.relay(request, sink, headers)
    },
  }
}
