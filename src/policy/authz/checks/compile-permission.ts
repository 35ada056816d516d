import type { PermissionTerm } from '../../../operations/notation.ts'
import { bitOf, isResource } from '../../../operations/permissions.ts'
import { COMPOSITES, hasMember, isLookup } from '../entities/lookup-rules.ts'
import type {
  LookupArgument,
  CompiledAttribute,
  Permission,
  Place,
  Reference,
} from './compiled-permission.ts'
import type { NamingScope } from './naming-scope.ts'

/** Compiles the terms of a check. @throws Error if a term names something that does not exist */
export function compilePermissions(
  terms: readonly PermissionTerm[],
  scope: Pick<NamingScope, 'parameters' | 'each' | 'isAfter'>,
): readonly Permission[] {
  return terms.map((term) => {
    const permission = compilePermission(term)
    checkAttribute(permission.attribute, scope, term)
    return permission
  })
}

/** Compiles the permission on the path's entity that a link in a response requires. @throws Error if the term names no parameter of the path */
export function compileLinkPermission(
  term: PermissionTerm,
  parameters: NamingScope['parameters'],
): Permission {
  const permission = compilePermission(term)
  const { attribute } = permission
  if (attribute.from !== 'none' && !(attribute.from === 'path' && parameters.has(attribute.name)))
    throw new Error(`"${term}" names something other than a parameter of the path`)
  return permission
}

/** Compiles the terms that restrict the items of a list. They name members of an item, or all items. @throws Error on any other term */
export function compileItemPermissions(terms: readonly PermissionTerm[]): readonly Permission[] {
  return terms.map((term) => {
    const permission = compilePermission(term)
    const { from } = permission.attribute
    if (from !== 'item' && from !== 'any' && from !== 'none')
      throw new Error(`"${term}" restricts the items of a list, so it cannot name ${from}`)
    return permission
  })
}

/** @throws Error if the notation does not know the resource, permission or attribute of the term */
function compilePermission(term: PermissionTerm): Permission {
  const [name = '', attribute, ...more] = term.split(' ')
  const [resource = '', permission = ''] = name.split('.').map(internName)
  if (!isResource(resource)) throw new Error(`unknown resource in "${term}"`)
  const bit = bitOf(resource, permission)
  if (bit === null) throw new Error(`unknown permission in "${term}"`)
  if (more.length > 0) throw new Error(`"${term}" has more than two parts`)
  return { resource, permission, bit, attribute: attributeOf(attribute) }
}

/** Checks that a term names an id that can exist. A check leaves out a term without an id, and would lose a permission that `allOf` requires. */
function checkAttribute(
  attribute: CompiledAttribute,
  scope: Pick<NamingScope, 'parameters' | 'each' | 'isAfter'>,
  term: string,
): void {
  const { from } = attribute
  if (from === 'item' || (from === 'each' && scope.each === null) || (from === 'created' && !scope.isAfter))
    throw new Error(`"${term}" names ${from}, which this check does not have`)
  if (from === 'path' && !scope.parameters.has(attribute.name))
    throw new Error(`"${term}" names a parameter that the path does not have`)
  if (from === 'lookup') checkLookup(attribute, scope, term)
}

function checkLookup(
  attribute: Reference & { readonly name: string },
  scope: Pick<NamingScope, 'parameters' | 'each'>,
  term: string,
): void {
  checkReference(attribute, scope)
  if (!hasMember(attribute.lookup, attribute.name))
    throw new Error(`"${term}" names a member that the lookup ${attribute.lookup} does not have`)
}

const WORDS: Readonly<Record<string, CompiledAttribute>> = {
  '*': { from: 'any' },
  caller: { from: 'caller' },
  'created.id': { from: 'created' },
}
const MEMBER = /^(path|query|body|item|each)[:.](.+)$/
const LOOKUP = /^(.+)\.(\w+)$/
const ENTITY = /^(\w+)(?:\((\w+):([^)]+)\))?$/

function attributeOf(text: string | undefined): CompiledAttribute {
  if (text === undefined) return { from: 'none' }
  const word = WORDS[text]
  if (word !== undefined) return word
  const [place, member] = namesIn(MEMBER, text)
  if (isPlace(place) && member !== undefined) return { from: place, name: member }
  const [entity = '', name] = namesIn(LOOKUP, text)
  if (name === undefined) throw new Error(`unknown attribute ${text}`)
  return { from: 'lookup', ...referenceOf(entity), name }
}

/** Compiles an entity of the notation. @throws Error if the notation does not know it, or the operation cannot name it */
export function compileReference(text: string, scope: Pick<NamingScope, 'parameters' | 'each'>): Reference {
  const reference = referenceOf(text)
  checkReference(reference, scope)
  return reference
}

/** Returns whether a text has the form of an entity of the notation. */
export function isEntity(text: string): boolean {
  const [lookup = ''] = text.split('(', 1)
  return isLookup(lookup)
}

/** Checks that the request can name the entity. A lookup without an id finds nothing, and a check of nothing permits every caller. */
function checkReference(
  { lookup, by }: Reference,
  { parameters, each }: Pick<NamingScope, 'parameters' | 'each'>,
): void {
  const [name = by.name] = COMPOSITES[lookup] ?? []
  if (by.from === 'path' && !parameters.has(name))
    throw new Error(`${lookup} is looked up by a parameter that the path does not have`)
  if (by.from === 'each' && each === null)
    throw new Error(`${lookup} is looked up by each, which this check does not have`)
}

function referenceOf(text: string): Reference {
  const [lookup, from = 'path', name = 'id'] = namesIn(ENTITY, text)
  if (lookup === undefined || !isLookup(lookup) || !isArgumentPlace(from))
    throw new Error(`unknown entity ${text}`)
  return { lookup, by: { from, name } }
}

function namesIn(pattern: RegExp, text: string): readonly (string | undefined)[] {
  const [, ...groups] = pattern.exec(text) ?? []
  return groups.map((group: string | undefined) => (group === undefined ? undefined : internName(group)))
}

/**
 * Returns the text in the form in which V8 stores property names. Access by a slice of another string is much slower, and
 * each such slice discards the code that V8 has compiled for the name.
 */
export function internName(text: string): string {
  return Object.keys({ [text]: true })[0] ?? text
}

function isPlace(text: string | undefined): text is Place {
  return text === 'item' || (text !== undefined && isArgumentPlace(text))
}

function isArgumentPlace(text: string): text is LookupArgument['from'] {
  return text === 'path' || text === 'query' || text === 'body' || text === 'each'
}
