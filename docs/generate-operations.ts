import { readFileSync, writeFileSync } from 'node:fs'
import { OPERATIONS } from '../src/operations/all.ts'
import type { Check, CheckTargetSet, PermissionTerm, ItemRestriction } from '../src/operations/notation.ts'
import { queryParametersOf } from '../src/operations/published/query-parameters.ts'
import { SUMMARIES } from '../src/operations/published/summaries.ts'
import type { Operation } from '../src/operations/table.ts'
import { contractOf } from '../src/policy/validation/schemas/contracts.ts'

/** The page that is generated from the table of operations. */
export const OPERATIONS_PAGE = new URL('operations.md', import.meta.url)

const INTRODUCTION = `# Operations

This page lists every operation that the gateway serves, with the permissions that a secured engine checks for it (Camunda 7.22 and the newer
operations of its forks). \`npm run docs:operations\` generates it from the table in \`src/operations\`, and a test compares it with the table.
Paths are below the base path, \`/engine-rest\` by default, and below \`/engine-rest/engine/{name}\`.

**Operation.** The method and the path; the operationId, which settings and lines of the log use; its effect at the engine.

**Permissions.** Each line of a cell is one check. The checks run in this order, and the first refusal ends the request. \`{id}\` is a parameter of the path. Without an id, the
permission must be granted on \`*\`. "Items" are the elements of a list, or the entities that a count counts: a caller sees those that the permissions
open. A dash means that every authenticated caller may use the operation. An administrator is a user or a member of a group that
\`authorization.adminUsers\` or \`authorization.adminGroups\` lists: [identity](configuration/identity.md).

**Refusal.** How a secured engine, and the gateway, respond if the first check refuses. With 404 and 400 the engine hides that the entity exists.

**Notes.** *repeated*: a read, which the gateway repeats if a node fails. *cached*: how long a response is shared between permitted callers.
*body: types*: the gateway checks the names and types of the members of the body, as the engine reads them. *body: rules*: it also checks the
engine's rules for them. *query: types* and *query: rules*: the same for the parameters of the query string; *query: page*: only \`firstResult\`
and \`maxResults\` have a type. *key*: the operation accepts an [\`Idempotency-Key\`](idempotency.md). *long poll*: the engine may hold the request. *only*: the releases that have the operation,
of those that are known. Other operations exist in all of them. An operation with *only* that requires an administrator was not compared with a
running engine.
`

export function operationsPage(): string {
  const sections = new Map<string, Operation[]>()
  for (const operation of OPERATIONS) {
    const title = titleOf(operation)
    sections.set(title, [...(sections.get(title) ?? []), operation])
  }
  const tables = [...sections]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([title, operations]) =>
      [
        `## ${title}`,
        '',
        '| operation | permissions | refusal | notes |',
        '|---|---|---|---|',
        ...operations.map(rowOf),
        '',
      ].join('\n'),
    )
  return [INTRODUCTION, ...tables].join('\n')
}

/** Returns the beginning of the path: `/task`, `/history/task`. */
function titleOf({ template }: Operation): string {
  const [, first = '', second = ''] = template.split('/')
  return first === 'history' ? `/history/${second}` : `/${first}`
}

function rowOf(operation: Operation): string {
  const path = operation.template.replaceAll(/:(\w+)/g, '{$1}')
  const cells = [
    `\`${operation.method} ${path}\`<br>\`${operation.id}\`<br>${SUMMARIES[operation.id]}`,
    permissionsOf(operation),
    refusalOf(operation),
    notesOf(operation).join(', '),
  ]
  return `| ${cells.join(' | ')} |`
}

function permissionsOf({ checks, items }: Operation): string {
  const texts = [
    ...checks.map((check) => (isOfCommand(check) ? COMMAND_PERMISSIONS : checkText(check))),
    ...(items === undefined ? [] : [itemsText(items)]),
  ].filter((text) => text !== '')
  return texts.length === 0 ? '–' : [...new Set(texts)].join('<br>')
}

/** A job runs one of many commands, each with permissions of its own. */
const COMMAND_PERMISSIONS = 'the permissions of [the command of the job](effects.md#commands-of-jobs)'

function isOfCommand({ when }: Check): boolean {
  return when?.startsWith('the job runs ') === true
}

function checkText({ anyOf, allOf, admin, when, each }: Check): string {
  const terms = [
    ...(admin === true ? ['administrator'] : []),
    ...(anyOf ?? []).map(termText),
    ...(allOf === undefined ? [] : [allOf.map(termText).join(' and ')]),
  ].join(' or ')
  const condition = when === undefined ? '' : ` if ${when.replaceAll(/\b(?:body|query):(\w+)/g, '`$1`')}`
  return each === undefined ? terms + condition : `for each ${eachText(each)}${condition}: ${terms}`
}

function eachText(each: CheckTargetSet): string {
  const [, source, member = ''] = /^(body|query):(\w+)\[\]$/.exec(each) ?? []
  return source === undefined ? (EACH[each] ?? each) : `id in ${code(member)} of the ${source}`
}

/** The ids and entities that checks run over. */
const EACH: Readonly<Partial<Record<CheckTargetSet, string>>> = {
  conditionalStarts: 'definition that the condition can start',
  correlatedDefinitions: 'definition that the message can start',
  correlatedExecutions: 'execution that the message can reach',
  definitions: 'process definition',
  externalTasks: 'selected external task',
  modifiedInstances: 'selected process instance',
  processInstances: 'selected process instance',
  restartedInstances: 'selected process instance',
  signalStarts: 'definition that the signal can start',
  signalSubscriptions: 'execution that the signal can reach',
  versionsOfKey: 'version of the key',
}

function conditionText(and: ItemRestriction['and']): string {
  if (and === undefined) return ''
  const flag = and.when?.slice('query:'.length).replace(' is true', '')
  return (flag === undefined ? '' : `with ${code(flag)}: `) + and.anyOf.map(termText).join(' or ')
}

function itemsText({ anyOf, allOf, and, exempt }: ItemRestriction): string {
  const all = (terms: readonly PermissionTerm[] = []): string => terms.map(termText).join(' or ')
  const needed = [all(anyOf), (allOf ?? []).map(termText).join(' and '), conditionText(and)].filter(
    (text) => text !== '',
  )
  const open = exempt === undefined ? '' : ` (all items with ${exempt} are visible)`
  return needed.length === 0 ? `items of the caller's tenants` : `items: ${needed.join(' and ')}${open}`
}

/** `READ on the process definition {key}` */
function termText(term: PermissionTerm): string {
  const [name = '', attribute] = term.split(' ')
  const [resource = '', permission = ''] = name.split('.')
  return `${code(permission)} on ${resource.toLowerCase().replaceAll('_', ' ')}${attributeText(attribute)}`
}

function attributeText(attribute = ''): string {
  const fixed = FIXED[attribute]
  if (fixed !== undefined) return fixed
  const [, source = '', member = ''] = /^(path|query|body|item):(.*)$/.exec(attribute) ?? []
  if (source === 'path') return ` ${code(`{${member}}`)}`
  if (source !== '') return ` ${code(member)} of the ${source}`
  const [entity = '', name = ''] = attribute.split(/\.(?=\w+$)/)
  return entity === 'each' ? ` (its ${code(name)})` : ` ${code(name)} of ${entityText(entity)}`
}

const FIXED: Readonly<Record<string, string>> = {
  '': '',
  '*': ' `*`',
  caller: ' of the caller',
  'created.id': ' that was created',
}

/** `processDefinition(body:processDefinitionId)`: the process definition that `processDefinitionId` names. */
function entityText(entity: string): string {
  const [name = '', source = ''] = entity.split('(')
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  const member = source.slice(source.indexOf(':') + 1, -1)
  return member === '' ? `the ${words}` : `the ${words} that ${code(member)} names`
}

const DENIALS: Readonly<Record<string, string>> = {
  empty: 'no items',
  plain: '403, message only',
}

function refusalOf({ checks, items, notFound }: Operation): string {
  const [first] = checks
  if (first === undefined) return items === undefined ? '–' : 'items are left out'
  if (first.denied === 'absent') return (first.notFound ?? notFound ?? '').slice(0, 3)
  return DENIALS[first.denied] ?? `${first.denied}`
}

function validationNotes(operation: Operation): readonly string[] {
  const { body, query } = operation
  const kinds = [...queryParametersOf(operation).kinds.values()].filter((kind) => kind !== 'text')
  const queryTypes = kinds.length === 0 ? [] : [kinds.every((kind) => kind === 'page') ? 'page' : 'types']
  return [
    ...(contractOf(operation) === null ? [] : [`body: ${body === undefined ? 'types' : 'rules'}`]),
    ...(query === undefined ? queryTypes : ['rules']).map((note) => `query: ${note}`),
  ]
}

function notesOf(operation: Operation): readonly string[] {
  const { effect, cache, idempotencyKey, handler, only, open } = operation
  return [
    ...(effect === 'read' ? ['repeated'] : []),
    ...(cache === undefined ? [] : [`cached ${cache.seconds} s`]),
    ...validationNotes(operation),
    ...(idempotencyKey === true ? ['key'] : []),
    ...(handler === 'long poll' ? ['long poll'] : []),
    ...(open === undefined
      ? []
      : ['can be [opened](configuration/identity.md#what-is-open-without-credentials)']),
    ...(only === undefined ? [] : [`only ${only.join(', ')}`]),
  ]
}

function code(text: string): string {
  return `\`${text}\``
}

if (import.meta.main) {
  const page = operationsPage()
  writeFileSync(OPERATIONS_PAGE, page)
  process.stdout.write(`${readFileSync(OPERATIONS_PAGE, 'utf8').split('\n').length} lines\n`)
}
