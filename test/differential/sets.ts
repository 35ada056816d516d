import { RESOURCES, type ResourceName } from '../../src/operations/permissions.ts'
import type { Operation } from '../../src/operations/table.ts'
import { nineteen } from '../engine/nineteen.ts'
import type { Names } from './names.ts'
import { oddPlanOf } from './odd.ts'
import { type Asker, permissionChecksOf, idsAbout, type OddKind, type Plan, planOf } from './plan.ts'
import { Random } from './random.ts'
import { hasHal } from '../../src/request/accept.ts'

/** An authorization record with names. The names are replaced with ids of an engine when the record is created. */
export interface RecordText {
  readonly type: 0 | 1 | 2
  readonly userId: string | null
  readonly groupId: string | null
  readonly resourceType: number
  readonly resourceId: string
  readonly permissions: readonly string[]
}

/** One caller with its groups, tenants, links, records and requests. */
export interface CallerSet extends Asker {
  readonly index: number
  /** Groups that were created for this set. `joins` contains groups of the world. */
  readonly ownGroups: readonly string[]
  readonly joins: readonly string[]
  readonly tenants: readonly string[]
  /** Tasks for which the caller, or one of its own groups, is a candidate. */
  readonly links: readonly { readonly task: string; readonly userId?: string; readonly groupId?: string }[]
  readonly records: readonly RecordText[]
  readonly plans: readonly Plan[]
  /** Where the user and its groups exist besides the gateway's directory. Default: in both engines, with the same groups. */
  readonly directory?: Directory
  /** The names of the filters that an administrator creates for this set, with their contents. */
  readonly filters?: Readonly<Record<string, unknown>>
  /** The plans use what earlier plans of the phase have created. They are sent one after the other. */
  readonly inOrder?: boolean
}

/**
 * A directory that is not the same everywhere. The secured engine always has the users and groups of the gateway. `gateway`: the bare
 * engine does not know the user and the user's own groups. `elsewhere`: in the bare engine, the user has other groups. `bare`: only the
 * bare engine knows the user.
 */
export type Directory = 'gateway' | 'elsewhere' | 'bare'

export const PASSWORD = 'secret'
const FOCUSED = 9
const ASKED_OF_EACH = 4
const OTHERS = 30

/** The input of the generators: the names of the world, the seed, and the operations of the run. */
export interface Choice {
  readonly names: Names
  readonly seed: number
  readonly operations: readonly Operation[]
  readonly adminGroup: string
}

/** Returns the set with this index. It is the same in every run with the same seed. */
export function setOf(index: number, { names, seed, operations, adminGroup }: Choice): CallerSet {
  const random = Random.of(seed, index)
  const user = `user${index}`
  const ownGroups = [`group${index}a`, `group${index}b`].slice(0, random.below(3))
  const asker = { user, group: ownGroups[0] ?? 'editors', password: PASSWORD }
  const focus = random.sample(weighted(operations), FOCUSED)
  const focused = focus.map((operation) =>
    Array.from({ length: ASKED_OF_EACH }, () => planOf(operation, names, { random, asker })),
  )
  const others = random
    .sample(weighted(operations), OTHERS)
    .map((operation) => planOf(operation, names, { random, asker }))
  const writer = new RecordWriter({ random, names, user, groups: ownGroups })
  const plans = [...focused.flat(), ...others]
  return {
    ...asker,
    index,
    ownGroups,
    joins: random
      .sample(['editors', 'readers', 'staff'], random.chance(0.3) ? 1 : 0)
      .concat(random.chance(0.04) ? [adminGroup] : []),
    tenants: random.chance(0.3) ? [random.pick(['acme', 'acme', 'globex'])] : [],
    links: linksOf(random, names, { user, ownGroups }),
    records: writer.write(focused),
    plans: [
      ...plans,
      ...oddPlansOf(plans, { names, operations, asker, random: Random.of(seed, index + ODD) }),
    ],
  }
}

/** Odd requests have their own random generator, so that plain requests do not depend on them. */
const ODD = 2_000_000
const ODD_OF_EACH = { accept: 5, spelling: 10, selector: 3, headers: 3 } as const
const TRIES = 200

interface Oddly {
  readonly names: Names
  readonly operations: readonly Operation[]
  readonly asker: Asker
  readonly random: Random
}

/** Returns other spellings of the caller's plain requests, for which records exist, and requests with HAL responses or queries. */
function oddPlansOf(plans: readonly Plan[], { names, operations, asker, random }: Oddly): readonly Plan[] {
  const halves = operations.filter(hasHal)
  const selecting = operations.filter(({ selectors }) => selectors !== undefined)
  const more = (from: readonly Operation[]): readonly Plan[] =>
    from.length === 0 ? [] : [planOf(random.pick(from), names, { random, asker })]
  const found: Plan[] = []
  const add = (kind: OddKind, from: () => readonly Plan[]): void => {
    for (let tried = 0, added = 0; tried < TRIES && added < ODD_OF_EACH[kind]; tried += 1) {
      const [plan] = from()
      const odd = plan === undefined ? null : oddPlanOf(plan, kind, random)
      if (odd === null) continue
      found.push(odd)
      added += 1
    }
  }
  add('accept', () => (random.chance(0.5) ? more(halves) : random.sample(plans, 1)))
  add('spelling', () => random.sample(plans, 1))
  add('selector', () => more(selecting))
  add('headers', () => random.sample(plans, 1))
  return found
}

/** Returns records for all users, for one phase. */
export function globalRecords(index: number, { names, seed, operations }: Choice): readonly RecordText[] {
  const random = Random.of(seed, 1_000_000 + index)
  const writer = new RecordWriter({ random, names, user: '*', groups: [] })
  const asker = { user: 'nobody', group: 'editors', password: PASSWORD }
  const plans = random.sample(operations, 3).map((operation) => [planOf(operation, names, { random, asker })])
  const records = writer.write(plans).slice(0, 1 + random.below(3))
  const seen = new Set<string>()
  return records
    .map((record) => ({ ...record, type: 0 as const, userId: '*', groupId: null }))
    .filter(({ resourceType, resourceId }) => {
      const key = `${resourceType} ${resourceId}`
      return !seen.has(key) && seen.add(key) !== undefined
    })
}

const NINETEEN = new Set(nineteen.map(({ operation }) => operation))

export function isOfNineteen({ method, template }: Operation): boolean {
  const path = template.replace(/:(\w+)/g, (_, name: string) => `{${name.replace('tenantId', 'tenant-id')}}`)
  return NINETEEN.has(`${method} ${path}`)
}

function weighted(operations: readonly Operation[]): readonly Operation[] {
  return operations.flatMap((operation) =>
    isOfNineteen(operation) ? [operation, operation, operation, operation] : [operation],
  )
}

function linksOf(
  random: Random,
  names: Names,
  { user, ownGroups }: { user: string; ownGroups: readonly string[] },
) {
  if (!random.chance(0.25)) return []
  const tasks = names.ofKind('task').filter((name) => !name.includes('Nurse'))
  const [group] = ownGroups
  const subject = group !== undefined && random.chance(0.5) ? { groupId: group } : { userId: user }
  return random.sample(tasks, 1).map((task) => ({ task, ...subject }))
}

interface Writing {
  readonly random: Random
  readonly names: Names
  readonly user: string
  readonly groups: readonly string[]
}

export class RecordWriter {
  readonly #about: Writing
  readonly #records = new Map<string, RecordText>()
  #revoking = false

  constructor(about: Writing) {
    this.#about = about
  }

  /** Returns records that grant slightly less, exactly as much, or more than the requests need. Sometimes it returns none, or broad grants. */
  write(plans: readonly (readonly Plan[])[]): readonly RecordText[] {
    const { random } = this.#about
    this.#revoking = random.chance(0.4)
    if (random.chance(0.05)) return []
    if (random.chance(0.25)) this.#writeBroad()
    for (const some of plans) if (random.chance(0.75)) this.#writeFor(random.pick(some))
    while (this.#records.size === 0 || random.chance(0.5)) this.#writeAny()
    return [...this.#records.values()]
  }

  #writeBroad(): void {
    const { random } = this.#about
    for (const resource of NAMES_OF_RESOURCES)
      if (random.chance(0.85)) this.#add({ resource, resourceId: '*', permissions: ['ALL'], type: 1 })
  }

  #writeFor(plan: Plan): void {
    const { random, names } = this.#about
    for (const atoms of permissionChecksOf(plan.operation)) {
      if (!random.chance(0.8)) continue
      const [name = ''] = random.pick(atoms).split(' ')
      const [resource = '', permission = ''] = name.split('.')
      if (!isResource(resource)) continue
      const ids = idsAbout(plan, names, resource)
      const resourceId = ids.length > 0 && random.chance(0.6) ? random.pick(ids) : this.#anyId(resource)
      this.#add({
        resource,
        resourceId,
        permissions: this.#permissions(resource, permission),
        type: this.#type(),
      })
    }
  }

  #writeAny(): void {
    const resource = this.#about.random.pick(NAMES_OF_RESOURCES)
    const permission = this.#about.random.pick(permissionsOf(resource))
    const resourceId = this.#anyId(resource)
    this.#add({
      resource,
      resourceId,
      permissions: this.#permissions(resource, permission),
      type: this.#type(),
    })
  }

  #add({
    resource,
    resourceId,
    permissions,
    type,
  }: {
    resource: ResourceName
    resourceId: string
    permissions: readonly string[]
    type: 1 | 2
  }): void {
    const { random, user, groups } = this.#about
    const group = groups.length > 0 && random.chance(0.4) ? random.pick(groups) : null
    const record = {
      type,
      userId: group === null ? user : null,
      groupId: group,
      resourceType: RESOURCES[resource].id,
      resourceId,
      permissions,
    }
    const key = `${type} ${group ?? user} ${resource} ${resourceId}`
    if (!this.#records.has(key)) this.#records.set(key, record)
  }

  #type(): 1 | 2 {
    return this.#revoking && this.#about.random.chance(0.35) ? 2 : 1
  }

  #permissions(resource: ResourceName, permission: string): readonly string[] {
    const { random } = this.#about
    if (random.chance(0.1)) return ['ALL']
    const chosen = random.chance(0.93) ? [permission] : []
    if (random.chance(0.35)) chosen.push(random.pick(permissionsOf(resource)))
    return [...new Set(chosen)]
  }

  #anyId(resource: ResourceName): string {
    const { random, names } = this.#about
    if (random.chance(0.6)) return '*'
    const ids = idsOf(resource, names)
    return ids.length === 0 ? '*' : random.pick(ids)
  }
}

const isResource = (name: string): name is ResourceName => Object.hasOwn(RESOURCES, name)
const NAMES_OF_RESOURCES = Object.keys(RESOURCES).filter(isResource)

function permissionsOf(resource: ResourceName): readonly string[] {
  return Object.keys(RESOURCES[resource].permissions)
}

/** The kinds of names whose ids may occur in the records of a resource. A key represents its definitions. */
const KINDS: Readonly<Partial<Record<ResourceName, readonly string[]>>> = {
  USER: ['user'],
  GROUP: ['group'],
  GROUP_MEMBERSHIP: ['group'],
  AUTHORIZATION: ['auth'],
  FILTER: ['filter'],
  PROCESS_DEFINITION: ['pdkey'],
  TASK: ['task'],
  PROCESS_INSTANCE: ['pi'],
  HISTORIC_PROCESS_INSTANCE: ['pi', 'ended'],
  HISTORIC_TASK: ['task'],
  DEPLOYMENT: ['deployment'],
  DECISION_DEFINITION: ['ddkey'],
  TENANT: ['tenant'],
  TENANT_MEMBERSHIP: ['tenant'],
  BATCH: ['batch'],
  DECISION_REQUIREMENTS_DEFINITION: ['drdkey'],
}

function idsOf(resource: ResourceName, names: Names): readonly string[] {
  if (resource === 'OPERATION_LOG_CATEGORY') return ['Admin', 'Operator', 'TaskWorker']
  return (KINDS[resource] ?? []).flatMap((kind) => names.ofKind(kind).map((name) => `<${name}>`))
}
