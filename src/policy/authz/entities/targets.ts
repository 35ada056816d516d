import type { Each } from '../../../operations/notation.ts'
import type { Asked } from '../../../request/access-request.ts'
import { bodyText, bodyTexts } from '../../../request/access-request.ts'
import type { FindEach } from '../checks/authorize.ts'
import { instancesNamed } from './executions.ts'
import type { Facts, LookUps, ReadEngine } from './lookup.ts'
import { LOOKUPS } from './lookup.ts'
import { inLists, type ListedName } from './lookup-lists.ts'
import { MessageFinder } from './message-subscriptions.ts'
import { SignalFinder } from './signal-subscriptions.ts'
import { rowsOf, StartFinder, tenantQueryOf, textOf } from './start-finder.ts'

/** What a request names by id and has to be looked up: more is not. */
const MAX_NAMED = 10_000

interface MembersOptions extends LookUps {
  readonly read: ReadEngine
  /** A request that names more is not looked through. Default 10,000. */
  readonly maxNamed?: number
}

type Find = (asked: Asked) => Promise<readonly Facts[] | null>
type Sought = Exclude<Each, `${'body' | 'query'}:${string}[]`>

/** Finds what a request acts on where the request does not name all of it. */
export function createFindEach(options: MembersOptions): FindEach {
  const starts = new StartFinder(options.read)
  const signals = new SignalFinder({ ...options, starts })
  const messages = new MessageFinder({ ...options, starts })
  const finders: Readonly<Record<Sought, Find>> = {
    conditionalStarts: (asked) => conditionalStarts(asked, options, starts),
    correlatedDefinitions: (asked) => messages.definitions(asked),
    correlatedExecutions: (asked) => messages.executions(asked),
    definitions: () => starts.definitions(),
    externalTasks: (asked) => externalTasks(asked, options),
    jobDefinitions: async () => null,
    jobHistoricInstances: async () => null,
    jobInstances: (asked) => jobInstances(asked, options),
    jobJobs: async () => null,
    modifiedInstances: (asked) => modifiedInstances(asked, options),
    processInstances: (asked) => processInstances(asked, options),
    restartedInstances: (asked) => restartedInstances(asked, options),
    signalStarts: (asked) => signals.starts(asked),
    signalSubscriptions: (asked) => signals.executions(asked),
    unknown: async () => null,
  }
  const { maxNamed = MAX_NAMED } = options
  return async (each, asked) =>
    isSought(each) && namedIn(asked.body) <= maxNamed ? finders[each](asked) : null

  function isSought(each: string): each is Sought {
    return Object.hasOwn(finders, each)
  }
}

/** Definitions that may be started; whether their conditions hold, only the engine knows. */
async function conditionalStarts(
  { body }: Asked,
  { lookUp }: MembersOptions,
  starts: StartFinder,
): Promise<readonly Facts[] | null> {
  const tenants = tenantQueryOf(body)
  const found = tenants === null ? null : await starts.startedBy('conditional', tenants)
  const definitionId = bodyText(body, 'processDefinitionId')
  if (definitionId === null || found === null) return found
  if (found.some(({ id }) => id === definitionId)) return found.filter(({ id }) => id === definitionId)
  // An older version has no subscription, and may have the event all the same.
  const definition = await lookUp('processDefinition', definitionId)
  return definition === null ? [] : [{ ...definition, processDefinitionKey: definition['key'] ?? null }]
}

/** Instances that the body names. What a query in it selects is not sought here. */
async function processInstances(
  asked: Asked,
  { lookUpAll }: MembersOptions,
): Promise<readonly Facts[] | null> {
  if (hasQuery(asked.body)) return null
  return namedBy(asked, 'processInstance', { member: 'processInstanceIds', lookUpAll })
}

/** Those that are there of what a list of the body names. */
async function namedBy(
  { body, stillAwaited }: Asked,
  name: ListedName,
  { member, lookUpAll }: Pick<LookUps, 'lookUpAll'> & { readonly member: string },
): Promise<readonly Facts[]> {
  const ids = [...new Set(bodyTexts(body, member))]
  const found = await lookUpAll(name, ids, stillAwaited)
  return ids.flatMap((id) => {
    const facts = found.get(id)
    return facts === undefined ? [] : { ...facts, id }
  })
}

/** As far as the engine comes: it stops at one that is not there or is of another definition. */
async function modifiedInstances(
  { body, stillAwaited }: Asked,
  { lookUpAll }: MembersOptions,
): Promise<readonly Facts[] | null> {
  if (hasQuery(body)) return null
  const found: Facts[] = []
  const named = bodyTexts(body, 'processInstanceIds')
  for await (const [id, facts] of instancesNamed('processInstance', named, { lookUpAll, stillAwaited })) {
    const isOfDefinition = mayBeSame(
      facts?.['definitionId'] ?? '',
      bodyText(body, 'processDefinitionId') ?? '',
    )
    if (facts === null || !isOfDefinition) return found
    found.push({ ...facts, id })
  }
  return found
}

/** A database may ignore case, accents and the like, and blanks at the end. */
const LOOSE = new Intl.Collator('und', { sensitivity: 'base' })

function mayBeSame(one: string, other: string): boolean {
  return LOOSE.compare(one.trimEnd(), other.trimEnd()) === 0
}

/** Tasks that the body names, and those of instances that it names. Of the latter, another tenant's are not found. */
async function externalTasks(
  asked: Asked,
  { read, lookUpAll }: MembersOptions,
): Promise<readonly Facts[] | null> {
  const { body, stillAwaited } = asked
  if (hasQuery(body)) return null
  const named = await namedBy(asked, 'externalTask', { member: 'externalTaskIds', lookUpAll })
  const known = new Set(named.map(({ id }) => id))
  const ofInstances: Facts[] = []
  for (const some of inLists([...new Set(bodyTexts(body, 'processInstanceIds'))])) {
    stillAwaited?.()
    for (const row of rowsOf(await read('/external-task', { processInstanceIdIn: some })))
      if (!known.has(textOf(row['id']))) ofInstances.push({ ...taskIn(row), isSelected: 'true' })
  }
  return [...named, ...ofInstances]
}

const TASK_MEMBERS = ['id', ...LOOKUPS.externalTask.members]

function taskIn(row: Readonly<Record<string, unknown>>): Facts {
  return Object.fromEntries(TASK_MEMBERS.map((name) => [name, textOf(row[name])]))
}

/** Ended instances of the definition, as far as the engine comes: it stops at one that is not there, active or of another. */
async function restartedInstances(
  { body, params, principal, stillAwaited }: Asked,
  { lookUpAll }: MembersOptions,
): Promise<readonly Facts[] | null> {
  if (hasQuery(body)) return null
  const found: Facts[] = []
  const named = bodyTexts(body, 'processInstanceIds')
  for await (const [id, facts] of instancesNamed('historicProcessInstance', named, {
    lookUpAll,
    stillAwaited,
  })) {
    const { endTime = null, processDefinitionId, tenantId = null } = facts ?? {}
    const isSound = endTime !== null && processDefinitionId === params['id']
    const isForeign = tenantId !== null && !principal.tenants.includes(tenantId)
    if (facts === null || !(isSound || isForeign)) return found
    found.push({ ...facts, id })
  }
  return found
}

/** Commands whose jobs name their instance where they act on one alone (Camunda 7.22, Operaton 1.0, seen running). */
const NAMES_ITS_INSTANCE: ReadonlySet<string> = new Set(['correlate-message', 'set-variables'])

/** The instance that the path's job acts on; null: only the job knows them. */
async function jobInstances({ params }: Asked, { lookUp }: MembersOptions): Promise<readonly Facts[] | null> {
  const { command, processInstanceId } = (await lookUp('executedJob', params['id'] ?? '')) ?? {}
  if (typeof processInstanceId !== 'string' || !NAMES_ITS_INSTANCE.has(command ?? '')) return null
  const facts = await lookUp('processInstance', processInstanceId)
  return facts === null ? [] : [{ ...facts, id: processInstanceId }]
}

function namedIn(body: unknown): number {
  return bodyTexts(body, 'processInstanceIds').length + bodyTexts(body, 'externalTaskIds').length
}

function hasQuery(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  return Object.entries(body).some(([name, value]) => name.endsWith('Query') && value !== null)
}
