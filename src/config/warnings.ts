import type { Config } from './schema.ts'

/** Settings that are allowed and dangerous, each as `path: effect`. Not an error: an operator may want it. */
export function warningsOf({ passthrough, engines }: Config): readonly string[] {
  const nodes = Object.entries(engines).flatMap(([engine, own]) =>
    own.nodes.map(({ url }) => ({ engine, at: socketOf(url) })),
  )
  return passthrough.flatMap(({ prefix, upstream }, index) => {
    const at = socketOf(upstream)
    const names = new Set(nodes.filter((node) => node.at === at).map(({ engine }) => engine))
    if (names.size === 0) return []
    return [
      `passthrough[${index}]: ${prefix} leads to ${at}, a node of ${[...names].join(', ')}. What the applications there ` +
        'offer of the engine is open to every user who logs in to them: no record, tenant or validation of the gateway counts there',
    ]
  })
}

/** `engine-a:8080`, also if the URL leaves out the port. */
function socketOf(url: string): string {
  const { hostname, port, protocol } = new URL(url)
  return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`
}
