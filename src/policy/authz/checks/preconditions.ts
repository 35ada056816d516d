import type { EngineVerdict, GatewayError } from '../../../errors.ts'
import type { Absent, First, Foreign, When } from '../../../operations/notation.ts'
import type { Operation } from '../../../operations/table.ts'
import { absentAnswer } from './not-found.ts'
import { applies } from './conditions.ts'
import { type Reference, referenceOf } from './permission-checks.ts'
import { argumentOf, type CompiledCheck, factsOf, type Ground } from './check.ts'
import type { Principal } from '../../authn/credentials.ts'
import type { Facts, LookUp } from '../entities/lookup.ts'
import { LOOKUPS } from '../entities/lookup.ts'
import { andThen, type Soon } from '../../../request/maybe-promise.ts'

/** What the engine loads before it asks for any permission, and says when it must not or cannot. */
export interface Entities {
  readonly list: readonly Loaded[]
  readonly first: readonly First[]
  /** Whether a tenant may be concerned: of an entity, or of what is to be made. */
  readonly isTenanted: boolean
  /** Whether another tenant's entity is left out of the answer, once permission is granted. */
  readonly isLate: boolean
}

interface Loaded {
  readonly reference: Reference
  readonly when: When | null
  readonly absent: Absent | null
  readonly foreign: Foreign | null
}

/** @throws Error on an entity that the notation does not know */
export function entitiesOf(operation: Operation, checks: readonly CompiledCheck[]): Entities {
  const { entity, first = [] } = operation
  const [absent, foreign] = [operation.absent ?? null, operation.foreign ?? null]
  const list: Loaded[] = []
  if (entity !== undefined) list.push({ reference: referenceOf(entity), when: null, absent, foreign })
  for (const check of checks) {
    for (const { fact } of check.permissions) {
      if (fact.from !== 'lookup' || fact.by.from === 'each') continue
      if (list.some(({ reference }) => isSame(reference, fact))) continue
      list.push({ reference: fact, when: check.when, absent: check.absent, foreign: check.foreign })
    }
  }
  const tenanted = list.filter(({ reference, foreign: said }) => said !== 'ignored' && hasTenant(reference))
  return {
    list,
    first,
    isTenanted: tenanted.length > 0 || first.some(({ when }) => isOfTenant(when)),
    isLate: tenanted.some(({ foreign: said }) => said === LATE) || first.some(({ late }) => late),
  }
}

function isSame(one: Reference, other: Reference): boolean {
  return one.lookup === other.lookup && one.by.from === other.by.from && one.by.name === other.by.name
}

/** What is foreign is not refused, it has no rows. */
const LATE = '200 []'

function isOfTenant(when: When): boolean {
  return when.endsWith(' of another tenant')
}

/** Whether a look-up says whose tenant the entity is. */
export function hasTenant({ lookup }: Pick<Reference, 'lookup'>): boolean {
  const { members, tenant } = LOOKUPS[lookup]
  return tenant !== undefined || members.includes('tenantId')
}

export interface SettleOptions {
  readonly lookUp: LookUp
  /** Whose entities are there for the caller, beside those of no tenant; null: every tenant's. */
  readonly tenants: readonly string[] | null
}

/** Null: nothing speaks against it. */
type Said = EngineVerdict | GatewayError | null

type Found = Loaded & { readonly facts: Facts }

/** Looks in the engine's order at what is asked about. @throws GatewayError when a look-up fails, or rejects with it */
export function settle({ list, first }: Entities, ground: Ground, options: SettleOptions): Soon<Said> {
  const { lookUp, tenants } = options
  const found: Found[] = []
  const lookFrom = (at: number): Soon<Said> => {
    const one = list[at]
    if (one === undefined) return concluded(first, found, { ground, tenants })
    // What an entity itself decides is not known yet.
    if (one.when?.startsWith('body:') && applies(one.when, ground) === false) return lookFrom(at + 1)
    return andThen(learn(one.reference, ground, lookUp), (facts) => {
      if (facts === null && one.absent !== null) return absentAnswer(one.absent, ground)
      if (facts) found.push({ ...one, facts })
      return lookFrom(at + 1)
    })
  }
  return lookFrom(0)
}

function concluded(
  first: readonly First[],
  found: readonly Found[],
  { ground, tenants }: Pick<SettleOptions, 'tenants'> & { readonly ground: Ground },
): Said {
  const said = spokenOf(first, ground, { tenants, late: false })
  if (said !== null) return said
  const anothers = found.find((one) => isRefused(one, tenants))
  if (anothers === undefined) return null
  const { foreign, absent } = anothers
  return absentAnswer(foreign === 'ignored' ? absent : (foreign ?? absent), ground)
}

function isRefused({ foreign, facts }: Found, tenants: readonly string[] | null): boolean {
  return foreign !== 'ignored' && foreign !== LATE && isForeign(facts, tenants)
}

function spokenOf(
  first: readonly First[],
  ground: Ground,
  { tenants, late }: Pick<SettleOptions, 'tenants'> & { readonly late: boolean },
): EngineVerdict | GatewayError | null {
  const spoken = first.find(
    (said) =>
      (said.late ?? false) === late &&
      !(isOfTenant(said.when) && tenants === null) &&
      applies(said.when, ground) === true,
  )
  return spoken === undefined ? null : absentAnswer(spoken.answer, ground)
}

/** The answer to who is permitted and asks about another tenant's; null: nothing of it is another's. */
export function lateAnswer(
  { list, first }: Entities,
  ground: Ground,
  tenants: readonly string[] | null,
): EngineVerdict | GatewayError | null {
  for (const { reference, foreign } of list) {
    const facts = foreign === LATE ? factsOf(reference, ground) : null
    if (facts !== null && isForeign(facts, tenants)) return absentAnswer(LATE, ground)
  }
  return spokenOf(first, ground, { tenants, late: true })
}

/** Reads an entity, once for a request. `undefined`: the request names none. */
export function learn(
  reference: Reference,
  ground: Pick<Ground, 'asked' | 'each' | 'known'>,
  lookUp: LookUp,
): Soon<Facts | null | undefined> {
  const id = argumentOf(reference, ground)
  if (id === null) return undefined
  const { lookup } = reference
  const known = ground.known.find(lookup, id)
  if (known !== undefined) return known
  return andThen(lookUp(lookup, id), (facts) => ground.known.add(lookup, id, facts))
}

/** Whether an entity belongs to a tenant that is none of these. */
export function isForeign(facts: Facts, tenants: readonly string[] | null): boolean {
  const tenantId = facts['tenantId'] ?? null
  return tenantId !== null && tenants !== null && !tenants.includes(tenantId)
}

/** The caller's tenants; null where tenants restrict nothing. */
export function tenantsOf({ tenants }: Principal, isFree: boolean): readonly string[] | null {
  return isFree ? null : tenants
}
