import type { RedisSettings } from '../config/redis-types.ts'

/**
 * Returns the prefix of the keys of one deployment. In a cluster, its hash tag keeps them on one server, so they are available or
 * unavailable together. Each cache lookup then needs one server only.
 */
export function keyPrefixOf({ cluster }: RedisSettings, namespace: string): string {
  return `engine-gateway:${cluster === undefined ? namespace : `{${namespace}}`}:`
}
