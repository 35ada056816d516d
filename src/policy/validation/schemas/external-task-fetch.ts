import { hasNumerals } from '../../../request/json.ts'
import { isObject } from '../../../request/value.ts'
import { DEFER, membersOf, type Members, type ValidationRule } from './engine-error.ts'

/*
 * Bodies of `fetchAndLock` that every engine accepts, whatever its data. The engine judges all other bodies. A fetch of a caller who
 * may fetch nothing is answered without the engine if its body is one of these.
 */

export const fetchRules: readonly ValidationRule[] = [
  { find: ({ body }) => (isPlainFetch(membersOf(body)) ? null : DEFER) },
]

type IsPlain = (value: unknown) => boolean

const text: IsPlain = (value) => typeof value === 'string' && value !== ''
const flag: IsPlain = (value) => typeof value === 'boolean'
const texts: IsPlain = (value) => Array.isArray(value) && value.every(text)
const scalars: IsPlain = (value) =>
  isObject(value) && Object.values(value).every((one) => one === null || typeof one !== 'object')
const optional =
  (isPlain: IsPlain): IsPlain =>
  (value) =>
    value === null || isPlain(value)

function wholeNumber(min: number, max: number): IsPlain {
  return (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
}

/** The longest time in milliseconds. An engine accepts a longer lock, but holds no poll for longer. */
const MAX_HOLD_MS = 1_800_000
const MAX_LOCK_MS = 1_000_000_000_000
const MAX_TASKS = 1_000_000

const FETCH = new Map<string, IsPlain>([
  ['workerId', text],
  ['maxTasks', wholeNumber(0, MAX_TASKS)],
  ['usePriority', flag],
  ['asyncResponseTimeout', optional(wholeNumber(0, MAX_HOLD_MS))],
  ['topics', (value) => Array.isArray(value) && value.length > 0 && value.every(isPlainTopic)],
])

const TOPIC = new Map<string, IsPlain>([
  ['topicName', text],
  ['lockDuration', wholeNumber(1, MAX_LOCK_MS)],
  ['businessKey', optional(text)],
  ['deserializeValues', flag],
  ['includeExtensionProperties', flag],
  ['localVariables', flag],
  ['processDefinitionId', optional(text)],
  ['processDefinitionIdIn', optional(texts)],
  ['processDefinitionKey', optional(text)],
  ['processDefinitionKeyIn', optional(texts)],
  ['processDefinitionVersionTag', optional(text)],
  ['processVariables', optional(scalars)],
  ['tenantIdIn', optional(texts)],
  ['variables', optional(texts)],
  ['withoutTenantId', flag],
])

function isPlainFetch(fetch: Members): boolean {
  const isComplete = ['workerId', 'maxTasks', 'topics'].every((name) => name in fetch)
  return isComplete && !hasNumerals(fetch) && hasOnly(fetch, FETCH)
}

function isPlainTopic(topic: unknown): boolean {
  return isObject(topic) && 'topicName' in topic && 'lockDuration' in topic && hasOnly(topic, TOPIC)
}

function hasOnly(members: Members, types: ReadonlyMap<string, IsPlain>): boolean {
  return Object.keys(members).every((name) => types.get(name)?.(members[name]) === true)
}

/** The members of a body that this file judges. */
export const FETCH_MEMBERS: ReadonlySet<string> = new Set(FETCH.keys())
