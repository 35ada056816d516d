import type { EngineStatus } from '../status/process-status.ts'
import type { NodeState } from '../proxy/nodes/node-pool.ts'
import type { EngineDependencies } from '../pipeline/dependencies.ts'
import type { EngineSources } from './engine-sources.ts'
import type { EngineNodes } from './running-nodes.ts'

interface ReadableEngine {
  readonly dependencies: Pick<EngineDependencies, 'name' | 'authorization' | 'validation'>
  readonly sources: Pick<EngineSources, 'identity' | 'records'>
  readonly nodes: Pick<EngineNodes, 'own'>
}

/** Returns the current status of an engine. */
export function engineStatusOf({ dependencies, sources, nodes: { own } }: ReadableEngine): EngineStatus {
  const { name, authorization, validation } = dependencies
  return {
    name,
    authorization,
    validation,
    sources: [
      { source: 'users', ...sources.identity.state() },
      { source: 'records', ...sources.records.state() },
    ],
    polls: own.polls.counts(),
    queue: own.waiting(),
    slow: own.slow(),
    isQueueStanding: own.isQueueStanding(),
    nodes: own.nodes().map(nodeStatusOf),
  }
}

function nodeStatusOf(state: NodeState): EngineStatus['nodes'][number] {
  const { registered: _, ...shown } = state
  return shown
}
