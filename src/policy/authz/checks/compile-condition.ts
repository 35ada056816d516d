import { CHECKED_COMMANDS, KNOWN_COMMANDS } from '../../../operations/job-command-names.ts'
import type { EngineCondition, CheckCondition } from '../../../operations/notation.ts'
import type { LookupName } from '../../../operations/lookup-name.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { bodyFlag, bodyText, bodyValue } from '../../../request/body.ts'
import { splitAt } from '../../../request/java-text.ts'
import type { Condition, ConditionMember, Situation } from './compiled-check.ts'
import { internName } from './compile-permission.ts'

type EvaluateCondition = Condition['holds']
type NamedCondition = Exclude<CheckCondition, `${'body' | 'query'}:${string}` | JobCondition>
type JobCondition = Exclude<
  Extract<CheckCondition, `the job runs ${string}`>,
  'the job runs an unknown command'
>

/** Compiles a condition. @throws Error if the notation does not know it */
export function compileCondition(when: CheckCondition): Condition {
  return {
    holds: compileHolds(when),
    ofEngine: isOfEngine(when) ? when : null,
    isOfBody: when.startsWith('body:'),
    isOfTenant: when.endsWith(' of another tenant'),
    members: membersOf(when),
  }
}

function membersOf(when: CheckCondition): readonly ConditionMember[] {
  if (when === 'no definition given')
    return [DEFINITION_KEYS, DEFINITION_IDS].map((member) => ({ ...member, isRequired: false }))
  if (isNamed(when) || when.startsWith(RUNS)) return []
  return when.split(' and ').map((term) => {
    const { member, comparison } = comparisonIn(term, when)
    return { ...member, isRequired: comparison === 'given' }
  })
}

function compileHolds(when: CheckCondition): EvaluateCondition {
  if (isNamed(when)) return NAMED[when]
  if (when.startsWith(RUNS)) return compileCommands(when)
  const members = when.split(' and ').map((term) => compileMember(term, when))
  return (situation) => members.every((holds) => holds(situation))
}

const NAMED: Readonly<Record<NamedCondition, EvaluateCondition>> = {
  'no definition given': (situation) =>
    !isGiven(situation, DEFINITION_KEYS) && !isGiven(situation, DEFINITION_IDS),
  'nothing is left active': () => null,
  'the execution is no instance': (situation) =>
    ofEntity(
      'execution',
      situation,
      (attributes) => attributes['processInstanceId'] !== situation.accessRequest.params['id'],
    ),
  'the incident was not created by a caller': (situation) =>
    ofEntity('incident', situation, (attributes) => ENGINES_OWN.has(attributes['incidentType'] ?? '')),
  'the job has an instance': (situation) =>
    ofEntity('jobOfInstance', situation, (attributes) => has(attributes, 'processInstanceId')),
  'the job has only a definition': (situation) =>
    ofEntity(
      'jobOfInstance',
      situation,
      (attributes) => !has(attributes, 'processInstanceId') && has(attributes, 'processDefinitionKey'),
    ),
  'the job runs an unknown command': (situation) =>
    ofCommand(situation, (command) => !KNOWN_COMMANDS.has(command)),
  'the owner of the filter changes': (situation) =>
    situation.impliesFilters === true &&
    // The engine removes the owner if the body has none.
    ofEntity('filter', situation, (attributes) => {
      const owner = bodyValue(situation.accessRequest.body, 'owner') ?? null
      return owner !== (attributes['owner'] ?? null)
    }),
  'the plan is valid': () => null,
  'the task belongs to a case': (situation) =>
    ofEntity('task', situation, (attributes) => has(attributes, 'caseExecutionId')),
  'the task belongs to a process': (situation) =>
    ofEntity('task', situation, (attributes) => has(attributes, 'processInstanceId')),
  'the worker does not hold the task': (situation) =>
    isGiven(situation, WORKER_ID) &&
    ofEntity(
      'externalTask',
      situation,
      (attributes) => attributes['workerId'] !== bodyText(situation.accessRequest.body, 'workerId'),
    ),
}

/** The types of incidents that the engine creates itself. Such an incident ends when its cause ends. */
const ENGINES_OWN: ReadonlySet<string> = new Set(['failedJob', 'failedExternalTask'])

const OF_ENGINE: Readonly<Record<EngineCondition, true>> = {
  'nothing is left active': true,
  'the plan is valid': true,
}

function isOfEngine(when: string): when is EngineCondition {
  return Object.hasOwn(OF_ENGINE, when)
}

function isNamed(when: string): when is NamedCondition {
  return Object.hasOwn(NAMED, when)
}

const RUNS = 'the job runs '
const COMMANDS: ReadonlySet<string> = new Set(CHECKED_COMMANDS)

function compileCommands(when: string): EvaluateCondition {
  const commands = new Set(when.slice(RUNS.length).split(' or '))
  for (const command of commands)
    if (!COMMANDS.has(command)) throw new Error(`unknown command ${command} in the condition "${when}"`)
  return (situation) => ofCommand(situation, (command) => commands.has(command))
}

/** Returns whether the job of the path has no process definition and `isSo` holds for its command. */
function ofCommand(situation: Situation, isSo: (command: string) => boolean): boolean | null {
  return ofEntity('executedJob', situation, ({ command = null }) => command !== null && isSo(command))
}

/** Returns whether `isSo` holds for the entity of the path. Null if the entity was not looked up, so that only the engine knows. */
function ofEntity(
  lookup: LookupName,
  { accessRequest, loaded }: Situation,
  isSo: (attributes: Attributes) => boolean,
): boolean | null {
  const attributes = loaded.find(lookup, accessRequest.params['id'] ?? null)
  if (attributes === undefined) return null
  return attributes !== null && isSo(attributes)
}

function has(attributes: Attributes, member: string): boolean {
  return (attributes[member] ?? null) !== null
}

/** A member of the body, or a parameter of the query. */
interface Member {
  readonly from: 'body' | 'query'
  readonly name: string
}

const DEFINITION_KEYS: Member = { from: 'query', name: 'processDefinitionKeyIn' }
const DEFINITION_IDS: Member = { from: 'query', name: 'processDefinitionIdIn' }
const WORKER_ID: Member = { from: 'body', name: 'workerId' }

const MEMBER =
  /^(body|query):(\w+(?:\.\w+)*) (given|absent|is true|is not true|is another user|of another tenant)$/

/** Compiles one comparison of one member. `when` is the whole condition, for the error message. */
function compileMember(term: string, when: string): (situation: Situation) => boolean {
  const { member, compare } = comparisonIn(term, when)
  return (situation) => compare(situation, member)
}

function comparisonIn(term: string, when: string) {
  const [, from, name = '', comparison = ''] = MEMBER.exec(term) ?? []
  const compare = COMPARISONS.get(comparison)
  if (compare === undefined || (comparison === 'is not true' && from !== 'body'))
    throw new Error(`unknown condition "${when}"`)
  const member: Member = { from: from === 'query' ? 'query' : 'body', name: internName(name) }
  return { member, comparison, compare }
}

const COMPARISONS: ReadonlyMap<string, (situation: Situation, member: Member) => boolean> = new Map([
  ['given', isGiven],
  ['absent', (situation, member) => !isGiven(situation, member)],
  ['is true', isTrue],
  ['is not true', ({ accessRequest }, { name }) => !bodyFlag(accessRequest.body, name)],
  [
    'is another user',
    (situation, member) =>
      isGiven(situation, member) &&
      memberText(situation, member) !== situation.accessRequest.principal.userId,
  ],
  [
    'of another tenant',
    (situation, member) =>
      isGiven(situation, member) &&
      !situation.accessRequest.principal.tenants.includes(memberText(situation, member) ?? ''),
  ],
])

/** The engine reads a flag of the query string as text (`Boolean.valueOf`), and a flag of a body as JSON. */
function isTrue({ accessRequest }: Situation, { from, name }: Member): boolean {
  if (from === 'body') return bodyFlag(accessRequest.body, name)
  return accessRequest.query.get(name)?.toLowerCase() === 'true'
}

function memberText({ accessRequest }: Situation, { from, name }: Member): string | null {
  return from === 'query' ? (accessRequest.query.get(name) ?? null) : bodyText(accessRequest.body, name)
}

/**
 * Returns whether the request has a value for the member. A list parameter of the query without elements counts as absent,
 * because it restricts nothing.
 */
function isGiven({ accessRequest }: Situation, { from, name }: Member): boolean {
  if (from === 'body') return (bodyValue(accessRequest.body, name) ?? null) !== null
  const text = accessRequest.query.get(name)
  return text !== undefined && (!name.endsWith('In') || splitAt(text, ',').length > 0)
}
