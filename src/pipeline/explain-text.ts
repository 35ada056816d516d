import type { RequestExplanation } from './explain.ts'
import type { MissingPermission } from '../errors.ts'
import { bodyText } from '../request/body.ts'
import type {
  DecidingRecord,
  DecidedPermission,
  ItemsPermission,
  ItemsExplanation,
  CheckExplanation,
  Explanation,
} from '../explain/explanation.ts'
import { counted } from './plural.ts'
import { lineOfRecord } from './record-line.ts'

/** Formats an explanation for people. */
export function textOfExplained(explained: RequestExplanation): string {
  const { request, operation, engine, principal, policy } = explained
  const lines = [
    `${request} (${operation}) at engine ${engine}`,
    `${principal.userId}: groups ${listOf(principal.groups)}; tenants ${listOf(principal.tenants)}`,
    ...modeLines(explained),
    ...(explained.ceiling === 'all'
      ? []
      : [`ceiling ${explained.ceiling}: ${CEILING_TEXTS[explained.ceiling]}`]),
    '',
    ...(explained.open ? ['open: this request needs no credentials', ''] : []),
    ...(policy === null ? [] : policy.checks.flatMap(checkLines)),
    ...(policy?.checks.length === 0 && policy.items === null
      ? ['no check: every authenticated user may send this request', '']
      : []),
    ...(policy === null || policy.items === null ? [] : itemsLines(policy.items)),
    ...responseLines(explained),
    ...grantLines(explained),
  ]
  // An id may contain control characters that a terminal would execute.
  return `${lines.map((line) => line.replace(/\p{Cc}/gu, ' ')).join('\n')}\n`
}

const CEILING_TEXTS = {
  read: 'only operations that read are permitted',
  safe: 'only operations that read, and safe writes, are permitted',
} as const

function listOf(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ')
}

function modeLines({ modes }: RequestExplanation): string[] {
  return Object.entries(modes)
    .filter(([, mode]) => mode !== 'enforce')
    .map(([name, mode]) => `${name}.mode is ${mode}: the gateway does not refuse these requests`)
}

function checkLines({ check, requirement, outcome, decisions, more }: CheckExplanation): string[] {
  const [only] = decisions
  const isOne = decisions.length === 1 && more === 0
  return [
    `check ${check}: ${askedFor(requirement)}: ${outcome}`,
    ...(isOne && only !== undefined
      ? only.permissions.map((decided) => `  ${permissionLine(decided)}`)
      : decisions.flatMap((one) => [
          `  ${one.outcome}`,
          ...one.permissions.map((decided) => `    ${permissionLine(decided)}`),
        ])),
    ...(more === 0 ? [] : [`  and ${more} more`]),
    '',
  ]
}

function askedFor({ anyOf, allOf, admin, when, each, after }: CheckExplanation['requirement']): string {
  const terms = (allOf ?? anyOf ?? []).map((term) => term.split(' ', 1)[0] ?? '')
  const permissions =
    terms.length < 2 ? terms.join('') : `${allOf === undefined ? 'any' : 'all'} of ${terms.join(', ')}`
  return [
    [...(admin === true ? ['an administrator'] : []), ...(permissions === '' ? [] : [permissions])].join(
      ', or ',
    ),
    ...(each === undefined ? [] : [`for each of ${each}`]),
    ...(when === undefined ? [] : [`when ${when}`]),
    ...(after === true ? ['checked after the engine has executed the request'] : []),
  ].join(', ')
}

function permissionLine(decided: DecidedPermission): string {
  return `${permissionText(decided)}: ${decidedBy(decided.record, decided.resource)}`
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

/** The reason for a permission without a record, by the resource. */
const IMPLIED: Readonly<Record<string, string>> = {
  Task: 'by a link to',
  Filter: 'to its owner,',
  User: 'to themselves,',
  Group: 'by the membership in',
  Tenant: 'by a membership of',
}

/** Formats the record that decides: `granted by GRANT to group clerks on * (step 6)`. */
export function decidedBy(record: DecidingRecord | null, resource: string): string {
  if (record === null) return 'no record'
  const { permitted, implied, type, level, subject, resourceId, step } = record
  const word = permitted ? 'granted' : 'revoked'
  if (implied) return `${word} ${IMPLIED[resource] ?? 'implicitly to'} ${level} ${subject} (step ${step})`
  const whose = level === 'global' ? 'everybody' : `${level} ${subject}`
  return `${word} by ${TYPES[type]} to ${whose} on ${resourceId} (step ${step})`
}

function itemsLines(explanation: ItemsExplanation): string[] {
  const { sees, plan, conditions, oneRecord, exempt, tenants, linkedTasks, owner } = explanation
  return [
    `visible items: ${VISIBLE[sees]}`,
    ...(plan === null ? [] : [`  plan: ${PLANS[plan]}`]),
    ...conditions.flatMap(({ anyOf }) => [
      '  each item needs one of',
      ...anyOf.map((term) => `    ${itemsPermissionLine(term)}`),
    ]),
    ...(oneRecord ? ['  and a single record must grant all of them'] : []),
    ...(exempt === null
      ? []
      : [`  visible to every user: items with ${exempt === 'case' ? 'a case' : exempt}`]),
    ...(linkedTasks === null
      ? []
      : [`  visible through links to the user or the groups: ${counted(linkedTasks, 'task')}`]),
    ...(owner === null ? [] : [`  visible to their owner: items of user ${owner}`]),
    ...(tenants === null
      ? []
      : [`  only items without a tenant${tenants.length === 0 ? '' : `, or of ${listOf(tenants)}`}`]),
    '',
  ]
}

/** The visible items, as `policy.items.sees` of the JSON names them. */
const VISIBLE: Readonly<Record<ItemsExplanation['sees'], string>> = {
  'all items': 'all',
  'some items': 'some',
  'no items': 'none',
  'cannot be told exactly': 'cannot be determined',
}

const PLANS = {
  denied: 'no request to the engine, or one that returns no items and checks the query',
  rewrite: 'one query for the visible items',
  union: 'several queries for the visible items',
  scan: 'all items of the query, from which the gateway removes the others',
} as const

function itemsPermissionLine({ permission, resource, record, ids, idCount }: ItemsPermission): string {
  const some = idCount > ids.length ? `${ids.join(', ')} and ${idCount - ids.length} more` : ids.join(', ')
  return `${permission} on ${resource}: for all ids: ${decidedBy(record, resource)}; for single ids: ${some === '' ? 'none' : some}`
}

function responseLines(explained: RequestExplanation): string[] {
  const { decision, stage, response } = explained
  if (showsNothing(explained)) return ['Permitted, but no item is visible: a record must grant it']
  if (decision === 'permitted' || response === null) return ['Permitted: the request is sent to the engine']
  const error = response.error === null ? '' : ` (${response.error})`
  const words = wordsOf(response.body)
  // The engine's exception already names the permissions.
  const isSaid = words.startsWith('AuthorizationException: ') || words.endsWith(response.reason ?? '')
  const reason = response.reason === null || isSaid ? [] : [`  ${response.reason}`]
  return [`Refused at stage ${stage}: ${response.status}${error}`, `  ${words}`, ...reason]
}

/** Returns whether a request is permitted, but gets none of its items. */
export function showsNothing({ decision, policy }: Pick<RequestExplanation, 'decision' | 'policy'>): boolean {
  return decision === 'permitted' && policy?.items?.sees === 'no items'
}

function wordsOf(body: unknown): string {
  const [type, message] = [bodyText(body, 'type'), bodyText(body, 'message')]
  return type === null || message === null ? JSON.stringify(body) : `${type}: ${message}`
}

function grantLines({ policy }: RequestExplanation): string[] {
  if (policy === null || policy.missing.length === 0) return []
  const head =
    policy.sufficient === true
      ? 'These records would permit it (tested):'
      : 'These records are needed, but do not suffice (tested):'
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
  return [
    `With these records, the request is still refused: ${status}${error === null ? '' : ` (${error})`}`,
    `  ${reason}`,
  ]
}

function missingLines(missing: readonly MissingPermission[]): string[] {
  const needs = new Map<number, string[]>()
  for (const one of missing) needs.set(one.need, [...(needs.get(one.need) ?? []), permissionText(one)])
  return [...new Set([...needs.values()].map((alternatives) => `  ${alternatives.join(' or ')}`))]
}
