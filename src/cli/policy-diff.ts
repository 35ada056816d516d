import { GLOBAL, resourceOfType } from '../operations/authorization-record.ts'
import { RESOURCES } from '../operations/permissions.ts'
import { type RecordChange, recordChangesBetween } from '../explain/compared-policy.ts'
import {
  type ComparedSubject,
  type CoveredChange,
  EffectiveComparison,
  type EffectiveChange,
  type SubjectChanges,
  type UserChange,
} from '../explain/effective-changes.ts'
import { LineDecider } from '../explain/line-decision.ts'
import { decidedBy } from '../pipeline/explain-text.ts'
import { counted } from '../pipeline/plural.ts'
import { CommandError } from './command-failure.ts'
import { type PolicySource, readPolicy, settingChangesBetween } from './compared-policies.ts'
import { linesText, tableLines } from './output.ts'
import { RequestChanges, type RequestTally } from './request-changes.ts'

export interface PolicyDiffOptions extends Omit<PolicySource, 'file'> {
  /** Files with audit lines. Undefined: no requests are compared. */
  readonly audit: readonly string[] | undefined
}

export interface PolicyDiff {
  /** Paths of the settings that differ. */
  readonly settings: readonly string[]
  readonly records: readonly RecordChange[]
  readonly users: readonly UserChange[]
  readonly effects: readonly SubjectChanges[]
  readonly covered: readonly CoveredChange[]
  readonly requests: RequestChanges | null
}

/** Compares two files with records, or two configurations. @throws ConfigError or CommandError if a file cannot be used */
export async function comparePolicies(
  files: { readonly before: string; readonly after: string },
  { audit, ...source }: PolicyDiffOptions,
): Promise<PolicyDiff> {
  const policies = {
    before: readPolicy({ ...source, file: files.before }),
    after: readPolicy({ ...source, file: files.after }),
  }
  const records = recordChangesBetween(policies)
  const comparison = new EffectiveComparison(policies, records)
  const requests =
    audit === undefined ? null : new RequestChanges(new LineDecider(policies, comparison), source.engine)
  if (requests !== null) for (const file of audit ?? []) await requests.read(file)
  if (requests?.lines === 0) throw new CommandError(noLinesText(source.engine, requests))
  return {
    settings: settingChangesBetween(policies),
    records,
    users: comparison.userChanges(),
    effects: comparison.changes(),
    covered: comparison.covered(records),
    requests,
  }
}

function noLinesText(engine: string, { engines }: RequestChanges): string {
  return engines.size === 0
    ? 'There is no audit line of a request'
    : `No line is of engine ${engine}, but of ${[...engines].join(', ')}: choose one with --engine`
}

/** Settings that only change permissions on ids, which `effects` has. */
const IN_EFFECTS: ReadonlySet<string> = new Set([
  'authorization.revokes',
  'authorization.disabledPermissions',
  'authorization.implied.identity',
])

/** Returns whether a caller gains or loses something, or may do so because of a setting whose effects are not compared. */
export function changesDecisions({ settings, users, effects, requests }: PolicyDiff): boolean {
  const others = settings.filter((path) => !IN_EFFECTS.has(path))
  return others.length + users.length + effects.length + (requests?.changed ?? 0) > 0
}

export function policyDiffText(diff: PolicyDiff): string {
  const { settings, records, users, effects, covered, requests } = diff
  return linesText([
    ...section(
      'Settings',
      settings.map((path) => `${path} differs`),
    ),
    ...section('Records', records.map(recordLine)),
    ...section('Users', users.map(userLine)),
    ...section('Permissions', effects.flatMap(effectLines)),
    ...section('Without effect', coveredLines(covered)),
    ...(requests === null ? [] : requestLines(requests)),
    `${counted(records.length, 'record')} ${records.length === 1 ? 'differs' : 'differ'}; ${changesDecisions(diff) ? 'callers gain or lose permissions' : 'no caller gains or loses a permission'}`,
  ])
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`), '']
}

const KINDS = ['GLOBAL', 'GRANT', 'REVOKE'] as const

function recordLine({ change, added, removed, ...record }: RecordChange): string {
  const names = [
    ...removed.map((name) => (change === 'changed' ? `-${name}` : name)),
    ...added.map((name) => (change === 'changed' ? `+${name}` : name)),
  ]
  return `${change} ${recordText(record)}: ${names.join(', ')}`
}

function recordText({
  type,
  userId,
  groupId,
  resourceType,
  resourceId,
}: Pick<RecordChange, 'type' | 'userId' | 'groupId' | 'resourceType' | 'resourceId'>): string {
  const whose = type === GLOBAL ? 'everybody' : groupId != null ? `group ${groupId}` : `user ${userId ?? ''}`
  return `${KINDS[type]} to ${whose} on ${resourceName(resourceType)} ${resourceId ?? ''}`
}

function resourceName(resourceType: number): string {
  const resource = resourceOfType(resourceType)
  return resource === null ? String(resourceType) : RESOURCES[resource].name
}

function userLine({ user, change, groups, tenants, administrator }: UserChange): string {
  if (change !== 'changed') return `${change} user ${user}`
  const parts = [
    ...groups.gained.map((name) => `gains group ${name}`),
    ...groups.lost.map((name) => `loses group ${name}`),
    ...tenants.gained.map((name) => `gains tenant ${name}`),
    ...tenants.lost.map((name) => `loses tenant ${name}`),
    ...(administrator === null
      ? []
      : [administrator === 'gained' ? 'becomes administrator' : 'is no longer administrator']),
  ]
  return `user ${user} ${parts.join(', ')}`
}

/** The largest numbers of subjects and ids that a line names. */
const SHOWN_NAMES = 10

function effectLines({ subjects, changes }: SubjectChanges): readonly string[] {
  return [subjectsText(subjects), ...joinedChanges(changes).map((line) => `  ${line}`)]
}

function subjectsText(subjects: readonly ComparedSubject[]): string {
  const names = (kind: ComparedSubject['kind']) =>
    subjects.filter((one) => one.kind === kind).map(({ name }) => name)
  return [
    ...names('everybody').map(() => 'everybody'),
    ...kindText('group', names('group')),
    ...kindText('user', names('user')),
  ].join('; ')
}

function kindText(kind: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${names.length === 1 ? kind : `${kind}s`} ${shown(names)}`]
}

function shown(names: readonly string[]): string {
  const more = names.length - SHOWN_NAMES
  return `${names.slice(0, SHOWN_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Returns a line for each change, with the permissions of equal changes on one id together. */
function joinedChanges(changes: readonly EffectiveChange[]): readonly string[] {
  const byText = new Map<string, { readonly first: EffectiveChange; readonly permissions: string[] }>()
  for (const change of changes) {
    const key = `${wordOf(change)} ${targetText(change)} ${reasonText(change)}`
    const known = byText.get(key)
    if (known === undefined) byText.set(key, { first: change, permissions: [change.permission] })
    else known.permissions.push(change.permission)
  }
  return [...byText.values()].map(
    ({ first, permissions }) =>
      `${wordOf(first)} ${permissions.join(', ')} on ${targetText(first)} (${reasonText(first)})`,
  )
}

function wordOf({ state: { before, after } }: EffectiveChange): string {
  if (after === 'granted' || after === 'not checked')
    return before === 'granted' ? 'is no longer checked for' : 'gains'
  if (before === 'granted' || before === 'not checked') return 'loses'
  return after === 'revoked' ? 'is now revoked' : 'is no longer revoked'
}

function targetText({ resource, resourceId, except }: EffectiveChange): string {
  return `${resource} ${resourceId}${except.length === 0 ? '' : ` except ${shown(except)}`}`
}

function reasonText({ decidedBy: { before, after }, resource }: EffectiveChange): string {
  return `before: ${decidedBy(before, resource)}; after: ${decidedBy(after, resource)}`
}

function coveredLines(covered: readonly CoveredChange[]): readonly string[] {
  const byText = new Map<
    string,
    { readonly permissions: Set<string>; readonly subjects: Map<string, ComparedSubject> }
  >()
  for (const { record, permission, subject, decidedBy: deciders } of covered) {
    const reason = deciders.before === null ? deciders.after : (deciders.after ?? deciders.before)
    const key = `${recordText(record)}: ${reason === null ? 'no record decides, before and after' : decidedBy(reason, resourceName(record.resourceType))}`
    const known = byText.get(key) ?? {
      permissions: new Set<string>(),
      subjects: new Map<string, ComparedSubject>(),
    }
    byText.set(key, known)
    known.permissions.add(permission)
    known.subjects.set(`${subject.kind} ${subject.name}`, subject)
  }
  return [...byText].map(
    ([text, { permissions, subjects }]) =>
      `${[...permissions].join(', ')} for ${subjectsText([...subjects.values()])}: ${text}`,
  )
}

function requestLines(requests: RequestChanges): readonly string[] {
  const { lines, unreadable, changed, undecidable, unchanged, notByOld, firstNotByOld, changes, undecided } =
    requests
  return [
    ...section('Requests', tableLines(changes.map(changeCells))),
    ...section('Not decidable from the line', tableLines(undecided.map(undecidedCells))),
    ...(firstNotByOld === null
      ? []
      : [
          `${counted(notByOld, 'line')} not decided by OLD, for example ${firstNotByOld.request} (${firstNotByOld.requestId ?? 'no request id'})`,
        ]),
    ...(unreadable === 0 ? [] : [`${counted(unreadable, 'line')} could not be read as JSON`]),
    `${counted(lines, 'audit line')}: ${changed} would change, ${unchanged} would not, ${undecidable} not decidable from the line, ${notByOld} not decided by OLD`,
  ]
}

function changeCells({ before, after, user, operation, times, example }: RequestTally): readonly string[] {
  return [`${before} → ${after ?? ''}`, operation, user, counted(times, 'time'), exampleText(example)]
}

function undecidedCells({ operation, user, times, example, reason }: RequestTally): readonly string[] {
  return [operation, user, counted(times, 'time'), reason ?? '', exampleText(example)]
}

function exampleText({ request, requestId }: RequestTally['example']): string {
  return `for example ${request}${requestId === null ? '' : ` (request ${requestId})`}`
}

/** Returns the differences for programs. */
export function policyDiffJson({
  settings,
  records,
  users,
  effects,
  covered,
  requests,
}: PolicyDiff): unknown {
  return {
    settings,
    records: records.map((record) => ({ ...record, resource: resourceName(record.resourceType) })),
    users,
    effects,
    covered: covered.map(({ record, ...rest }) => ({ record: recordText(record), ...rest })),
    requests:
      requests === null
        ? null
        : {
            lines: requests.lines,
            unreadable: requests.unreadable,
            unchanged: requests.unchanged,
            changed: requests.changed,
            undecidable: requests.undecidable,
            notByOld: requests.notByOld,
            exampleNotByOld: requests.firstNotByOld,
            changes: requests.changes,
            undecided: requests.undecided,
          },
  }
}
