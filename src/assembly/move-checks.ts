import { type Config, type EngineConfig, settingsOf } from '../config/config.ts'
import { messageOf } from '../errors.ts'
import { checkMove, type NodeVersion } from '../move/check-move.ts'
import type { Shift } from '../proxy/nodes/shift.ts'
import type { Upstream } from '../proxy/upstream.ts'
import { withDeadline } from '../transfer/read-list.ts'
import { askerOf } from './engine-client.ts'
import type { EngineNodes } from './running-nodes.ts'
import type { MoveCheck } from './runtime.ts'

/** Returns a check for each engine whose nodes have groups. It sends requests that change nothing. */
export function moveChecksOf(
  config: Config,
  engines: readonly Pick<EngineNodes, 'engine' | 'own'>[],
): readonly MoveCheck[] {
  return engines.flatMap(({ engine, own }) => {
    const engineConfig = config.engines[engine]
    const { shift } = own
    return engineConfig === undefined || shift === null
      ? []
      : [{ engine, run: createRun({ config, engineConfig, own, shift }) }]
  })
}

interface MovedEngine extends Pick<EngineNodes, 'own'> {
  readonly config: Config
  readonly engineConfig: EngineConfig
  readonly shift: Shift
}

function createRun({ config, engineConfig, own, shift }: MovedEngine): MoveCheck['run'] {
  const { identity, authorization } = settingsOf(config, engineConfig)
  return async function run({ withinMs, onProgress }) {
    const endsAtMs = performance.now() + withinMs
    const upstreams = [shift.from, shift.to].map((group) => own.openGroup(group))
    const [from, to] = upstreams.map((upstream) => withDeadline(askerOf(upstream), withinMs))
    if (from === undefined || to === undefined) return []
    try {
      return await checkMove({
        from: {
          name: shift.from,
          ask: from,
          release: engineConfig.release,
          readVersions: () => readVersions(own, shift.from),
        },
        to: {
          name: shift.to,
          ask: to,
          release: engineConfig.shift?.release ?? null,
          readVersions: () => readVersions(own, shift.to),
        },
        administrators: {
          groups: authorization.adminGroups,
          users: authorization.adminUsers,
          areAtEngine: identity.source === 'engine' || authorization.mode === 'engine',
        },
        isDeploymentAware: engineConfig.deploymentAware,
        hasTime: () => performance.now() < endsAtMs,
        onProgress,
      })
    } finally {
      await Promise.all(upstreams.map((upstream) => upstream.close()))
    }
  }
}

/** The time for the response of one node. The gateway asks all nodes at the same time. */
const NODE_MS = 5000

/** Reads the version of each node of a group, except drained nodes. */
function readVersions(own: Upstream, group: string): Promise<readonly NodeVersion[]> {
  const names = new Set(own.nodes().flatMap((state) => (state.group === group ? [state.node] : [])))
  const nodes = own.reachable().filter(({ node, isDrained }) => names.has(node) && !isDrained)
  return Promise.all(
    nodes.map(({ node, checkConnection }) =>
      checkConnection(NODE_MS).then(
        (version) => ({ node, version, problem: null }),
        (error: unknown) => ({ node, version: null, problem: messageOf(error) }),
      ),
    ),
  )
}
