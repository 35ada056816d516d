import { setTimeout as wait } from 'node:timers/promises'
import type { ChangeBus } from '../redis/change-bus.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { AuthorizationMode } from '../pipeline/dependencies.ts'
import type { RunningSources } from './runtime.ts'
import type { TurnTaker } from '../redis/shared-turns.ts'
import type { SourceState } from '../files/source-state.ts'
import type { SourceFiles } from './source-files.ts'
import type { EngineSources } from './engine-sources.ts'
import type { IssuerKeySets, NamedIssuer } from './token-issuers.ts'

/** The gateway starts to listen after this time even if an engine has not yet returned its records. */
const FIRST_READING_MS = 2_000

interface SourceSet {
  readonly engines: ReadonlyMap<
    string,
    {
      readonly sources: EngineSources
      readonly authorization: AuthorizationMode
      readonly issuers: readonly NamedIssuer[]
    }
  >
  readonly issuers: Pick<IssuerKeySets, 'start' | 'close'>
  readonly files: SourceFiles
  readonly changeBus: ChangeBus | null
  readonly turns: TurnTaker
}

/** Combines the sources of all engines into one object with a common lifecycle. */
export function createRunningSources({
  engines,
  files,
  changeBus,
  turns,
  issuers,
}: SourceSet): RunningSources {
  const all = [...engines].flatMap(([engine, { sources, authorization, issuers: believed }]) => [
    { engine, source: 'identity', isNeeded: false, of: sources.identity },
    { engine, source: 'records', isNeeded: authorization !== 'off', of: sources.records },
    // An unavailable issuer does not make the gateway unready: users with passwords can still log in.
    ...believed.map(({ name, keys: of }) => ({ engine, source: `issuer ${name}`, isNeeded: false, of })),
  ])
  const read = (valueOf: (state: SourceState) => number | null) => () =>
    all.map(({ engine, source, of }) => ({ labels: { engine, source }, value: valueOf(of.state()) }))
  let isStopped = false
  const missing = () => all.filter(({ isNeeded, of }) => isNeeded && of.state().ageMs === null)
  return {
    start: async (withinMs = FIRST_READING_MS) => {
      if (changeBus !== null) listen(changeBus, engines)
      files.start()
      const readings = [...engines.values()].map(({ sources }) => sources.records.start())
      await Promise.race([Promise.all([...readings, issuers.start()]), wait(withinMs, null, { ref: false })])
    },
    stop: () => {
      if (isStopped) return
      isStopped = true
      changeBus?.close()
      turns.close()
      files.close()
      issuers.close()
      for (const { sources } of engines.values()) sources.records.close()
    },
    readiness: () => ({
      ready: missing().length === 0,
      checks: Object.fromEntries(
        all.map(({ engine, source, of }) => [`${source} of ${engine}:`, wordOf(of.state())]),
      ),
    }),
    missing: () =>
      missing().map(({ engine, source, of }) => `engines.${engine}: its ${source}: ${of.state().problem}`),
    activate: (metrics) => addGauges(metrics, read),
  }
}

function listen(changeBus: ChangeBus, engines: SourceSet['engines']): void {
  changeBus.listen({
    onMessage: (topic, about) => {
      const [engine = '', what = ''] = topic.split(' ')
      engines.get(engine)?.sources.applyChange(what, about)
    },
    onGap: () => {
      for (const { sources } of engines.values()) sources.missed()
    },
  })
}

function wordOf({ problem, ageMs }: SourceState): string {
  if (problem === null) return 'ok'
  return ageMs === null ? problem : `${problem} (last good ${Math.round(ageMs / 1000)} s ago)`
}

type SourceGauge = (
  valueOf: (state: SourceState) => number | null,
) => () => readonly { readonly labels: { engine: string; source: string }; readonly value: number | null }[]

function addGauges(metrics: Metrics, read: SourceGauge): void {
  const labels = ['engine', 'source'] as const
  metrics.gauges(
    {
      name: 'gateway_source_up',
      help: 'Whether the last read of users, records or keys of an issuer succeeded. 0: the content that was read before is used until staleAfter is over.',
      labels,
    },
    read(({ problem }) => (problem === null ? 1 : 0)),
  )
  metrics.gauges(
    {
      name: 'gateway_source_age_seconds',
      help: 'Time since users, records or keys were last read, or found to be unchanged, in seconds.',
      labels,
    },
    read(({ ageMs }) => (ageMs === null ? null : ageMs / 1000)),
  )
}
