import type { RequestExplanation } from './explain.ts'
import type { MissingPermission } from '../errors.ts'
import { bodyText } from '../request/body.ts'
import type {
  DecidingRecord,
  DecidedPermission,
  RowsPermission,
  RowsExplanation,
  CheckExplanation,
  Explanation,
} from '../policy/authz/explain/explanation.ts'
import { counted } from './plural.ts'
import { lineOfRecord } from './record-line.ts'

/** Formats an explanation for people. */
export function textOfExplained(explained: RequestExplanation): string {
  const { request, operation, engine, principal, policy } = explained
  const lines = [
    `${request} (${operation}) at engine ${engine}`,
    `${principal.userId}: groups ${listOf(principal.groups)}; tenants ${listOf(principal.tenants)}`,
    ...modeLines(explained),
    '',
    ...(explained.open ? ['open: everybody may ask, also without credentials', ''] : []),
    ...(policy === null ? [] : policy.checks.flatMap(checkLines)),
    ...(policy?.checks.length === 0 && policy.rows === null
      ? ['no check: being authenticated is enough', '']
      : []),
    ...(policy === null || policy.rows === null ? [] : rowsLines(policy.rows)),
    ...responseLines(explained),
    ...grantLines(explained),
  ]
  // An id may contain control characters that a terminal would execute.
  return `${lines.map((line) => line.replace(/\p{Cc}/gu, ' ')).join('\n')}\n`
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ')
}

function modeLines({ modes }: RequestExplanation): string[] {
  return Object.entries(modes)
    .filter(([, mode]) => mode !== 'enforce')
    .map(([name, mode]) => `${name}.mode is ${mode}: the gateway does not refuse these requests`)
}

function checkLines({ check, row, verdict, decisions, more }: CheckExplanation): string[] {
  const [only] = decisions
  const isOne = decisions.length === 1 && more === 0
  return [
    `check ${check}: ${askedFor(row)}: ${verdict}`,
    ...(isOne && only !== undefined
      ? only.atoms.map((decided) => `  ${permissionLine(decided)}`)
      : decisions.flatMap((one) => [
          `  ${one.verdict}`,
          ...one.atoms.map((decided) => `    ${permissionLine(decided)}`),
        ])),
    ...(more === 0 ? [] : [`  and ${more} more`]),
    '',
  ]
}

function askedFor({ anyOf, allOf, admin, when, each, after }: CheckExplanation['row']): string {
  const terms = (allOf ?? anyOf ?? []).map((term) => term.split(' ', 1)[0] ?? '')
  const permissions =
    terms.length < 2 ? terms.join('') : `${allOf === undefined ? 'any' : 'all'} of ${terms.join(', ')}`
  return [
    [...(admin === true ? ['an admin'] : []), ...(permissions === '' ? [] : [permissions])].join(', or '),
    ...(each === undefined ? [] : [`for each of ${each}`]),
    ...(when === undefined ? [] : [`when ${when}`]),
    ...(after === true ? ['after the engine has done it'] : []),
  ].join(', ')
}

function permissionLine(decided: DecidedPermission): string {
  return `${permissionText(decided)}: ${decidedBy(decided.record)}`
}

/** Formats a permission: `READ on Task *`. */
export function permissionText({
  permission,
  resource,
  resourceId,
}: Pick<MissingPermission, 'permission' | 'resource' | 'resourceId'>): string {
  return `${permission} on ${resource} ${resourceId}`
}

const TYPES = ['GLOBAL', 'GRANT', 'REVOKE'] as const

/** Formats the record that decides: `granted by GRANT to group clerks on * (step 6)`. */
export function decidedBy(record: DecidingRecord | null): string {
  if (record === null) return 'no record'
  const { permitted, implied, type, level, subject, resourceId, step } = record
  const word = permitted ? 'granted' : 'revoked'
  if (implied) return `${word} by a link to ${level} ${subject} (step ${step})`
  const whose = level === 'global' ? 'everybody' : `${level} ${subject}`
  return `${word} by ${TYPES[type]} to ${whose} on ${resourceId} (step ${step})`
}

function rowsLines(explanation: RowsExplanation): string[] {
  const { sees, plan, conditions, oneRecord, exempt, tenants, linkedTasks } = explanation
  return [
    `rows: ${sees}`,
    ...(plan === null ? [] : [`  asked for: ${PLANS[plan]}`]),
    ...conditions.flatMap(({ anyOf }) => [
      '  every row needs one of',
      ...anyOf.map((term) => `    ${rowsPermissionLine(term)}`),
    ]),
    ...(oneRecord ? ['  and one record has to grant all of it'] : []),
    ...(exempt === null ? [] : [`  open to all: rows with ${exempt}`]),
    ...(linkedTasks === null ? [] : [`  ${counted(linkedTasks, 'task')} by links to the user or the groups`]),
    ...(tenants === null ? [] : [`  only rows of no tenant, or of ${listOf(tenants)}`]),
    '',
  ]
}

const PLANS = {
  none: 'not at all, or for no rows to hear whether the query is valid',
  narrowed: 'in one query for these rows alone',
  parts: 'in several queries for these rows alone',
  filter: 'all rows of the query, which are filtered',
} as const

function rowsPermissionLine({ permission, resource, record, ids, idCount }: RowsPermission): string {
  const some = idCount > ids.length ? `${ids.join(', ')} and ${idCount - ids.length} more` : ids.join(', ')
  return `${permission} on ${resource}: all: ${decidedBy(record)}; single ones: ${some === '' ? 'none' : some}`
}

function responseLines(explained: RequestExplanation): string[] {
  const { decision, stage, answer } = explained
  if (showsNothing(explained)) return ['Permitted, but no row is answered: some record has to open them']
  if (decision === 'permitted' || answer === null) return ['Permitted: the request goes on to the engine']
  const error = answer.error === null ? '' : ` (${answer.error})`
  const words = wordsOf(answer.body)
  // The message of a visible refusal already contains the reason.
  const reason = answer.reason === null || words.endsWith(answer.reason) ? [] : [`  ${answer.reason}`]
  return [`Refused at stage ${stage}: ${answer.status}${error}`, `  ${words}`, ...reason]
}

/** Returns whether a request is permitted, but gets none of its items. */
export function showsNothing({ decision, policy }: Pick<RequestExplanation, 'decision' | 'policy'>): boolean {
  return decision === 'permitted' && policy?.rows?.sees === 'no rows'
}

function wordsOf(body: unknown): string {
  const [type, message] = [bodyText(body, 'type'), bodyText(body, 'message')]
  return type === null || message === null ? JSON.stringify(body) : `${type}: ${message}`
}

function grantLines({ policy }: RequestExplanation): string[] {
  if (policy === null || policy.missing.length === 0) return []
  const head =
    policy.sufficient === true
      ? 'It would be permitted with (tried):'
      : 'Missing, but not enough by itself (tried):'
  return [
    '',
    'Missing:',
    ...missingLines(policy.missing),
    head,
    ...policy.grants.map((grant) => `  ${lineOfRecord(grant)}`),
    ...otherRefusalLines(policy),
  ]
}

function otherRefusalLines({ otherRefusal }: Explanation): string[] {
  if (otherRefusal === null) return []
  const { status, error, reason } = otherRefusal
  return [`With it, the request is refused: ${status}${error === null ? '' : ` (${error})`}`, `  ${reason}`]
}

function missingLines(missing: readonly MissingPermission[]): string[] {
  const needs = new Map<number, string[]>()
  for (const one of missing) needs.set(one.need, [...(needs.get(one.need) ?? []), permissionText(one)])
  return [...new Set([...needs.values()].map((alternatives) => `  ${alternatives.join(' or ')}`))]
}
