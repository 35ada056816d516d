import { readFileSync, writeFileSync } from 'node:fs'
import { COMMAND_PERMISSIONS, permissionTextsOf } from '../src/api-document/permission-texts.ts'
import { OPERATIONS } from '../src/operations/all.ts'
import { ceilingPermits } from '../src/operations/ceilings.ts'
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

**Permissions.** Each line of a cell is one check. The checks run in this order, and the first refusal ends the request. \`{id}\` is a parameter of the
path. Without an id, the permission must be granted on \`*\`. Records name process and decision definitions by their key. "Items" are the elements of
a list, or the entities that a count counts: a caller sees only the items for which the caller has one of these permissions. A dash means that every
authenticated caller may use the operation. An administrator is a user or a member of a group that
\`authorization.adminUsers\` or \`authorization.adminGroups\` lists: [identity](configuration/identity.md).

**Refusal.** How a secured engine, and the gateway, respond if the first check refuses. With 404 and 400 the engine hides that the entity exists.

**Notes.** *repeated*: a read, which the gateway repeats if a node fails, and which every [ceiling](configuration/ceilings.md) permits. *safe*: a write
that the ceiling \`safe\` permits. *cached*: how long a response is shared between permitted callers.
*body: types*: the gateway checks the names and types of the members of the body, as the engine reads them. *body: rules*: it also checks the
engine's rules for them. *query: types* and *query: rules*: the same for the parameters of the query string; *query: page*: only \`firstResult\`
and \`maxResults\` have a type. *key*: the operation accepts an [\`Idempotency-Key\`](idempotency.md). *long poll*: the engine may hold the request.
*only*: the known releases that have the operation. An operation without *only* exists in all known releases. An operation with *only* that requires an administrator was not compared with a
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

function permissionsOf(operation: Operation): string {
  const texts = permissionTextsOf(operation).map((text) =>
    text === COMMAND_PERMISSIONS ? `the permissions of [${COMMAND}](effects.md#commands-of-jobs)` : text,
  )
  return texts.length === 0 ? '–' : texts.join('<br>')
}

const COMMAND = 'the command of the job'

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
    ...(effect === 'read' ? ['repeated'] : ceilingPermits('safe', operation) ? ['safe'] : []),
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

if (import.meta.main) {
  const page = operationsPage()
  writeFileSync(OPERATIONS_PAGE, page)
  process.stdout.write(`${readFileSync(OPERATIONS_PAGE, 'utf8').split('\n').length} lines\n`)
}
