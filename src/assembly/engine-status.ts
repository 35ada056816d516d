import { type EngineStatus, type GroupsStatus, shownComparison } from '../status/process-status.ts'
import type { NodeState } from '../proxy/nodes/node-pool.ts'
import type { EngineDependencies } from '../pipeline/dependencies.ts'
import type { EngineSources } from './engine-sources.ts'
import type { EngineNodes } from './running-nodes.ts'

interface ReadableEngine {
  readonly dependencies: Pick<
    EngineDependencies,
    'name' | 'authorization' | 'validation' | 'shift' | 'compared'
  >
  readonly sources: Pick<EngineSources, 'identity' | 'records'>
  readonly nodes: Pick<EngineNodes, 'own'>
}

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
    groups: groupsStatusOf(dependencies),
  }
}

function groupsStatusOf({
  shift,
  compared,
}: Pick<EngineDependencies, 'shift' | 'compared'>): GroupsStatus | null {
  if (shift === null) return null
  const { shares, returned } = shift.state()
  const { to, from, refusal } = shift
  return {
    to,
    from,
    ...shares,
    returned,
    finding: shift.finding(),
    refused: refusal(),
    compared: compared === null ? null : shownComparison(compared.report),
  }
}

function nodeStatusOf(state: NodeState): EngineStatus['nodes'][number] {
  const { registered: _, ...shown } = state
  return shown
}
