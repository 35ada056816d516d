import { KNOWN_COMMANDS } from '../operations/job-commands.ts'
import type { Exempt, LookupName, When } from '../operations/notation.ts'
import { bodyFlag, bodyText, bodyValue } from './asked.ts'
import { factsOf, type Ground } from './check.ts'
import type { Facts } from './lookup.ts'
import { splitAt } from './schemas/query-text.ts'

type Situation = Pick<Ground, 'asked' | 'known' | 'each'>
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
    entityOf('execution', situation)['processInstanceId'] !== situation.asked.params['id'],
  'the incident was not created by a caller': (situation) =>
    ENGINES_OWN.has(entityOf('incident', situation)['incidentType'] ?? ''),
  'the job has an instance': (situation) => has('jobOfInstance', 'processInstanceId', situation),
  'the job has only a definition': (situation) =>
    !has('jobOfInstance', 'processInstanceId', situation) &&
    has('jobOfInstance', 'processDefinitionKey', situation),
  'the job runs an unknown command': (situation) => {
    const command = commandIn(situation)
    return command !== null && !KNOWN_COMMANDS.has(command)
  },
  'the plan is valid': () => null,
  'the task belongs to a case': (situation) => has('task', 'caseExecutionId', situation),
  'the task belongs to a process': (situation) => has('task', 'processInstanceId', situation),
  'the worker does not hold the task': (situation) =>
    isGiven(situation, 'body:workerId') &&
    entityOf('externalTask', situation)['workerId'] !== bodyText(situation.asked.body, 'workerId'),
}

/** Incidents that end when their cause does. */
const ENGINES_OWN: ReadonlySet<string> = new Set(['failedJob', 'failedExternalTask'])

/** Whether everybody finds the entity, whatever the records say. */
export function isExempt(exempt: Exempt | null, facts: Facts | null): boolean {
  if (exempt === null || facts === null) return false
  if (exempt === 'case') return (facts['caseExecutionId'] ?? null) !== null
  return (facts[exempt === 'no execution' ? 'executionId' : 'processDefinitionKey'] ?? null) === null
}

/** Whether only the engine knows if a condition holds. */
export function isForEngine(when: When): boolean {
  return when === 'nothing is left active' || when === 'the plan is valid'
}

function isRunning(when: When): when is Running {
  return when.startsWith(RUNS) && !isNamed(when)
}

const RUNS = 'the job runs '

function runs(when: Running, situation: Situation): boolean {
  const command = commandIn(situation)
  return command !== null && when.slice(RUNS.length).split(' or ').includes(command)
}

/** What the path's job does, where it has no definition. */
function commandIn(situation: Situation): string | null {
  return entityOf('executedJob', situation)['command'] ?? null
}

function isNamed(when: When): when is Named {
  return Object.hasOwn(NAMED, when)
}

/** The path's entity. */
function entityOf(lookup: LookupName, situation: Situation): Facts {
  return factsOf({ lookup, by: { from: 'path', name: 'id' } }, situation) ?? {}
}

function has(lookup: LookupName, member: string, situation: Situation): boolean {
  return (entityOf(lookup, situation)[member] ?? null) !== null
}

function memberApplies(when: string, situation: Situation): boolean {
  if (when.includes(' and ')) return when.split(' and ').every((one) => memberApplies(one, situation))
  const [member = '', ...words] = when.split(' ')
  const { userId, tenants } = situation.asked.principal
  switch (words.join(' ')) {
    case 'given':
      return isGiven(situation, member)
    case 'absent':
      return !isGiven(situation, member)
    case 'of another tenant':
      return isGiven(situation, member) && !tenants.includes(textOf(situation, member) ?? '')
    case 'is true':
      return bodyFlag(situation.asked.body, placeOf(member).name)
    default:
      return isGiven(situation, member) && textOf(situation, member) !== userId
  }
}

function textOf({ asked }: Situation, member: string): string | null {
  const { from, name } = placeOf(member)
  return from === 'query' ? (asked.query.get(name) ?? null) : bodyText(asked.body, name)
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

function valueOf({ asked }: Situation, member: string): unknown {
  const { from, name } = placeOf(member)
  return from === 'query' ? asked.query.get(name) : bodyValue(asked.body, name)
}

function placeOf(member: string): { readonly from: string; readonly name: string } {
  const at = member.indexOf(':')
  return { from: member.slice(0, at), name: member.slice(at + 1) }
}
