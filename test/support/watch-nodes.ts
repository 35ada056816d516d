import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Test } from 'tap'
import type { NodeEvent } from '../../src/proxy/nodes/node-pool.ts'
import type { UpstreamOptions } from '../../src/proxy/create-upstream.ts'
import type { Upstream } from '../../src/proxy/upstream.ts'
import { openUpstream, READ } from './fake-engine.ts'

export const LIMIT = 1_000_000
/** Response of an engine without authorization to a probe. */
export const NAMES = '[{"name":"default"}]'
export const TEN_GOOD: readonly number[] = Array.from({ length: 10 }, () => 200)

export interface Watched {
  readonly upstream: Upstream
  readonly events: NodeEvent[]
  /** Resolves to the next change of a node's state that it has not returned yet. */
  readonly changed: () => Promise<NodeEvent>
  readonly clock: { nowMs: number }
}

/** Opens an upstream with the test's own clock. */
export function watch(
  t: Test,
  nodes: UpstreamOptions['nodes'],
  options: Partial<UpstreamOptions> = {},
): Watched {
  const events: NodeEvent[] = []
  const waiting: ((event: NodeEvent) => void)[] = []
  const clock = { nowMs: 0 }
  let told = 0
  const { upstream } = openUpstream(t, nodes, {
    now: () => clock.nowMs,
    onNodeChange: (event) => {
      events.push(event)
      waiting.shift()?.(event)
    },
    ...options,
  })
  const changed = async (): Promise<NodeEvent> => {
    const known = events[told]
    told += 1
    return known ?? new Promise((resolve) => waiting.push(resolve))
  }
  return { upstream, events, changed, clock }
}

export async function readTimes(upstream: Upstream, times: number): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < times; i += 1) statuses.push((await upstream.fetch(READ, LIMIT)).status)
  return statuses
}

/** Returns an address at which the server may listen later. */
export async function reservedUrl(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}`
}
