import type { Absent, Check, Denied, Each, When } from '../operations/notation.ts'
import { RESOURCES } from '../operations/permissions.ts'
import type { Asked } from './asked.ts'
import { bodyText, bodyValue } from './asked.ts'
import type { AtomOptions, Fact, Permission } from './atoms.ts'
import { permissionsOf } from './atoms.ts'
import type { AtomicCheck } from './decide.ts'
import { identityBits, type ImpliedBits } from './implied.ts'
import type { Facts } from './lookup.ts'
import type { Missing } from './refusal.ts'

/** A row's check, taken apart once. */
export interface CompiledCheck {
  /** Its place in the row. */
  readonly index: number
  readonly permissions: readonly Permission[]
  readonly mode: 'any' | 'all'
  readonly admin: boolean
  readonly when: When | null
  readonly each: Each | null
  readonly denied: Denied
  readonly absent: Absent | null
  readonly after: boolean
}

/** @throws Error on an atom that the notation does not know. */
export function compileCheck(
  check: Check,
  absent: Absent | undefined,
  options: AtomOptions,
  index = 0,
): CompiledCheck {
  return {
    index,
    permissions: permissionsOf(check.allOf ?? check.anyOf ?? [], options),
    mode: check.allOf === undefined ? 'any' : 'all',
    admin: check.admin ?? false,
    when: check.when ?? null,
    each: check.each ?? null,
    denied: check.denied,
    absent: check.absent ?? absent ?? null,
    after: check.after ?? false,
  }
}

/** Entities read for a check, by `lookup by`; null: there is none. */
export type Known = ReadonlyMap<string, Facts | null>

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

export function lookupKeyOf(fact: Fact & { readonly from: 'lookup' }): string {
  return `${fact.lookup} ${fact.by.from}:${fact.by.name}`
}

/** The id that an argument of a look-up names; null: the request does not give one. */
export function argumentOf(fact: Fact & { readonly from: 'lookup' }, asked: Asked): string | null {
  return memberOf(fact.by.from, fact.by.name, asked)
}

function memberOf(from: 'path' | 'query' | 'body', name: string, asked: Asked): string | null {
  if (from === 'path') return asked.params[name] ?? null
  return from === 'query' ? (asked.query.get(name) ?? null) : bodyText(asked.body, name)
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
  lookup: (fact, { known }) => known.get(lookupKeyOf(fact))?.[fact.name] ?? undefined,
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
export function atomsOf({ permissions }: CompiledCheck, ground: Ground): readonly AtomicCheck[] {
  const atoms: AtomicCheck[] = []
  for (const { resource, permission, fact } of permissions) {
    const id = idOf(fact, ground)
    if (id === undefined) continue
    atoms.push({ resource, permission, id, ...impliedOn({ resource, id }, ground) })
  }
  return atoms
}

function impliedOn(
  { resource, id }: Pick<AtomicCheck, 'resource' | 'id'>,
  { asked, linked, impliesIdentity }: Ground,
): Pick<AtomicCheck, 'implied'> {
  if (resource === 'TASK') return linked === undefined ? {} : { implied: linked }
  return impliesIdentity ? { implied: identityBits(resource, id, asked.principal) } : {}
}

export function missingOf(atoms: readonly AtomicCheck[]): readonly Missing[] {
  return atoms.map(({ resource, permission, id }) => ({ permission, resource: RESOURCES[resource].name, id }))
}

/** Whether the engine runs a check for this request; null: only the engine can know. */
export function applies(when: When | null, ground: Pick<Ground, 'asked' | 'known'>): boolean | null {
  switch (when) {
    case null:
      return true
    case 'nothing is left active':
      return null
    case 'no definition given':
      return (
        !isGiven(ground, 'query:processDefinitionKeyIn') && !isGiven(ground, 'query:processDefinitionIdIn')
      )
    case 'the job has an instance':
      return hasFact(ground, 'processInstanceId')
    case 'the job has only a definition':
      return !hasFact(ground, 'processInstanceId') && hasFact(ground, 'processDefinitionKey')
    default:
      return memberApplies(when, ground)
  }
}

function memberApplies(when: When, ground: Pick<Ground, 'asked' | 'known'>): boolean {
  const [member = '', ...words] = when.split(' ')
  const value = valueOf(ground, member)
  switch (words.join(' ')) {
    case 'given':
      return isGiven(ground, member)
    case 'absent':
      return !isGiven(ground, member)
    case 'is true':
      return value === true || value === 'true'
    default:
      return isGiven(ground, member) && value !== ground.asked.principal.userId
  }
}

function isGiven(ground: Pick<Ground, 'asked' | 'known'>, member: string): boolean {
  const value = valueOf(ground, member)
  return value !== undefined && value !== null
}

function valueOf({ asked }: Pick<Ground, 'asked' | 'known'>, member: string): unknown {
  const at = member.indexOf(':')
  const name = member.slice(at + 1)
  return member.startsWith('query:') ? asked.query.get(name) : bodyValue(asked.body, name)
}

function hasFact({ known }: Pick<Ground, 'asked' | 'known'>, name: string): boolean {
  return (known.get('job path:id')?.[name] ?? null) !== null
}
