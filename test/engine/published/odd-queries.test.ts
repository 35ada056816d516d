import t, { type Test } from 'tap'
import { queryOf } from '../../../src/request/canonical.ts'
import { Random } from '../../differential/random.ts'
import { javaSkip, seed } from '../../support/requirements.ts'
import { FAMILIES, type Family, releaseOf, VERSIONS } from '../build.ts'
import { CONNECTIONS } from '../readers/compare.ts'
import { answerOf, openEngine } from '../readers/open-engine.ts'
import { canonical } from '../readers/targets.ts'
import { refusalOf } from '../readers/verdicts.ts'
import { type OddQuery, oddQueries, operationsWithQuery } from './odd-queries.ts'

/**
 * The queries that are sent to each engine. All queries take a minute, so the other engines get a part of them, which the seed chooses.
 * `known` is the smallest share of the queries that the engine refuses for a parameter and that the gateway refuses in the same words.
 * Newer engines also refuse odd values of parameters that Camunda 7.22 does not have.
 */
const RUNS = {
  camunda: { part: 1, known: 0.975 },
  'camunda-7.24.0': { part: 0.2, known: 0.97 },
  operaton: { part: 0.2, known: 0.97 },
} as const satisfies Record<Family, { readonly part: number; readonly known: number }>

for (const family of FAMILIES)
  t.test(`the gateway refuses no query string that ${VERSIONS[family]} accepts`, { skip: javaSkip }, (t) =>
    compareQueries(t, family),
  )

async function compareQueries(t: Test, family: Family): Promise<void> {
  const engine = await openEngine(t, { family })
  const operations = operationsWithQuery(releaseOf(family))
  const random = new Random(seed)
  const { part, known: smallestShare } = RUNS[family]
  const queries = operations.flatMap(oddQueries).filter(() => random.chance(part))
  const tally = new Tally()
  const queue = [...queries]
  async function work(): Promise<void> {
    for (let odd = queue.pop(); odd !== undefined; odd = queue.pop()) {
      const { id, method, template } = odd.operation
      // The ids of the path do not exist.
      const target = canonical(template.replace(/:\w+/g, 'absent') + odd.search)
      if (target === null) throw new Error(`${odd.search} is not sent by clients`)
      const body = method === 'POST' && { headers: { 'content-type': 'application/json' }, body: '{}' }
      const told = await engine.ask({ method, path: target, ...body })
      const received = { params: {}, query: queryOf(target), body: undefined }
      tally.add(odd, answerOf(told), refusalOf(id, received))
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  const { refused, known } = tally
  t.comment(`${queries.length} queries of ${operations.length} operations: the engine refuses ${refused}`)
  t.comment(`for a parameter, and the gateway refuses ${known} of these in the same words`)
  for (const one of tally.missed()) t.comment(one)
  t.same(tally.wrong, [], 'queries that the gateway refuses otherwise than the engine')
  t.ok(known / refused >= smallestShare, `the gateway refuses ${known / refused} of these queries`)
}

type Response = ReturnType<typeof answerOf>

/** Counts the responses of the engine and of the gateway. */
class Tally {
  /** The number of queries that the engine refuses for a parameter. */
  refused = 0
  /** The number of these to which the gateway gives the same response. */
  known = 0
  readonly wrong: string[] = []
  readonly #missed = new Map<string, number>()

  add({ operation, parameter, search }: OddQuery, engine: Response, gateway: ReturnType<typeof refusalOf>) {
    const isSame = JSON.stringify(engine) === JSON.stringify(gateway)
    if (isParameterRefusal(engine)) {
      this.refused += 1
      if (isSame) this.known += 1
      else this.#missed.set(parameter, (this.#missed.get(parameter) ?? 0) + 1)
    }
    if (gateway !== null && !isSame)
      this.wrong.push(`${operation.id} ${search}: ${JSON.stringify({ engine, gateway })}`)
  }

  /** Returns the parameters with the most values that only the engine refuses, with the numbers. */
  missed(): readonly string[] {
    const sorted = [...this.#missed].toSorted(([, one], [, other]) => other - one)
    return sorted
      .slice(0, MAX_SHOWN)
      .map(([name, count]) => `${name}: ${count} are refused by the engine only`)
  }
}

const MAX_SHOWN = 10

/** Returns whether the engine has refused the text of a parameter. The second response is that of its framework. */
function isParameterRefusal({ status, body }: Response): boolean {
  const { type, message } = Object(body)
  if (status === 404) return type === 'QueryParamException'
  return status === 400 && /^Cannot (?:set query parameter|convert value) /.test(String(message))
}
