import type { TargetKey } from './cached.ts'
import type { ReceivedRequest } from '../pipeline/context.ts'

/** The part of a request that depends on its target alone. */
export interface KnownTarget extends Pick<ReceivedRequest, 'url' | 'params'> {
  readonly routeOptions: Pick<ReceivedRequest['routeOptions'], 'config' | 'url' | 'bodyLimit'>
  readonly lastKey: TargetKey
}

/** Targets of GET requests whose responses were in the cache. Their first check and their route are not repeated. */
export interface KnownTargets {
  /** Returns the target that a client sent in exactly this form. */
  readonly find: (target: string) => KnownTarget | undefined
  /** Remembers the target of a request that the framework has routed. */
  readonly remember: (request: ReceivedRequest) => void
}

/** Number of targets. With the longest texts, and the longest values of `Accept`, they need about 25 MB. */
const MAX_TARGETS = 4096
/** Longer targets are only routed by the framework. */
const MAX_CHARS = 1024

/** Creates an empty memory. If it is full, the target that was remembered first is forgotten. */
export function createKnownTargets(maxTargets = MAX_TARGETS): KnownTargets {
  const known = new Map<string, KnownTarget>()
  return {
    find: (target) => known.get(target),
    remember: ({ originalUrl, url, params, routeOptions }) => {
      if (originalUrl.length > MAX_CHARS || known.has(originalUrl)) return
      const [oldest] = known.keys()
      if (oldest !== undefined && known.size >= maxTargets) known.delete(oldest)
      const { config, url: template, bodyLimit } = routeOptions
      known.set(originalUrl, {
        url,
        params: Object.freeze(params),
        routeOptions: { config, url: template, bodyLimit },
        lastKey: { key: '', accept: undefined },
      })
    },
  }
}
