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
    externalTasks: (asked) => externalTasks(asked, options),
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
  const found = await starts.definitionsOf(await starts.startsOf('conditional', query))
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

async function externalTasks(
  { body }: Asked,
  { read, lookUp }: MembersOptions,
): Promise<readonly Facts[] | null> {
  if (hasQuery(body)) return null
  const instances = idsOf(body, 'processInstanceIds')
  const ofInstances =
    instances.length === 0
      ? []
      : rowsOf(
          await read(`/external-task?${new URLSearchParams({ processInstanceIdIn: instances.join(',') })}`),
        )
  const ids = [...idsOf(body, 'externalTaskIds'), ...ofInstances.flatMap(({ id }) => textOf(id) ?? [])]
  return lookUpEach('externalTask', [...new Set(ids)], lookUp)
}

/** Ended instances of the definition. Where one is not there, is active or of another, the engine refuses by itself. */
async function restartedInstances(
  { body, params }: Asked,
  { lookUp }: MembersOptions,
): Promise<readonly Facts[] | null> {
  if (hasQuery(body)) return null
  const ids = idsOf(body, 'processInstanceIds')
  const found = await lookUpEach('historicProcessInstance', ids, lookUp)
  const areSound = found.every(
    ({ endTime = null, processDefinitionId }) => endTime !== null && processDefinitionId === params['id'],
  )
  return areSound && found.length === ids.length ? found : []
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
