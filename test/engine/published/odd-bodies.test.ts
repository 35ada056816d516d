import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import type { Operation } from '../../../src/operations/table.ts'
import { javaSkip } from '../../support/requirements.ts'
import { Random } from '../../differential/random.ts'
import { FAMILIES, type Family, releaseOf, VERSIONS } from '../build.ts'
import { exchange } from '../exchange.ts'
import { startGateway } from '../gateway.ts'
import { CONNECTIONS } from '../readers/compare.ts'
import { type OpenEngine, openEngine } from '../readers/open-engine.ts'
import { openWire, type Told } from '../readers/wire.ts'
import { seed } from '../../support/requirements.ts'
import { isForEveryEngine, type OddBody, oddBodies, operationsWithBody } from './odd-bodies.ts'

/**
 * The bodies that are sent to each engine. All bodies take two minutes, so the other engines get one for each operation, and a part of
 * the others, which the seed chooses.
 * `known` is the smallest share of the bodies that the engine refuses for their shape and that the gateway also refuses. Newer engines
 * also refuse odd values of members and operations that Camunda 7.22 does not have. The gateway does not, because Camunda 7.22 ignores
 * such members.
 */
const RUNS = {
  camunda: { part: 1, known: 0.98 },
  'camunda-7.24.0': { part: 0.1, known: 0.93 },
  operaton: { part: 0.1, known: 0.93 },
} as const satisfies Record<Family, { readonly part: number; readonly known: number }>

/** What the engine and the gateway respond to one body. */
interface Responses {
  readonly odd: OddBody
  readonly engine: Told
  readonly gateway: Told
}

type Reason = (responses: Responses) => boolean

/** The reasons for which the gateway refuses bodies that the engine may accept. Each reason is listed in docs/deviations.md. */
const DOCUMENTED: Readonly<Record<string, Reason>> = {
  'a body is null': ({ odd, gateway }) => codeOf(gateway) === 'GW_BAD_JSON' && odd.text === 'null',
  'an expression runs code in the engine': ({ odd, gateway }) =>
    codeOf(gateway) === 'GW_HAZARD' && odd.place.endsWith('Expression'),
  'a query string cannot express these members of a query': ({ odd, gateway }) =>
    codeOf(gateway) === 'GW_ITEMS_NOT_EXACT' && /\.historic(?:Batch|DecisionInstance)Query\b/.test(odd.place),
  'a candidate user is a number or a boolean': ({ odd, gateway }) =>
    codeOf(gateway) === 'GW_ITEMS_NOT_EXACT' && odd.place === '$.candidateUser',
  'an unknown task is refused for its delegation state': ({ odd, engine, gateway }) =>
    codeOf(gateway) === 'GW_INVALID_BODY' && engine.status === 404 && odd.place === '$.delegationState',
}

for (const family of FAMILIES)
  t.test(`the gateway refuses no body that ${VERSIONS[family]} accepts`, { skip: javaSkip }, (t) =>
    compareBodies(t, family),
  )

async function compareBodies(t: Test, family: Family): Promise<void> {
  const engine = await openEngine(t, { family })
  const filterId = await deployModels(engine)
  const gateway = await startGateway(engine.base)
  const wire = openWire(gateway.base, CONNECTIONS)
  t.teardown(async () => {
    wire.close()
    await gateway.drain()
  })
  const operations = operationsWithBody(releaseOf(family))
  const random = new Random(seed)
  const { part, known: smallestShare } = RUNS[family]
  const bodies = oddBodies(operations).filter((odd) => isForEveryEngine(odd) || random.chance(part))
  const tally = new Tally()
  await inParallel(
    operations.map((operation) => async () => {
      for (const odd of bodies.filter((one) => one.operation === operation)) {
        const sent = { method: operation.method, path: pathOf(operation, filterId), body: odd.text }
        const type = { 'content-type': 'application/json' }
        const told = await engine.ask({ ...sent, headers: type })
        const answer = await wire.ask({ ...sent, headers: { ...type, ...gateway.headers } })
        tally.add({ odd, engine: told, gateway: answer })
      }
    }),
  )
  const { refused, known, wrong, documented } = tally
  const knownShare = known / refused
  t.comment(`${bodies.length} bodies of ${operations.length} operations: the engine refuses ${refused} for`)
  t.comment(`their shape, and the gateway refuses ${known} of these (${(100 * knownShare).toFixed(1)} %)`)
  for (const one of tally.missed()) t.comment(one)
  t.same(wrong, [], 'bodies that the gateway refuses and the engine accepts')
  t.ok(knownShare >= smallestShare, `the gateway refuses ${knownShare} of these bodies`)
  t.same([...tally.read].toSorted(), operations.map(({ id }) => id).toSorted(), 'the engine reads each body')
  if (part === 1)
    t.same([...documented].toSorted(), Object.keys(DOCUMENTED).toSorted(), 'every documented reason applies')
}

/** Counts the responses. */
class Tally {
  /** The number of bodies that the engine refuses for their shape. */
  refused = 0
  /** The number of these that the gateway refuses. */
  known = 0
  readonly wrong: string[] = []
  /** The documented reasons for which the gateway has refused a body. */
  readonly documented = new Set<string>()
  /** The operations whose bodies the engine has read, because it has refused one. */
  readonly read = new Set<string>()
  readonly #missed = new Map<string, number>()

  add(responses: Responses): void {
    const { odd, engine, gateway } = responses
    const isRefused = codeOf(gateway) !== undefined
    if (isShapeRefusal(engine)) {
      this.refused += 1
      this.read.add(odd.operation.id)
      if (isRefused) this.known += 1
      else this.#missed.set(odd.operation.id, (this.#missed.get(odd.operation.id) ?? 0) + 1)
    } else if (isRefused ? !isSame(engine, gateway) : isNarrower(responses)) this.#addWrong(responses)
  }

  /** Returns the operations with the most bodies that only the engine refuses, with the numbers. */
  missed(): readonly string[] {
    const sorted = [...this.#missed].toSorted(([, one], [, other]) => other - one)
    return sorted.slice(0, MAX_SHOWN).map(([id, count]) => `${id}: ${count} are refused by the engine only`)
  }

  #addWrong(responses: Responses): void {
    const reasons = Object.keys(DOCUMENTED).filter((name) => DOCUMENTED[name]?.(responses) === true)
    for (const name of reasons) this.documented.add(name)
    const { odd, engine, gateway } = responses
    if (reasons.length > 0) return
    this.wrong.push(`${odd.operation.id} ${odd.text}: ${textOf(engine)} here ${textOf(gateway)}`)
  }
}

const MAX_SHOWN = 10

const REFUSED = /^{"type":"InvalidRequestException","message":"(?:"|Invalid query for resource type)/

/**
 * Returns whether the engine's JSON reader has refused the body. Which of the first two forms the engine uses depends on its process.
 * The third is the form for the query of a filter.
 */
function isShapeRefusal({ status, headers, bytes }: Told): boolean {
  if (status !== 400) return false
  if (headers['content-type']?.startsWith('text/plain') === true) return true
  return REFUSED.test(bytes.toString())
}

/** Returns whether only the gateway's response is an error. The second request that creates an entity with an id always fails. */
function isNarrower({ odd, engine, gateway }: Responses): boolean {
  const isRepeated = odd.operation.creates?.startsWith('body:') ?? false
  return engine.status < 400 && gateway.status >= 400 && !isRepeated
}

function isSame(engine: Told, gateway: Told): boolean {
  return engine.status === gateway.status && engine.bytes.equals(gateway.bytes)
}

function codeOf({ headers }: Told): unknown {
  return headers['x-gateway-error']
}

function textOf({ status, bytes }: Told): string {
  return `${status} ${bytes.toString().slice(0, 200)}`
}

/** Runs the tasks in their order, as many at once as there are connections. */
async function inParallel(tasks: readonly (() => Promise<void>)[]): Promise<void> {
  const queue = [...tasks]
  async function work(): Promise<void> {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) await task()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
}

/**
 * Returns a path whose ids do not exist, so that a write changes nothing. The engine looks up a key or a filter before it reads the
 * body, so these exist.
 */
function pathOf({ template }: Operation, filterId: string): string {
  const existing: Readonly<Record<string, string>> = {
    key: keyOf(template),
    tenantId: 'acme',
    ...(/^\/filter\/:id\/./.test(template) && { id: filterId }),
  }
  return template.replace(/:(\w+)/g, (_, name: string) => existing[name] ?? 'absent')
}

function keyOf(template: string): string {
  if (template.startsWith('/decision-definition/')) return 'discount'
  return template.endsWith('/suspended') ? 'other' : 'review'
}

/**
 * Deploys two processes and a decision without a tenant and for a tenant, and creates a filter. The process `review` is suspended, so
 * that no body starts an instance. The suspension of `other` changes with the bodies. Resolves to the id of the filter.
 */
async function deployModels({ base, make }: OpenEngine): Promise<string> {
  const review = await modelText('review.bpmn')
  const models = {
    'review.bpmn': review,
    'other.bpmn': review.replace('process id="review"', 'process id="other"'),
    'discount.dmn': await modelText('discount.dmn'),
  }
  for (const tenantId of [null, 'acme']) {
    const form = new FormData()
    if (tenantId !== null) form.append('tenant-id', tenantId)
    for (const [name, model] of Object.entries(models)) form.append(name, new Blob([model]), name)
    const { status } = await exchange(base, { method: 'POST', path: '/deployment/create', body: form })
    if (status !== 200) throw new Error(`The engine has responded ${status} to a deployment`)
  }
  await make('PUT /process-definition/suspended', { processDefinitionKey: 'review', suspended: true })
  const filter = await make('POST /filter/create', { resourceType: 'Task', name: 'all', query: {} })
  return String(Object(filter).id)
}

function modelText(name: string): Promise<string> {
  return readFile(new URL(`../resources/${name}`, import.meta.url), 'utf8')
}
