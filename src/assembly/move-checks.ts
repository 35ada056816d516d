import { type Config, type EngineConfig, settingsOf } from '../config/config.ts'
import { checkMove } from '../move/check-move.ts'
import type { Shift } from '../proxy/nodes/shift.ts'
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
        from: { name: shift.from, ask: from, release: engineConfig.release },
        to: { name: shift.to, ask: to, release: engineConfig.shift?.release ?? null },
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
