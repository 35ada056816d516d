import { releaseOf } from './build.ts'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { Seen } from '../differential/compare.ts'
import { DEVIATIONS, deviationOf, saidOf, saysTheSame } from '../differential/foreign-deviations.ts'
import { foreignSets, isForeign } from '../differential/foreign.ts'
import { runPhase } from '../differential/phase.ts'
import type { ForeignKind } from '../differential/plan.ts'
import { buildWorlds, startPair } from '../differential/worlds.ts'
import { publishedOperations } from './published/openapi.ts'
import { javaSkip } from '../support/requirements.ts'

const ADMIN_GROUP = 'camunda-admin'
const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'deviations.md')

interface Asked {
  readonly kind: ForeignKind
  readonly user: string
  readonly operation: string
  readonly path: string
  readonly engine: Seen
  readonly gateway: Seen
}

/**
 * Sends every operation of the published API with an unexpected Accept, with bodies of other types and without a body,
 * and with percent signs in the query. The caller is a user with all permissions and a user with none. The requests go
 * through the gateway in front of an engine without authorization, and directly to a secured engine. Status, type and
 * message must be equal unless docs/deviations.md lists the difference.
 */
void test('requests with an unexpected Accept, type or body get the response of the engine', {
  skip: javaSkip,
  timeout: 900_000,
}, async (t) => {
  const engines = await startPair({ family: 'camunda' })
  t.teardown(() => Promise.all([engines.secured.stop(), engines.bare.stop()]))
  const bases = { secured: engines.secured.base, bare: engines.bare.base }
  const { names, clients, admins } = await buildWorlds(bases, ADMIN_GROUP)
  t.teardown(() => Promise.all([clients.secured.close(), clients.bare.close()]))
  const operations = OPERATIONS.filter(({ only }) => only === undefined)
  const published = await publishedOperations()
  const texts = new Map(published.map(({ operationId, texts: own }) => [operationId, own]))
  const asked: Asked[] = []
  const stage = {
    admins,
    names,
    implied: false,
    adminGroup: ADMIN_GROUP,
    release: releaseOf('camunda'),
    secured: clients.secured,
    bareBase: bases.bare,
    report: {
      add: (plan, _outcome, difference) => {
        const { caller, engine, gateway } = difference()
        const { kind, path } = plan
        if (!isForeign(kind)) return
        asked.push({ kind, user: caller.user, operation: plan.operation.id, path, engine, gateway })
      },
    },
  } satisfies Parameters<typeof runPhase>[0]
  await runPhase(stage, foreignSets({ names, operations, texts }, ADMIN_GROUP), [])

  t.same(
    operations.filter(({ id }) => !asked.some(({ operation }) => operation === id)),
    [],
    'every operation was tested',
  )
  const differing = asked.filter(({ engine, gateway, kind }) => !saysTheSame(engine, gateway, kind))
  t.same(
    differing.filter((one) => deviationOf(one) === undefined).map(lineOf),
    [],
    `${asked.length} responses are those of the engine, except ${differing.length} documented ones`,
  )
  const met = new Set(differing.map(deviationOf))
  t.same(
    DEVIATIONS.filter((one) => !met.has(one)),
    [],
    'every listed deviation was observed',
  )
  const page = await readFile(PAGE, 'utf8')
  for (const { documented } of DEVIATIONS) t.ok(page.includes(documented), documented)
})

function lineOf({ kind, user, operation, path, engine, gateway }: Asked): string {
  return `${kind} ${user} ${operation} ${path}: engine ${saidOf(engine)}, gateway ${saidOf(gateway)}`
}
