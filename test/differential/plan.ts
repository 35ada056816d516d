import type { Operation } from '../../src/operations/table.ts'
import { RECIPES, type RecipeName } from './bundles.ts'
import type { Part, Raw } from './http.ts'
import type { Names } from './names.ts'
import { mapTexts, namesIn } from './names.ts'
import type { Random } from './random.ts'
import { templatesOf } from './requests/all.ts'
import { PARAMS, type Template } from './requests/template.ts'
import type { Left } from './sweep.ts'

/**
 * The part of a request that has an unusual form. A `plain` request has the form that most clients use. A `revoked` request has it too,
 * but permissions change before it or while it waits.
 */
export type Kind = 'plain' | OddKind | ForeignKind | 'revoked'
export type OddKind = 'accept' | 'spelling' | 'selector' | 'headers'
export type ForeignKind =
  | 'foreign accept'
  | 'foreign type'
  | 'form type'
  | 'no body'
  | 'empty JSON'
  | 'empty text'
  | 'percent'

/** One request. It is written with names, and is therefore the same for both worlds. */
export interface Plan {
  readonly operation: Operation
  readonly kind: Kind
  readonly accept?: string
  /** Headers that the engine does not read. */
  readonly headers?: Readonly<Record<string, string>>
  readonly raw?: Raw
  readonly path: string
  readonly body?: unknown
  readonly form?: readonly Part[]
  readonly uses: { readonly recipe: RecipeName; readonly form: number } | null
  readonly keeps: boolean
  readonly leaves: readonly Left[]
  readonly defines?: string
  readonly mayBeRefused?: boolean
}

/** The caller of a request, for `@user`, `@group` and `@password`. */
export interface Asker {
  readonly user: string
  readonly group: string
  readonly password: string
}

export function isRead({ operation }: Plan): boolean {
  return operation.effect === 'read'
}

/** Returns whether the engines have an entity of each kind that a template uses. An engine without users has no operation log. */
function hasNames(template: Template, names: Names): boolean {
  const kinds = [...JSON.stringify(template).matchAll(/<(\w+)\.\*>/g)]
  return kinds.every(([, kind = '']) => names.ofKind(kind).length > 0)
}

/** Returns one of the operation's requests, or the request of the template. Its placeholders are replaced with random choices. */
export function planOf(
  operation: Operation,
  names: Names,
  {
    random,
    asker,
    template = random.pick(templatesOf(operation.id).filter((one) => hasNames(one, names))),
  }: { random: Random; asker: Asker; template?: Template },
): Plan {
  const choose = (text: string): string => names.choose(withAsker(text, asker), random)
  const query = template.query === undefined ? '' : `?${choose(template.query)}`
  return {
    operation,
    kind: 'plain',
    path: pathOf(operation, template, { random, choose }) + (query === '?' ? '' : query),
    ...(template.body !== undefined && { body: mapTexts(template.body, choose) }),
    ...(template.form !== undefined && { form: template.form }),
    uses:
      template.uses === undefined
        ? null
        : { recipe: template.uses, form: random.below(RECIPES[template.uses].length) },
    keeps: template.keeps ?? false,
    leaves: template.leaves ?? [],
    ...(template.defines !== undefined && { defines: template.defines }),
    ...(template.mayBeRefused !== undefined && { mayBeRefused: template.mayBeRefused }),
  }
}

interface Choosing {
  readonly random: Random
  readonly choose: (text: string) => string
}

/** The probabilities of an unknown id and of an id of another kind. An engine has different responses to them. */
const UNKNOWN = 0.05
const OTHER_KIND = 0.04
const OTHERS = ['<pi.*>', '<task.*>', '<execution.*>', '<pd.*>', '<job.*>', '<ended.*>', '<deployment.*>']

function pathOf(operation: Operation, template: Template, { random, choose }: Choosing): string {
  const isKey = /\/key\/:key/.test(operation.template)
  return operation.template.replace(/:(\w+)/g, (_, name: string) => {
    if (name === 'id' || name === 'key' || name === 'operationId') {
      if (random.chance(UNKNOWN)) return 'nosuch'
      if (!isKey && operation.effect === 'read' && random.chance(OTHER_KIND))
        return choose(random.pick(OTHERS))
    }
    const text = template.params?.[name] ?? defaultParam(operation.template, name, random)
    return encodeText(choose(text))
  })
}

function defaultParam(template: string, name: string, random: Random): string {
  if (name === 'varName') return 'pages'
  if (name === 'messageName') return 'paid'
  const [, choices] = PARAMS.find(([pattern]) => pattern.test(template)) ?? []
  if (choices === undefined) throw new Error(`No request says what ${name} of ${template} is`)
  return random.pick(choices)
}

/** Encodes a text for a path. Texts with names are not encoded here, because their ids are encoded when they replace the names. */
function encodeText(text: string): string {
  return text.includes('<') ? text : encodeURIComponent(text)
}

function withAsker(text: string, { user, group, password }: Asker): string {
  return text.replaceAll('@user', user).replaceAll('@group', group).replaceAll('@password', password)
}

/** Returns the permissions that each check of the operation requires. The permissions for its items are one more list. */
export function permissionChecksOf({ checks, items }: Operation): readonly (readonly string[])[] {
  const lists = checks.map(({ anyOf, allOf }) => textsOf(anyOf, allOf))
  const always = items?.and?.when === undefined ? items?.and?.anyOf : undefined
  return [...lists, textsOf(items?.anyOf, items?.allOf, always)].filter((list) => list.length > 0)
}

function textsOf(...lists: readonly (readonly string[] | undefined)[]): readonly string[] {
  return lists.flatMap((list) => list ?? [])
}

/** Returns the ids of a resource to which the plan refers, as texts with names. */
export function idsAbout({ path, body }: Plan, names: Names, resource: string): readonly string[] {
  const text = `${path} ${body === undefined ? '' : JSON.stringify(body)}`
  const found = namesIn(text).flatMap((name) => {
    const id = names.about(name)[resource]
    return id === undefined ? [] : [id]
  })
  return found.filter((id) => !/<new\.|^temp$/.test(id))
}
