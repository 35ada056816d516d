import type { EngineDependencies, Dependencies } from '../pipeline/dependencies.ts'

/**
 * Returns dependencies that report changes to their successor. Requests of a replaced runtime continue for a while. Data that they
 * write must not stay cached or remembered in the runtime that replaced it.
 */
export function withForwardedChanges(
  dependencies: Dependencies,
  successor: () => Dependencies | null,
): Dependencies {
  const { cache, engines } = dependencies
  const withForwarding = (engine: EngineDependencies): EngineDependencies => ({
    ...engine,
    changed: async (changes, about) => {
      const sameEngine = successor()?.engines.get(engine.name)
      await Promise.all([engine.changed(changes, about), sameEngine?.changed(changes, about)])
    },
  })
  return {
    ...dependencies,
    engines: new Map([...engines].map(([name, engine]) => [name, withForwarding(engine)])),
    cache: {
      peek: (key) => cache.peek(key),
      peekHit: (key) => cache.peekHit(key),
      load: (key, rule, fill) => cache.load(key, rule, fill),
      evict: async (tags) => {
        // Both caches have dropped the entries from memory before this awaits.
        await Promise.all([cache.evict(tags), successor()?.cache.evict(tags)])
      },
      get size() {
        return cache.size
      },
      get shared() {
        return cache.shared
      },
      close: () => cache.close(),
    },
  }
}
