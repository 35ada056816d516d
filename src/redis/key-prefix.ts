import type { RedisSettings } from '../config/redis-types.ts'

/**
 * The beginning of the keys of one deployment. In a cluster its hash tag keeps them on one server: they are there, or away,
 * together, and each read of an answer asks one server for all that it needs.
 */
export function keyPrefixOf({ cluster }: RedisSettings, namespace: string): string {
  return `engine-gateway:${cluster === undefined ? namespace : `{${namespace}}`}:`
}
