import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { outcomeOf, seenOf } from '../differential/compare.ts'
import { openGateway } from '../differential/gateway.ts'
import { basicOf, createClient } from '../differential/http.ts'
import { inParallel } from '../differential/in-parallel.ts'
import type { Side } from '../differential/names.ts'
import { askOf, makeCallers } from '../differential/phase.ts'
import { isRead } from '../differential/plan.ts'
import { setOf } from '../differential/sets.ts'
import { buildWorlds, startPair } from '../differential/worlds.ts'
import { javaSkip } from '../support/requirements.ts'

const PAGE = join(import.meta.dirname, '../../docs/from-a-secured-engine.md')
const ADMIN_GROUP = 'camunda-admin'
const CALLERS = 12
const CREDENTIALS = { credentials: 'forward', service: { username: 'demo', password: 'demo' } }

/** The steps of the page, with the engine that is behind the gateway in each step. */
const STEPS = [
  { step: 1, side: 'secured', mode: 'engine', engine: CREDENTIALS },
  { step: 2, side: 'secured', mode: 'report', engine: CREDENTIALS },
  { step: 3, side: 'bare', mode: 'enforce', engine: {} },
] as const

void test('in each step of docs/from-a-secured-engine.md clients get the responses of the secured engine', {
  skip: javaSkip,
  timeout: 600_000,
}, async (t) => {
  const engines = await startPair({ family: 'camunda' })
  t.teardown(() => Promise.all([engines.secured.stop(), engines.bare.stop()]))
  const bases: Readonly<Record<Side, string>> = { secured: engines.secured.base, bare: engines.bare.base }
  const { names, clients, admins } = await buildWorlds(bases, ADMIN_GROUP)
  t.teardown(() => Promise.all([clients.secured.close(), clients.bare.close()]))
  const operations = OPERATIONS.filter(({ only }) => only === undefined)
  const choice = { names, seed: 7, operations, adminGroup: ADMIN_GROUP }
  const sets = Array.from({ length: CALLERS }, (_, index) => setOf(index, choice))
  await makeCallers({ names, admins }, sets, [])
  const asked = sets.flatMap((set) => set.plans.filter(isRead).map((plan) => ({ set, plan })))
  const page = await readFile(PAGE, 'utf8')

  for (const { step, side, mode, engine } of STEPS) {
    const contents = { sets, records: [], source: 'engine', implied: true, adminGroup: ADMIN_GROUP } as const
    const opened = await openGateway(bases[side], { ...contents, mode, engine })
    t.teardown(() => opened.close())
    const gateway = createClient(opened.base)
    t.teardown(() => gateway.close())
    const differing: string[] = []
    const wider: string[] = []
    await inParallel(asked, 8, async ({ set: { user, password }, plan }) => {
      const credentials = basicOf(user, password)
      const direct = await clients.secured.send(askOf(plan, names, 'secured'), credentials)
      const through = await gateway.send(askOf(plan, names, side), credentials)
      const expected = seenOf(direct, plan, { names, side: 'secured' })
      const outcome = outcomeOf(expected, seenOf(through, plan, { names, side }), plan)
      const line = `${outcome}: ${user} ${plan.operation.id} ${plan.path} ${direct.status} ${through.status}`
      if (outcome === 'wider') wider.push(line)
      if (outcome !== 'equal') differing.push(line)
    })
    t.same(wider, [], `step ${step}: nothing is shown or permitted that the engine refuses`)
    const [, equal, total] = new RegExp(`^\\| ${step} \\|.*\\| (\\d+) of (\\d+) \\|$`, 'm').exec(page) ?? []
    t.equal(asked.length, Number(total), `step ${step}: the number of requests on the page`)
    t.ok(
      asked.length - differing.length >= Number(equal),
      `step ${step}: the page says ${equal} of ${total} are equal; these differ:\n${differing.join('\n')}`,
    )
  }
})
