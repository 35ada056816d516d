import { setTimeout as sleep } from 'node:timers/promises'
import type { Operation } from '../../src/operations/table.ts'
import { idOf, rowsOf } from './admin.ts'
import { type Outcome, outcomeOf, type Seen, seenOf } from './compare.ts'
import { openGateway } from './gateway.ts'
import { type Answer, basicOf, type Client, createClient, jsonOf } from './http.ts'
import * as models from './models.ts'
import { type Side, SIDES } from './names.ts'
import { askOf, differenceOf, makeCaller, type Stage } from './phase.ts'
import type { Plan } from './plan.ts'
import {
  changesOf,
  isOfIdentity,
  recordNameOf,
  type RevocationCase,
  revocationCases,
} from './revocation-cases.ts'
import { formOf, startOne } from './world.ts'

/** The number of cases. Each holds a connection to both sides. */
const CASES = 14
/** Time after which all polls have arrived. */
const ARRIVED_MS = 1500
/** Time in which a gateway that compares its polls with the records each second has reviewed them. */
const REVIEWED_MS = 1500
/** Time from the start of the polls to their end. The changes take about 3 s of it. */
const POLLS_MS = 20_000
/** Time in which the gateway must unlock tasks that an engine has locked for a poll that has lost its permission. */
const UNLOCKED_MS = 20_000
/** Pause of a worker after an empty response. */
const PAUSE_MS = 200

/** The administrator of both engines, and of the gateway. */
const DEMO = basicOf('demo', 'demo')

interface Options {
  readonly seed: number
  readonly securedBase: string
  readonly operations: readonly Operation[]
}

/**
 * Compares what callers get whose permission changes while their polls wait. The same requests of an administrator change records,
 * memberships, users and passwords of the secured engine and of a gateway that reads them from the bare engine. Afterwards tasks
 * are created. Before and after, each caller also sends requests for which the gateway may remember a response, records or a password.
 */
export async function runRevocations(
  stage: Stage,
  { seed, securedBase, operations }: Options,
): Promise<void> {
  const cases = revocationCases(seed, CASES)
  for (const one of cases) await prepare(stage, one)
  const { adminGroup, implied, engineSettings } = stage
  const opened = await openGateway(stage.bareBase, {
    sets: [],
    records: [],
    source: 'engine',
    implied,
    adminGroup,
    ...(engineSettings !== undefined && { engineSettings }),
  })
  const clients = { secured: createClient(securedBase), bare: createClient(opened.base) }
  // The polls have their own connections, which they hold.
  const polling = { secured: createClient(securedBase), bare: createClient(opened.base) }
  const run = new RevocationRun(stage, operations, { clients, polling })
  try {
    for (const one of cases) await run.readAll(one)
    const polls = cases.map((one) => run.poll(one))
    await sleep(ARRIVED_MS)
    for (const one of cases) {
      await run.change(one)
      if (one.isImmediate) await createTask(stage, one)
    }
    await sleep(REVIEWED_MS)
    for (const one of cases) if (!one.isImmediate) await createTask(stage, one)
    await Promise.all(polls)
    for (const one of cases) {
      await run.compareLocks(one)
      await run.readAll(one)
    }
  } finally {
    await Promise.all([clients, polling].flatMap((of) => SIDES.map((side) => of[side].close())))
    await opened.close()
  }
}

/** Deploys the definition of a case and creates its caller and its records, at both sides. */
async function prepare(stage: Stage, one: RevocationCase): Promise<void> {
  const { admins, names } = stage
  const { key, tenant, records } = one
  const files = { [`${key}.bpmn`]: models.externalTask(key, key) }
  await makeCaller(stage, one)
  for (const side of SIDES) {
    const form = formOf({ name: key, ...(tenant !== null && { tenant }), files })
    await admins[side].upload('/deployment/create', form)
    for (const [at, record] of records.entries()) {
      const id = idOf(await admins[side].call('POST', '/authorization/create', record))
      names.define(side, recordNameOf(one, at), id)
    }
  }
}

async function createTask({ admins }: Stage, { key, tenant }: RevocationCase): Promise<void> {
  const variables = { secret: { value: key, type: 'String' } }
  const of = { businessKey: key, variables, ...(tenant !== null && { tenant }) }
  await Promise.all(SIDES.map((side) => startOne(admins[side], key, of)))
}

/** Clients of the secured engine and of the gateway. */
type Clients = Readonly<Record<Side, Client>>
/** Responses of the secured engine and of the gateway. */
type Answers = Readonly<Record<Side, Answer>>

class RevocationRun {
  readonly #stage: Stage
  readonly #operations: readonly Operation[]
  readonly #clients: Clients
  readonly #polling: Clients
  /** Cases in which the secured engine has delivered a task and the gateway has not, because the caller is no longer the same. */
  readonly #stricter = new Set<RevocationCase>()

  constructor(
    stage: Stage,
    operations: readonly Operation[],
    { clients, polling }: { readonly clients: Clients; readonly polling: Clients },
  ) {
    this.#stage = stage
    this.#operations = operations
    this.#clients = clients
    this.#polling = polling
  }

  /** Compares requests for which the gateway may remember a response, records or the password of the caller. */
  async readAll(one: RevocationCase): Promise<void> {
    const { key, tenant } = one
    const of = tenant === null ? '' : '/tenant-id/:tenantId'
    await this.#compare(
      one,
      this.#planOf(`GET /process-definition/key/:key${of}/xml`, { key, tenantId: tenant }),
    )
    await this.#compare(one, this.#planOf('GET /external-task/topic-names'))
    await this.#compare(
      one,
      this.#planOf('GET /process-instance/count', {}, { query: `?processDefinitionKey=${key}` }),
    )
    await this.#compare(one, this.#pollOf(one, 0))
  }

  /** Polls at both sides until a task, an error or the end, as a worker does, and compares the last responses. */
  async poll(one: RevocationCase): Promise<void> {
    const end = performance.now() + POLLS_MS
    const last = async (side: Side): Promise<Answer> => {
      for (;;) {
        const plan = this.#pollOf(one, Math.max(1, Math.round(end - performance.now())))
        const answer = await this.#send(this.#polling[side], { plan, side, credentials: credentialsOf(one) })
        const isOver = performance.now() > end - PAUSE_MS
        if (answer.status !== 200 || isOver || rowsOf(jsonOf(answer)).length > 0) return answer
        await sleep(PAUSE_MS)
      }
    }
    const [secured, bare] = await Promise.all([last('secured'), last('bare')])
    if (this.#report(one, this.#pollOf(one, POLLS_MS), { secured, bare }) === 'stricter')
      this.#stricter.add(one)
  }

  /** Sends the same change as an administrator to both sides, and compares the responses. */
  async change(one: RevocationCase): Promise<void> {
    for (const { route, params, body } of changesOf(one)) {
      const plan = this.#planOf(route, params, { body })
      const [secured, bare] = await Promise.all(
        SIDES.map((side) => this.#send(this.#clients[side], { plan, side, credentials: DEMO })),
      )
      if (secured !== undefined && bare !== undefined) this.#report(one, plan, { secured, bare })
    }
  }

  /** Compares which tasks are locked. A task that the gateway did not deliver must become available for other workers. */
  async compareLocks(one: RevocationCase): Promise<void> {
    const plan = this.#planOf('GET /external-task', {}, { query: `?topicName=${one.key}` })
    const { admins } = this.#stage
    const read = async (side: Side): Promise<Answer> => admins[side].attempt('GET', plan.path)
    const end = performance.now() + UNLOCKED_MS
    const secured = await read('secured')
    const isExpected = (bare: Answer) => isLocked(bare) === (isLocked(secured) && !this.#stricter.has(one))
    let bare = await read('bare')
    while (!isExpected(bare) && performance.now() < end) {
      await sleep(PAUSE_MS)
      bare = await read('bare')
    }
    this.#add(one, plan, { outcome: isExpected(bare) ? 'equal' : 'differs', secured, bare })
  }

  #pollOf({ key }: RevocationCase, waitMs: number): Plan {
    const body = {
      workerId: key,
      maxTasks: 1,
      ...(waitMs > 0 && { asyncResponseTimeout: waitMs }),
      topics: [{ topicName: key, lockDuration: 600_000 }],
    }
    return this.#planOf('POST /external-task/fetchAndLock', {}, { body })
  }

  /** @throws Error if the table has no such operation */
  #planOf(
    route: string,
    params: Readonly<Record<string, string | null>> = {},
    { query = '', body }: { readonly query?: string; readonly body?: unknown } = {},
  ): Plan {
    const operation = this.#operations.find(({ method, template }) => `${method} ${template}` === route)
    if (operation === undefined) throw new Error(`The table has no ${route}`)
    const path = operation.template.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '') + query
    const rest = { uses: null, keeps: false, leaves: [] }
    return { operation, kind: 'revoked', path, ...(body !== undefined && { body }), ...rest }
  }

  #send(
    client: Client,
    { plan, side, credentials }: { readonly plan: Plan; readonly side: Side; readonly credentials: string },
  ): Promise<Answer> {
    return client.send(askOf(plan, this.#stage.names, side), credentials)
  }

  async #compare(one: RevocationCase, plan: Plan): Promise<void> {
    const send = (side: Side) =>
      this.#send(this.#clients[side], { plan, side, credentials: credentialsOf(one) })
    const [secured, bare] = await Promise.all([send('secured'), send('bare')])
    this.#report(one, plan, { secured, bare })
  }

  #report(one: RevocationCase, plan: Plan, answers: Answers): Outcome {
    const seen = this.#seenOf(plan, answers)
    const outcome = revokedOutcomeOf(one, plan, seen)
    this.#add(one, plan, { outcome, ...answers })
    return outcome
  }

  #add(
    one: RevocationCase,
    plan: Plan,
    { outcome, ...answers }: Answers & { readonly outcome: Outcome },
  ): void {
    const seen = this.#seenOf(plan, answers)
    this.#stage.report.add(plan, outcome, () => differenceOf(one, plan, { outcome, ...seen }))
  }

  #seenOf(plan: Plan, { secured, bare }: Answers): { readonly engine: Seen; readonly gateway: Seen } {
    const { names } = this.#stage
    return {
      engine: seenOf(secured, plan, { names, side: 'secured' }),
      gateway: seenOf(bare, plan, { names, side: 'bare' }),
    }
  }
}

/** Returns the outcome of a comparison. Two refusals of the credentials are equal, whatever their bodies are. */
export function revokedOutcomeOf(
  { change }: Pick<RevocationCase, 'change'>,
  plan: Plan,
  { engine, gateway }: { readonly engine: Seen; readonly gateway: Seen },
): Outcome {
  if (engine.status === 401 && gateway.status === 401) return 'equal'
  const outcome = outcomeOf(engine, gateway, plan)
  const isEmpty = Array.isArray(gateway.body) && gateway.body.length === 0
  // The gateway keeps a repeated wrong password from the engine for the time in which the engine would refuse any password.
  const isLess = gateway.status === 401 || gateway.code === 'GW_THROTTLED' || isEmpty
  return outcome !== 'equal' && outcome !== 'wider' && isOfIdentity(change) && isLess ? 'stricter' : outcome
}

function credentialsOf({ user, password }: RevocationCase): string {
  return basicOf(user, password)
}

function isLocked(answer: Answer): boolean {
  return rowsOf(jsonOf(answer)).some(({ workerId }) => typeof workerId === 'string')
}
