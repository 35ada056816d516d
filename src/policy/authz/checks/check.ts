import type {
  Absent,
  Check,
  Denied,
  Each,
  Exempt,
  Foreign,
  When,
  LookupName,
} from '../../../operations/notation.ts'
import { RESOURCES, type ResourceName } from '../../../operations/permissions.ts'
import type { Asked } from '../../../request/access-request.ts'
import { bodyText } from '../../../request/access-request.ts'
import type { AtomOptions, Fact, Permission, Reference } from './permission-checks.ts'
import { permissionsOf, referenceOf } from './permission-checks.ts'
import type { AtomicCheck } from '../decision/decide.ts'
import { identityBits, type ImpliedBits } from '../entities/implicit-grants.ts'
import type { Known } from '../entities/loaded-entities.ts'
import type { Facts } from '../entities/lookup.ts'
import { COMPOSITES } from '../entities/lookup.ts'
import type { Missing } from './authorization-exception.ts'

/** A row's check, taken apart once. */
export interface CompiledCheck {
  /** Its place in the row. */
  readonly index: number
  readonly permissions: readonly Permission[]
  /** Those that a grant on all surely reaches, asked for on all. */
  readonly onAll: readonly AtomicCheck[]
  readonly mode: 'any' | 'all'
  readonly admin: boolean
  readonly when: When | null
  readonly each: Each | null
  readonly denied: Denied
  readonly absent: Absent | null
  readonly foreign: Foreign | null
  /** Found by a restricted query: an id that the entity lacks is asked for as `*`. */
  readonly isFound: boolean
  readonly exempt: Exempt | null
  /** Missing, it comes before a refusal. */
  readonly entity: Reference | null
  readonly after: boolean
  /** Asked for before the engine looks at what the body selects. */
  readonly isUnselected: boolean
}

/** @throws Error on an atom that the notation does not know. */
export function compileCheck(
  check: Check,
  row: { readonly absent?: Absent; readonly foreign?: Foreign },
  options: AtomOptions & { readonly index?: number },
): CompiledCheck {
  const {
    anyOf = [],
    allOf,
    admin = false,
    when = null,
    each = null,
    denied,
    exempt = null,
    after = false,
  } = check
  const permissions = permissionsOf(allOf ?? anyOf, options)
  for (const { fact } of permissions) checkPlace(fact, check)
  const isFound = check.found === 'query'
  return {
    index: options.index ?? 0,
    permissions,
    onAll: permissions
      .filter(({ fact }) => isFound || !(fact.from === 'lookup' && MAY_BE_MISSING.has(fact.lookup)))
      .map(({ resource, permission }) => ({ resource, permission, id: null })),
    mode: allOf === undefined ? 'any' : 'all',
    admin,
    when,
    each,
    denied,
    ...answersOf(check, row),
    isFound,
    exempt,
    entity: check.entity === undefined ? null : referenceOf(check.entity),
    after,
    isUnselected: check.unselected === true,
  }
}

/** An id that is not there is left out, and with it what `allOf` asks for. */
function checkPlace({ from }: Fact, { each, after }: Check): void {
  const isMisplaced = { each: each === undefined, created: after !== true, row: true }
  if ((from === 'each' || from === 'created' || from === 'row') && isMisplaced[from])
    throw new Error(`A check asks about ${from}, which is not there`)
}

/** Entities whose definition or instance may be none, so that a grant on all definitions does not reach them. */
const MAY_BE_MISSING: ReadonlySet<string> = new Set(['task', 'variableInstance', 'operationLogEntry'])

/** What a check does not say, its row says. */
function answersOf(
  { absent, foreign }: Check,
  row: { readonly absent?: Absent; readonly foreign?: Foreign },
): Pick<CompiledCheck, 'absent' | 'foreign'> {
  return { absent: absent ?? row.absent ?? null, foreign: foreign ?? row.foreign ?? null }
}

/** Everything an atom's id may come from. */
export interface Ground {
  readonly asked: Asked
  readonly known: Known
  readonly each: Facts | null
  /** The id an operation has just created; only for checks that come after. */
  readonly created: string | null
  /** What the caller's links to the task grant on it. */
  readonly linked?: ImpliedBits
  /** Whether users, groups and tenants are open to themselves and their members. */
  readonly impliesIdentity: boolean
}

/** The id of the entity that is referred to; null: the request does not give one. */
export function argumentOf(
  { lookup, by }: Reference,
  { asked, each }: Pick<Ground, 'asked' | 'each'>,
): string | null {
  const composite = compositeOf(lookup, asked)
  if (composite !== null) return composite
  if (by.from === 'each') return each?.[by.name] ?? null
  if (by.from === 'path') return asked.params[by.name] ?? null
  return by.from === 'query' ? (asked.query.get(by.name) ?? null) : bodyText(asked.body, by.name)
}

/** The argument of a look-up by several path parameters; null: one is enough for it. */
export function compositeOf(lookup: LookupName, { params }: Pick<Asked, 'params'>): string | null {
  const names = COMPOSITES[lookup]
  if (names === undefined) return null
  let id = ''
  for (const name of names) {
    const value = params[name]
    if (value !== undefined) id += `${id === '' ? '' : '/'}${encodeURIComponent(value)}`
  }
  return id
}

/** What is known of an entity; null: it is not there, or was not looked up. */
export function factsOf(
  reference: Reference,
  ground: Pick<Ground, 'asked' | 'each' | 'known'>,
): Facts | null {
  return ground.known.find(reference.lookup, argumentOf(reference, ground)) ?? null
}

type IdOf = {
  readonly [F in Fact['from']]: (
    fact: Fact & { readonly from: F },
    ground: Ground,
  ) => string | null | undefined
}

/**
 * The id an atom asks about; null asks without an id. `undefined`: the entity has no such id (a standalone task has no
 * definition), so the engine leaves the atom out. A request that names no id asks without one, as the engine does.
 */
const ID_OF: IdOf = {
  none: () => null,
  any: () => '*',
  caller: (_fact, { asked }) => asked.principal.userId,
  created: (_fact, { created }) => created ?? undefined,
  each: ({ name }, { each }) => each?.[name] ?? undefined,
  lookup: (fact, ground) => factsOf(fact, ground)?.[fact.name] ?? undefined,
  row: () => undefined,
  path: ({ name }, { asked }) => asked.params[name] ?? null,
  query: ({ name }, { asked }) => asked.query.get(name) ?? null,
  body: ({ name }, { asked }) => bodyText(asked.body, name),
}

function idOf<F extends Fact['from']>(
  fact: Fact & { readonly from: F },
  ground: Ground,
): string | null | undefined {
  const read: IdOf[F] = ID_OF[fact.from]
  return read(fact, ground)
}

/** The atoms the engine would ask, with their ids filled in. */
export function atomsOf({ permissions, isFound }: CompiledCheck, ground: Ground): readonly AtomicCheck[] {
  const atoms: AtomicCheck[] = []
  for (const { resource, permission, fact } of permissions) {
    const id = idOf(fact, ground)
    if (id === undefined && !isFound) continue
    atoms.push({ resource, permission, id: id ?? null, implied: impliedOn(resource, id ?? null, ground) })
  }
  return atoms
}

function impliedOn(
  resource: ResourceName,
  id: string | null,
  { asked, linked, impliesIdentity }: Ground,
): AtomicCheck['implied'] {
  if (resource === 'TASK') return linked
  return impliesIdentity ? identityBits(resource, id, asked.principal) : undefined
}

export function missingOf(atoms: readonly AtomicCheck[]): readonly Missing[] {
  return atoms.map(({ resource, permission, id }) => ({ permission, resource: RESOURCES[resource].name, id }))
}
