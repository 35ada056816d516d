import type { PermissionTerm } from '../../../operations/notation.ts'
import { isLookup } from '../entities/lookup-rules.ts'
import { bitOf, RESOURCES, type ResourceName } from '../../../operations/permissions.ts'
import type { Argument, CompiledAttribute, Permission, Place, Reference } from './compiled-permission.ts'

/** Takes the atoms of a check apart. @throws Error on an atom that the notation does not know: the table is wrong. */
export function permissionsOf(terms: readonly PermissionTerm[]): readonly Permission[] {
  return terms.map((term) => {
    const [name = '', attribute] = term.split(' ')
    const [resource = '', permission = ''] = name.split('.').map(asName)
    if (!isResource(resource)) throw new Error(`Unknown resource in ${term}`)
    const bit = bitOf(resource, permission)
    if (bit === null) throw new Error(`Unknown permission in ${term}`)
    return { resource, permission, bit, attribute: attributeOf(attribute) }
  })
}

function isResource(name: string): name is ResourceName {
  return Object.hasOwn(RESOURCES, name)
}

const WORDS: Readonly<Record<string, CompiledAttribute>> = {
  '*': { from: 'any' },
  caller: { from: 'caller' },
  'created.id': { from: 'created' },
}
const MEMBER = /^(path|query|body|row|each)[:.](.+)$/
const LOOKUP = /^(.+)\.(\w+)$/
const ENTITY = /^(\w+)(?:\((\w+):([^)]+)\))?$/

function attributeOf(text: string | undefined): CompiledAttribute {
  if (text === undefined) return { from: 'none' }
  const word = WORDS[text]
  if (word !== undefined) return word
  const [place, member] = namesIn(MEMBER, text)
  if (isPlace(place) && member !== undefined) return { from: place, name: member }
  const [entity = '', name] = namesIn(LOOKUP, text)
  if (name === undefined) throw new Error(`Unknown fact ${text}`)
  return { from: 'lookup', ...referenceOf(entity), name }
}

/** @throws Error on an entity that the notation does not know */
export function referenceOf(text: string): Reference {
  const [lookup, from = 'path', name = 'id'] = namesIn(ENTITY, text)
  if (lookup === undefined || !isLookup(lookup) || !isArgumentPlace(from))
    throw new Error(`Unknown entity ${text}`)
  return { lookup, by: { from, name } }
}

function namesIn(pattern: RegExp, text: string): readonly (string | undefined)[] {
  const [, ...groups] = pattern.exec(text) ?? []
  return groups.map((group: string | undefined) => (group === undefined ? undefined : asName(group)))
}

/**
 * The same text as V8 keeps the names of members. By a piece of another text a member is found far more slowly, and what
 * V8 has compiled for a name is thrown away at each of them.
 */
function asName(text: string): string {
  return Object.keys({ [text]: true })[0] ?? text
}

function isPlace(text: string | undefined): text is Place {
  return text === 'row' || (text !== undefined && isArgumentPlace(text))
}

function isArgumentPlace(text: string): text is Argument['from'] {
  return text === 'path' || text === 'query' || text === 'body' || text === 'each'
}
