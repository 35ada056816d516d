import { KNOWN_COMMANDS } from '../../../operations/job-command-names.ts'
import type { Exempt, When } from '../../../operations/notation.ts'
import type { LookupName } from '../../../operations/lookup-name.ts'
import { bodyValue, bodyFlag, bodyText } from '../../../request/body.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { splitAt } from '../../../request/java-text.ts'

type Situation = Pick<EvaluationContext, 'accessRequest' | 'loaded' | 'each'>
type Named = Exclude<When, `${'body' | 'query'}:${string}` | Running>
type Running = Exclude<Extract<When, `the job runs ${string}`>, 'the job runs an unknown command'>

/** Whether a condition holds for this request; null: only the engine can know. */
export function applies(when: When | null, situation: Situation): boolean | null {
  if (when === null) return true
  if (isRunning(when)) return runs(when, situation)
  return isNamed(when) ? NAMED[when](situation) : memberApplies(when, situation)
}

const NAMED: Readonly<Record<Named, (situation: Situation) => boolean | null>> = {
  'no definition given': (situation) =>
    !isGiven(situation, 'query:processDefinitionKeyIn') && !isGiven(situation, 'query:processDefinitionIdIn'),
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
  'the plan is valid': () => null,
  'the task belongs to a case': (situation) =>
    ofEntity('task', situation, (attributes) => has(attributes, 'caseExecutionId')),
  'the task belongs to a process': (situation) =>
    ofEntity('task', situation, (attributes) => has(attributes, 'processInstanceId')),
  'the worker does not hold the task': (situation) =>
    isGiven(situation, 'body:workerId') &&
    ofEntity(
      'externalTask',
      situation,
      (attributes) => attributes['workerId'] !== bodyText(situation.accessRequest.body, 'workerId'),
    ),
}

/** Incidents that end when their cause does. */
const ENGINES_OWN: ReadonlySet<string> = new Set(['failedJob', 'failedExternalTask'])

/** Whether everybody finds the entity, whatever the records say. */
export function isExempt(exempt: Exempt | null, attributes: Attributes | null): boolean {
  if (exempt === null || attributes === null) return false
  if (exempt === 'case') return (attributes['caseExecutionId'] ?? null) !== null
  return (attributes[exempt === 'no execution' ? 'executionId' : 'processDefinitionKey'] ?? null) === null
}

/** Whether only the engine knows if a condition holds. */
export function isForEngine(when: When): boolean {
  return when === 'nothing is left active' || when === 'the plan is valid'
}

function isRunning(when: When): when is Running {
  return when.startsWith(RUNS) && !isNamed(when)
}

const RUNS = 'the job runs '

function runs(when: Running, situation: Situation): boolean | null {
  return ofCommand(situation, (command) => when.slice(RUNS.length).split(' or ').includes(command))
}

/** Whether the path's job has no definition, and does what is asked for. */
function ofCommand(situation: Situation, isSo: (command: string) => boolean): boolean | null {
  return ofEntity('executedJob', situation, ({ command = null }) => command !== null && isSo(command))
}

function isNamed(when: When): when is Named {
  return Object.hasOwn(NAMED, when)
}

/** What is true of the path's entity; null: nobody has looked at it, so only the engine can know. */
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

function memberApplies(when: string, situation: Situation): boolean {
  if (when.includes(' and ')) return when.split(' and ').every((one) => memberApplies(one, situation))
  const [member = '', ...words] = when.split(' ')
  const { userId, tenants } = situation.accessRequest.principal
  switch (words.join(' ')) {
    case 'given':
      return isGiven(situation, member)
    case 'absent':
      return !isGiven(situation, member)
    case 'of another tenant':
      return isGiven(situation, member) && !tenants.includes(textOf(situation, member) ?? '')
    case 'is true':
      return bodyFlag(situation.accessRequest.body, placeOf(member).name)
    default:
      return isGiven(situation, member) && textOf(situation, member) !== userId
  }
}

function textOf({ accessRequest }: Situation, member: string): string | null {
  const { from, name } = placeOf(member)
  return from === 'query' ? (accessRequest.query.get(name) ?? null) : bodyText(accessRequest.body, name)
}

function isGiven(situation: Situation, member: string): boolean {
  const value = valueOf(situation, member)
  if (isList(member) && typeof value === 'string') return splitAt(value, ',').length > 0
  return value !== undefined && value !== null
}

/** A parameter of the query that is a list. One without members restricts nothing. */
function isList(member: string): boolean {
  return member.startsWith('query:') && member.endsWith('In')
}

function valueOf({ accessRequest }: Situation, member: string): unknown {
  const { from, name } = placeOf(member)
  return from === 'query' ? accessRequest.query.get(name) : bodyValue(accessRequest.body, name)
}

function placeOf(member: string): { readonly from: string; readonly name: string } {
  const at = member.indexOf(':')
  return { from: member.slice(0, at), name: member.slice(at + 1) }
}
