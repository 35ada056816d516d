import type { Each } from '../operations/notation.ts'
import type { Asked } from './asked.ts'
import { bodyText, bodyValue } from './asked.ts'
import type { FindEach } from './authorize.ts'
import type { Facts, LookUp, ReadEngine } from './lookup.ts'
import { MessageFinder } from './messages.ts'
import { SignalFinder } from './signals.ts'
import { rowsOf, StartFinder, textOf } from './starts.ts'

interface MembersOptions {
  readonly read: ReadEngine
  readonly lookUp: LookUp
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
    modifiedInstances: (asked) => modifiedInstances(asked, options),
    processInstances: (asked) => processInstances(asked, options),
    restartedInstances: (asked) => restartedInstances(asked, options),
    signalStarts: (asked) => signals.starts(asked),
    signalSubscriptions: (asked) => signals.executions(asked),
  }
  return async (each, asked) => (isSought(each) ? finders[each](asked) : null)

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
  const tenantId = bodyText(body, 'tenantId')
  const query: Record<string, string> = tenantId === null ? {} : { tenantIdIn: tenantId }
  if (bodyValue(body, 'withoutTenantId') === true) query['withoutTenantId'] = 'true'
  const found = await starts.startedBy('conditional', query)
  const definitionId = bodyText(body, 'processDefinitionId')
  if (definitionId === null || found === null) return found
  if (found.some(({ id }) => id === definitionId)) return found.filter(({ id }) => id === definitionId)
  // An older version has no subscription, and may have the event all the same.
  const definition = await lookUp('processDefinition', definitionId)
  return definition === null ? [] : [{ ...definition, processDefinitionKey: definition['key'] ?? null }]
}

/** Instances that the body names. What a query in it selects is not sought here. */
async function processInstances(
  { body }: Asked,
  { lookUp }: MembersOptions,
): Promise<readonly Facts[] | null> {
  if (hasQuery(body)) return null
  return lookUpEach('processInstance', idsOf(body, 'processInstanceIds'), lookUp)
}

/** As far as the engine comes: it stops at one that is not there or is of another definition. */
async function modifiedInstances(
  { body }: Asked,
  { lookUp }: MembersOptions,
): Promise<readonly Facts[] | null> {
  if (hasQuery(body)) return null
  const found: Facts[] = []
  for (const id of idsOf(body, 'processInstanceIds')) {
    const facts = await lookUp('processInstance', id)
    if (facts === null || facts['definitionId'] !== bodyText(body, 'processDefinitionId')) return found
    found.push({ ...facts, id })
  }
  return found
}

/** Tasks that the body names, and those of instances that it names. Of the latter, another tenant's are not found. */
async function externalTasks(
  { body }: Asked,
  { read, lookUp }: MembersOptions,
): Promise<readonly Facts[] | null> {
  if (hasQuery(body)) return null
  const named = await lookUpEach('externalTask', idsOf(body, 'externalTaskIds'), lookUp)
  const instances = idsOf(body, 'processInstanceIds')
  if (instances.length === 0) return named
  const query = new URLSearchParams({ processInstanceIdIn: instances.join(',') })
  const ids = rowsOf(await read(`/external-task?${query}`)).flatMap(({ id }) => textOf(id) ?? [])
  const others = ids.filter((id) => !named.some((task) => task['id'] === id))
  const ofInstances = await lookUpEach('externalTask', others, lookUp)
  return [...named, ...ofInstances.map((facts) => ({ ...facts, isSelected: 'true' }))]
}

/** Ended instances of the definition, as far as the engine comes: it stops at one that is not there, active or of another. */
async function restartedInstances(
  { body, params, principal }: Asked,
  { lookUp }: MembersOptions,
): Promise<readonly Facts[] | null> {
  if (hasQuery(body)) return null
  const found: Facts[] = []
  for (const id of idsOf(body, 'processInstanceIds')) {
    const facts = await lookUp('historicProcessInstance', id)
    const { endTime = null, processDefinitionId, tenantId = null } = facts ?? {}
    const isSound = endTime !== null && processDefinitionId === params['id']
    const isForeign = tenantId !== null && !principal.tenants.includes(tenantId)
    if (facts === null || !(isSound || isForeign)) return found
    found.push({ ...facts, id })
  }
  return found
}

async function lookUpEach(
  lookup: Parameters<LookUp>[0],
  ids: readonly string[],
  lookUp: LookUp,
): Promise<readonly Facts[]> {
  const found: Facts[] = []
  for (const id of ids) {
    const facts = await lookUp(lookup, id)
    if (facts !== null) found.push({ ...facts, id })
  }
  return found
}

function idsOf(body: unknown, member: string): readonly string[] {
  const value = bodyValue(body, member)
  return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : []
}

function hasQuery(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  return Object.entries(body).some(([name, value]) => name.endsWith('Query') && value !== null)
}
