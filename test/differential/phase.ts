import type { Release } from '../../src/operations/published/releases.ts'
import { type Admin, idOf, type Json, textOf } from './admin.ts'
import { REMAINS } from './bundles.ts'
import { outcomeOf, seenOf } from './compare.ts'
import { DEFAULT_SETTINGS, type EngineSettings } from './engine-settings.ts'
import { openGateway } from './gateway.ts'
import { type Answer, type Ask, basicOf, type Client, createClient, jsonOf } from './http.ts'
import { mapTexts, type Names, type Side, SIDES } from './names.ts'
import { isPageable, sendPaged } from './paged.ts'
import { isRead, type Plan } from './plan.ts'
import { isImplied, mirrorRecords, writeRecord } from './records.ts'
import type { Report } from './report.ts'
import type { CallerSet, RecordText } from './sets.ts'
import { Stock } from './stock.ts'
import { inParallel } from './in-parallel.ts'
import { ALL_LEFT, type Left, sweep } from './sweep.ts'

export interface Stage {
  readonly admins: Readonly<Record<Side, Admin>>
  readonly secured: Client
  readonly bareBase: string
  readonly names: Names
  readonly report: Pick<Report, 'add'>
  /** If true, the gateway does not get the records that a secured engine creates automatically, and must derive their grants. */
  readonly implied: boolean
  readonly engineSettings?: EngineSettings
  readonly adminGroup: string
  readonly release: Release
  readonly scannedItems?: number | null
  readonly pageSize?: number | null
  /** Where the gateway gets users and records. Default: from files. */
  readonly source?: 'engine'
}

/** The number of read requests in flight. Writes are sent one after the other. */
const IN_FLIGHT = 12

/** Creates some callers and their records and compares their requests. Afterwards, the world is as before. */
export async function runPhase(
  stage: Stage,
  sets: readonly CallerSet[],
  global: readonly RecordText[],
): Promise<void> {
  const { names, engineSettings = DEFAULT_SETTINGS } = stage
  const before = names.all()
  const records = await makeCallers(stage, sets, global)
  const generated = sets.flatMap((set) => set.records)
  const isKnown = (record: Json): boolean =>
    !isImplied(record, engineSettings) || isGenerated(record, generated)
  const opened = await openGateway(stage.bareBase, {
    sets,
    records: stage.implied ? records.filter(isKnown) : records,
    implied: stage.implied,
    engineSettings,
    adminGroup: stage.adminGroup,
    release: stage.release,
    scannedItems: stage.scannedItems ?? null,
    ...(stage.source !== undefined && { source: stage.source }),
  })
  const gateway = createClient(opened.base)
  const runner = new Runner(stage, gateway)
  const asked = sets.flatMap((set) => set.plans.map((plan) => ({ set, plan })))
  const isEarly = ({ set, plan }: (typeof asked)[number]): boolean => isRead(plan) && set.inOrder !== true
  try {
    await inParallel(asked.filter(isEarly), IN_FLIGHT, ({ set, plan }) => runner.run(set, plan))
    for (const one of asked) if (!isEarly(one)) await runner.run(one.set, one.plan)
  } finally {
    await gateway.close()
    await opened.close()
  }
  await tidy(stage, sets, before)
}

/** Creates callers with their links and records in both worlds. Returns all records of the world. */
export async function makeCallers(
  stage: Pick<Stage, 'admins' | 'names'>,
  sets: readonly CallerSet[],
  global: readonly RecordText[],
): Promise<readonly Json[]> {
  const { admins, names } = stage
  await inParallel(sets, 6, (set) => makeCaller(stage, set))
  for (const { filters = {} } of sets) await makeFilters(stage, filters)
  await makeLinks(stage, sets)
  await inParallel([...global, ...sets.flatMap(({ records }) => records)], 8, (record) =>
    writeRecord(admins.secured, record, { names, side: 'secured' }),
  )
  return mirrorRecords(admins, names)
}

/** Returns whether a record was generated for a caller, although it looks like a record that the engine creates automatically. */
function isGenerated({ userId, groupId, resourceType }: Json, generated: readonly RecordText[]): boolean {
  return generated.some(
    (one) =>
      one.type === 1 &&
      one.resourceType === resourceType &&
      one.resourceId !== '*' &&
      (one.userId ?? one.groupId) === (userId ?? groupId),
  )
}

export async function makeCaller(
  { admins, names }: Pick<Stage, 'admins' | 'names'>,
  set: CallerSet,
): Promise<void> {
  await Promise.all(SIDES.map((side) => makeCallerAt(side, { admin: admins[side], names, set })))
}

async function makeCallerAt(
  side: Side,
  { admin: { call }, names, set }: { admin: Admin; names: Names; set: CallerSet },
): Promise<void> {
  const { user, password, ownGroups, joins, tenants } = set
  const profile = { id: user, firstName: 'Test', lastName: user, email: 'test@test.example' }
  await call('POST', '/user/create', { profile, credentials: { password } })
  names.define(side, `caller.${user}`, user)
  for (const id of ownGroups) {
    await call('POST', '/group/create', { id, name: id, type: 'SET' })
    names.define(side, `callers.${id}`, id)
  }
  for (const id of [...ownGroups, ...joins]) await call('PUT', `/group/${id}/members/${user}`)
  for (const id of tenants) await call('PUT', `/tenant/${id}/user-members/${user}`)
  await changeDirectory(side, call, set)
}

/**
 * Makes the directory of one side different from that of the gateway. Users and groups are created before they are deleted, so that the
 * operation logs of both sides have the same entries at the end of the phase. Before, one log has more deletions.
 */
async function changeDirectory(
  side: Side,
  call: Admin['call'],
  { user, ownGroups, joins, directory }: CallerSet,
): Promise<void> {
  if (directory === undefined || side !== (directory === 'bare' ? 'secured' : 'bare')) return
  if (directory !== 'elsewhere') {
    await call('DELETE', `/user/${user}`)
    for (const id of ownGroups) await call('DELETE', `/group/${id}`)
    return
  }
  for (const id of [...ownGroups, ...joins]) await call('DELETE', `/group/${id}/members/${user}`)
  for (const id of OTHER_GROUPS) await call('PUT', `/group/${id}/members/${user}`)
}

/** The groups that a user of the directory `elsewhere` has in the bare engine. */
const OTHER_GROUPS = ['readers', 'staff']

async function makeFilters(
  { admins, names }: Pick<Stage, 'admins' | 'names'>,
  filters: NonNullable<CallerSet['filters']>,
): Promise<void> {
  for (const [name, body] of Object.entries(filters))
    for (const side of SIDES)
      names.define(side, name, idOf(await admins[side].call('POST', '/filter/create', body)))
}

/** Creates the links one after the other, because two concurrent links to one task would collide. */
async function makeLinks(
  { admins, names }: Pick<Stage, 'admins' | 'names'>,
  sets: readonly CallerSet[],
): Promise<void> {
  for (const { task, userId, groupId } of sets.flatMap(({ links }) => links)) {
    const link = { userId: userId ?? null, groupId: groupId ?? null, type: 'candidate' }
    for (const side of SIDES)
      await admins[side].call('POST', `/task/${names.idOf(side, task)}/identity-links`, link)
  }
}

async function tidy(
  { admins, names }: Stage,
  sets: readonly CallerSet[],
  before: ReadonlySet<string>,
): Promise<void> {
  for (const name of names.all()) if (!before.has(name)) names.drop(name)
  for (const { task, userId, groupId } of sets.flatMap(({ links }) => links)) {
    const link = { userId: userId ?? null, groupId: groupId ?? null, type: 'candidate' }
    for (const side of SIDES)
      await admins[side].attempt('POST', `/task/${names.idOf(side, task)}/identity-links/delete`, link)
  }
  await Promise.all(
    SIDES.map((side) => sweep(admins[side], ALL_LEFT, (id) => names.nameOf(side, id) !== undefined)),
  )
}

class Runner {
  readonly #stage: Stage
  readonly #gateway: Client
  readonly #stock: Stock

  constructor(stage: Stage, gateway: Client) {
    this.#stage = stage
    this.#gateway = gateway
    this.#stock = new Stock(stage.admins, stage.names)
  }

  async run(set: CallerSet, plan: Plan): Promise<void> {
    if (plan.uses !== null) await this.#stock.prepare(plan.uses)
    const credentials = basicOf(set.user, set.password)
    const { secured, names, report, pageSize = null } = this.#stage
    const send = (ask: Ask) => this.#gateway.send(ask, credentials)
    const ask = askOf(plan, names, 'bare')
    const answers = await Promise.all([
      secured.send(askOf(plan, names, 'secured'), credentials),
      pageSize !== null && isPageable(plan) ? sendPaged(send, ask, pageSize) : send(ask),
    ])
    if (answers.some(({ status }) => status === 401) && plan.operation.id !== 'isUserAuthorized')
      throw new Error(
        `${set.user} was not let in: ${plan.operation.method} ${plan.path}: ${answers.map(({ status }) => status).join()}`,
      )
    const engine = seenOf(answers[0], plan, { names, side: 'secured' })
    const gateway = seenOf(answers[1], plan, { names, side: 'bare' })
    const outcome = outcomeOf(engine, gateway, plan)
    report.add(plan, outcome, () => differenceOf(set, plan, { outcome, engine, gateway }))
    if (plan.defines !== undefined) this.#define(plan.defines, answers)
    if (!isRead(plan)) await this.#restore(plan, answers)
  }

  /** Names the created entity. If it was not created, the name is that of an entity that does not exist. */
  #define(name: string, answers: readonly [Answer, Answer]): void {
    for (const [at, side] of SIDES.entries()) {
      const answer = answers[at]
      const id = answer !== undefined && answer.status < 300 ? textOf(jsonOf(answer), 'id') : 'nosuch'
      this.#stage.names.define(side, name, id)
    }
  }

  async #restore(plan: Plan, answers: readonly Answer[]): Promise<void> {
    const done = answers.map(({ status }) => status < 300)
    if (!done.includes(true)) return
    const left = new Set<Left>(plan.leaves)
    if (plan.uses !== null && (!plan.keeps || done.includes(false))) {
      this.#stock.use(plan.uses)
      for (const kind of REMAINS[plan.uses.recipe]) left.add(kind)
    }
    const { admins, names } = this.#stage
    const isNew = new Set(names.ofKind('new'))
    const keeps = (side: Side) => (id: string) => {
      const name = names.nameOf(side, id)
      return (name !== undefined && !isNew.has(name)) || this.#stock.isLive(side, id)
    }
    await Promise.all(SIDES.map((side) => sweep(admins[side], left, keeps(side))))
  }
}

export function askOf(
  { operation, path, body, form, accept, headers, raw }: Plan,
  names: Names,
  side: Side,
): Ask {
  return {
    method: operation.method,
    ...(accept !== undefined && { accept }),
    ...(headers !== undefined && { headers }),
    path: path.replace(/<([\w.*@-]+)>/g, (_, name: string) => encodeURIComponent(names.idOf(side, name))),
    ...(body !== undefined && { body: mapTexts(body, (text) => names.reveal(side, text)) }),
    ...(form !== undefined && { form }),
    ...(raw !== undefined && { raw }),
  }
}

export function differenceOf(
  { index, user, ownGroups, joins, tenants, links, records }: CallerSet,
  { operation, kind, path, body, accept, headers }: Plan,
  seen: {
    outcome: ReturnType<typeof outcomeOf>
    engine: ReturnType<typeof seenOf>
    gateway: ReturnType<typeof seenOf>
  },
) {
  return {
    operation: operation.id,
    kind,
    set: index,
    caller: { user, ownGroups, joins, tenants, links },
    records,
    request: {
      method: operation.method,
      path,
      ...(body !== undefined && { body }),
      ...(accept !== undefined && { accept }),
      ...(headers !== undefined && { headers }),
    },
    ...seen,
  }
}
