import type { Check, OperationCheck } from './notation.ts'
import type { Method, Operation, OperationEntry, Tag, TagOperations } from './table.ts'
import { effectOf, mistakeInEffect } from './effect.ts'
import { compileSelectors } from './body-selectors.ts'
import { cachePolicyOf } from './cached-content.ts'
import { latestVersionOf, mistakeInActsOnKey } from './acts-on-key.ts'
import { releasesOf } from './published/releases.ts'
import { namedBy } from './tenanted.ts'

function checkEntry(id: string, entry: OperationEntry): void {
  const mistake = mistakeInEffect(entry) ?? mistakeInActsOnKey(entry)
  if (mistake !== null) throw new Error(`The entry ${id} (${entry.route}) of the table ${mistake}`)
  const unknown = namedBy(entry).find(({ knownBy }) => knownBy === null)
  if (unknown === undefined) return
  const ways = "`loads`, a lookup in a check, `selectors`, `actsOnKey`, or `crossTenant: 'ignored'`"
  throw new Error(
    `The entry ${id} (${entry.route}) of the table does not declare how to find the tenant of an entity that it names (${unknown.member}): ${ways} is needed`
  )
}

/**
 * Returns the operations of the table, with method and path template separated. The operations of a tag are sorted by path, then
 * by method, because one call in a file may write several operations.
 * @throws Error if the table is wrong: two operations share an id or a route, the effect of an operation contradicts its other
 * fields, an operation names an entity that may belong to a tenant and declares no way to determine that tenant, or it names a
 * definition by its key and does not declare `actsOnKey`
 */
export function operationsOf(tags: Readonly<Record<string, Tag>>): readonly Operation[] {
  const written = Object.entries(tags).map(([tag, operations]) => entriesOf(tag, operations))
  assertUnique(written.flat())
  return written.flatMap((entries) => entries.map(compileEntry).toSorted(byPlace))
}

interface WrittenEntry {
  readonly tag: string
  readonly id: string
  readonly entry: OperationEntry
}

function entriesOf(tag: string, operations: Tag): readonly WrittenEntry[] {
  return (isList(operations) ? operations : [operations]).flatMap((part) =>
    (isList(part) ? part : Object.entries(part)).map(([id, entry]) => ({ tag, id, entry })),
  )
}

/** `Array.isArray` does not recognize a readonly list. */
function isList<T>(value: TagOperations | readonly T[]): value is readonly T[] {
  return Array.isArray(value)
}

function assertUnique(entries: readonly WrittenEntry[]): void {
  const tags = new Map<string, string>()
  for (const { tag, id, entry } of entries)
    for (const name of [id, entry.route]) {
      const other = tags.get(name)
      if (other !== undefined)
        throw new Error(`The table has ${name} twice: in the tag ${other} and as ${id} (${entry.route}) in the tag ${tag}`)
      tags.set(name, tag)
    }
}

function compileEntry({ id, entry }: WrittenEntry): Operation {
  const derived = latestVersionOf(entry)
  const written: OperationEntry = derived === undefined ? entry : { loads: derived, ...entry }
  checkEntry(id, written)
  const { route, only, checks, cache, body, selectors, ...fields } = written
  const [method, template = ''] = route.split(' ')
  if (!isMethod(method)) throw new Error(`The entry ${id} of the table has the unknown method ${method}`)
  const effect = effectOf(entry)
  const cached = cache === undefined ? {} : { cache: cachePolicyOf(cache, template) }
  const selected = selectors === undefined ? {} : { selectors: compileSelectors(selectors) }
  return { ...fields, ...releasesFor(id, only), ...cached, ...bodyOf(body), ...selected, checks: checks.map(checkOf), id, method, template, effect }
}

function releasesFor(id: string, written: OperationEntry['only']): Pick<Operation, 'only' | 'unpublished'> {
  if (written === 'unpublished') return { unpublished: true }
  const only = written ?? releasesOf(id)
  return only === null ? {} : { only }
}

/** A permission on the created entity can be checked only after the engine has created it. */
function checkOf(check: Check): OperationCheck {
  const terms: readonly string[] = check.allOf ?? check.anyOf ?? []
  const isAfter = terms.length > 0 && terms.every((term) => term.endsWith(' created.id'))
  return isAfter ? { ...check, after: true } : check
}

function bodyOf(body: OperationEntry['body']): Pick<Operation, 'body' | 'media'> {
  if (body === undefined) return {}
  return body === 'multipart' || body === 'none' ? { media: body } : { body }
}

/** The methods, in the order of the operations of one path. */
const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']

function isMethod(text: string | undefined): text is Method {
  return METHODS.some((method) => method === text)
}

type OperationPlace = Pick<Operation, 'template' | 'method'>

function byPlace(a: OperationPlace, b: OperationPlace): number {
  if (a.template !== b.template) return a.template < b.template ? -1 : 1
  return METHODS.indexOf(a.method) - METHODS.indexOf(b.method)
}
