import type { CheckTargetSet } from '../../../operations/notation.ts'
import type { AccessRequest } from '../../../request/access-request.ts'
import type { DateFormat } from '../../../request/date-format.ts'
import { bodyTexts, bodyText } from '../../../request/body.ts'
import { instancesNamed } from './executions.ts'
import type { FindTargets, LookUps, ListedName, Targets } from './look-ups.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { LOOKUPS } from './lookup-rules.ts'
import { readList } from './lookup-response.ts'
import { inLists } from './lookup-lists.ts'
import { findCorrelated } from './message-subscriptions.ts'
import { findSignalled, findSignalStarts } from './signal-subscriptions.ts'
import { StartFinder, type StartFinderOptions, tenantQueryOf } from './start-finder.ts'
import { findVersionsOfKey } from './versions-of-key.ts'
import { stringOf } from '../../../request/value.ts'

/** The largest number of ids in a request that are looked up. */
const MAX_NAMED = 10_000

interface TargetsOptions extends LookUps, StartFinderOptions {
  readonly dateFormat: DateFormat
  /** A request that names more ids is not examined. Default 10,000. */
  readonly maxNamed?: number
}

type Find = (accessRequest: AccessRequest) => Promise<Targets | null>
type FoundTarget = Exclude<CheckTargetSet, `${'body' | 'query'}:${string}[]`>

/** Creates the search for the entities that a request acts on without naming all of them. */
export function createFindTargets(options: TargetsOptions): FindTargets {
  const { maxNamed = MAX_NAMED } = options
  const starts = new StartFinder(options)
  const correlate = oncePerRequest((accessRequest) => findCorrelated(accessRequest, { ...options, starts }))
  const finders: Readonly<Record<FoundTarget, Find>> = {
    conditionalStarts: (accessRequest) => conditionalStarts(accessRequest, options, starts),
    correlatedDefinitions: async (accessRequest) => (await correlate(accessRequest))?.definitions ?? null,
    correlatedExecutions: async (accessRequest) => (await correlate(accessRequest))?.executions ?? null,
    definitions: () => starts.definitions(),
    externalTasks: (accessRequest) => externalTasks(accessRequest, options),
    jobDefinitions: async () => null,
    jobHistoricInstances: async () => null,
    jobInstances: (accessRequest) => jobInstances(accessRequest, options),
    jobJobs: async () => null,
    modifiedInstances: (accessRequest) => modifiedInstances(accessRequest, options),
    processInstances: (accessRequest) => processInstances(accessRequest, options),
    restartedInstances: (accessRequest) => restartedInstances(accessRequest, options),
    signalStarts: (accessRequest) => findSignalStarts(accessRequest, starts),
    signalSubscriptions: (accessRequest) => findSignalled(accessRequest, options),
    unknown: async () => null,
    versionsOfKey: (accessRequest) => findVersionsOfKey(accessRequest, { read: options.read, max: maxNamed }),
  }
  return async (each, accessRequest) =>
    isFound(each) && namedIn(accessRequest.body) <= maxNamed ? finders[each](accessRequest) : null

  function isFound(each: string): each is FoundTarget {
    return Object.hasOwn(finders, each)
  }
}

/** Runs a search once for all checks of one decision. Another decision about the same request has another parsed copy. */
function oncePerRequest<T>(
  find: (accessRequest: AccessRequest) => Promise<T>,
): (accessRequest: AccessRequest) => Promise<T> {
  const running = new WeakMap<AccessRequest, Promise<T>>()
  return (accessRequest) => {
    const found = running.get(accessRequest) ?? find(accessRequest)
    running.set(accessRequest, found)
    return found
  }
}

/** Returns the definitions that may be started. Only the engine knows whether their conditions hold. */
async function conditionalStarts(
  { body }: AccessRequest,
  { lookUp }: TargetsOptions,
  starts: StartFinder,
): Promise<readonly Attributes[] | null> {
  const tenants = tenantQueryOf(body)
  const found = tenants === null ? null : await starts.startedBy('conditional', tenants)
  const definitionId = bodyText(body, 'processDefinitionId')
  if (definitionId === null || found === null) return found
  if (found.some(({ id }) => id === definitionId)) return found.filter(({ id }) => id === definitionId)
  // An older version has no subscription, but may still have the event.
  const definition = await lookUp('processDefinition', definitionId)
  return definition === null ? [] : [{ ...definition, processDefinitionKey: definition['key'] ?? null }]
}

/** Returns the instances that the body names, or null if a query in the body selects instances. */
async function processInstances(
  accessRequest: AccessRequest,
  { lookUpAll }: TargetsOptions,
): Promise<readonly Attributes[] | null> {
  if (hasQuery(accessRequest.body)) return null
  return namedBy(accessRequest, 'processInstance', { member: 'processInstanceIds', lookUpAll })
}

/** Returns the existing entities in a list of the body. */
async function namedBy(
  { body, checkDeadline }: AccessRequest,
  name: ListedName,
  { member, lookUpAll }: Pick<LookUps, 'lookUpAll'> & { readonly member: string },
): Promise<readonly Attributes[]> {
  const ids = [...new Set(bodyTexts(body, member))]
  const found = await lookUpAll(name, ids, checkDeadline)
  return ids.flatMap((id) => {
    const attributes = found.get(id)
    return attributes === undefined ? [] : { ...attributes, id }
  })
}

/** Returns the instances before the one at which the engine stops: one that does not exist or belongs to another definition. */
async function modifiedInstances(
  { body, checkDeadline }: AccessRequest,
  { lookUpAll }: TargetsOptions,
): Promise<readonly Attributes[] | null> {
  if (hasQuery(body)) return null
  const found: Attributes[] = []
  const named = bodyTexts(body, 'processInstanceIds')
  for await (const [id, attributes] of instancesNamed('processInstance', named, {
    lookUpAll,
    checkDeadline,
  })) {
    const isOfDefinition = mayBeSame(
      attributes?.['definitionId'] ?? '',
      bodyText(body, 'processDefinitionId') ?? '',
    )
    if (attributes === null || !isOfDefinition) return found
    found.push({ ...attributes, id })
  }
  return found
}

/** A database may ignore case, accents and similar differences, and blanks at the end. */
const LOOSE = new Intl.Collator('und', { sensitivity: 'base' })

function mayBeSame(one: string, other: string): boolean {
  return LOOSE.compare(one.trimEnd(), other.trimEnd()) === 0
}

/**
 * Returns the tasks that the body names, and the tasks of the instances that it names. The engine does not select another
 * tenant's tasks by their instance.
 */
async function externalTasks(
  accessRequest: AccessRequest,
  { read, lookUpAll }: TargetsOptions,
): Promise<readonly Attributes[] | null> {
  const { body, checkDeadline } = accessRequest
  if (hasQuery(body)) return null
  const named = await namedBy(accessRequest, 'externalTask', { member: 'externalTaskIds', lookUpAll })
  const loaded = new Set(named.map(({ id }) => id))
  const ofInstances: Attributes[] = []
  for (const some of inLists([...new Set(bodyTexts(body, 'processInstanceIds'))])) {
    checkDeadline?.()
    const query = { processInstanceIdIn: some }
    for (const item of await readList(read, { path: '/external-task', query, shape: TASK_SHAPE }))
      if (!loaded.has(stringOf(item['id']))) ofInstances.push({ ...taskIn(item), isSelected: 'true' })
  }
  return [...named, ...ofInstances]
}

const TASK_MEMBERS = ['id', ...LOOKUPS.externalTask.members]
const TASK_SHAPE = {
  texts: ['id', 'processDefinitionKey', 'processInstanceId'],
  nullable: ['tenantId', 'workerId'],
}

function taskIn(item: Readonly<Record<string, unknown>>): Attributes {
  return Object.fromEntries(TASK_MEMBERS.map((name) => [name, stringOf(item[name])]))
}

/**
 * Returns the ended instances of the definition before the one at which the engine stops: one that does not exist, is active
 * or belongs to another definition.
 */
async function restartedInstances(
  { body, params, principal, checkDeadline }: AccessRequest,
  { lookUpAll }: TargetsOptions,
): Promise<readonly Attributes[] | null> {
  if (hasQuery(body)) return null
  const found: Attributes[] = []
  const named = bodyTexts(body, 'processInstanceIds')
  for await (const [id, attributes] of instancesNamed('historicProcessInstance', named, {
    lookUpAll,
    checkDeadline,
  })) {
    const { endTime = null, processDefinitionId, tenantId = null } = attributes ?? {}
    const isSound = endTime !== null && processDefinitionId === params['id']
    const isOfOtherTenant = tenantId !== null && !principal.tenants.includes(tenantId)
    if (attributes === null || !(isSound || isOfOtherTenant)) return found
    found.push({ ...attributes, id })
  }
  return found
}

/** Commands whose jobs name their instance if they act on one alone (observed in Camunda 7.22 and Operaton 1.0). */
const NAMES_ITS_INSTANCE: ReadonlySet<string> = new Set(['correlate-message', 'set-variables'])

/** Returns the instance that the path's job acts on. Null if only the job knows its instances. */
async function jobInstances(
  { params }: AccessRequest,
  { lookUp }: TargetsOptions,
): Promise<readonly Attributes[] | null> {
  const { command, processInstanceId } = (await lookUp('executedJob', params['id'] ?? '')) ?? {}
  if (typeof processInstanceId !== 'string' || !NAMES_ITS_INSTANCE.has(command ?? '')) return null
  const attributes = await lookUp('processInstance', processInstanceId)
  return attributes === null ? [] : [{ ...attributes, id: processInstanceId }]
}

function namedIn(body: unknown): number {
  return bodyTexts(body, 'processInstanceIds').length + bodyTexts(body, 'externalTaskIds').length
}

function hasQuery(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  return Object.entries(body).some(([name, value]) => name.endsWith('Query') && value !== null)
}
