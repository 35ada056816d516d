import { LRUCache } from 'lru-cache'
import type { LookupName } from '../../../operations/notation.ts'
import { isRecord, type Attributes } from '../../../request/access-request.ts'
import { jobCommandOf } from './job-command.ts'
import { listByIds, type ListedName } from './lookup-lists.ts'
import type { MaybePromise } from '../../../request/maybe-promise.ts'

/** Reads JSON at the engine, below its base path; `null` when the engine says 404. `query`: asked with this body, as a POST that only reads. @throws GatewayError when it cannot answer. */
export type ReadEngine = (path: string, query?: unknown) => Promise<unknown>

/** Facts of one entity, at once where they are remembered; `null` when there is none with that id. */
export type LookUp = (name: LookupName, id: string) => MaybePromise<Attributes | null>

/**
 * Facts of those of many entities that are there, by their ids, asked for in lists. `stillAwaited` is called before each hop.
 * @throws GatewayError when the engine cannot answer, what `stillAwaited` throws
 */
export type LookUpAll = (
  name: ListedName,
  ids: readonly string[],
  stillAwaited?: () => void,
) => Promise<ReadonlyMap<string, Attributes>>

export interface LookUps {
  readonly lookUp: LookUp
  readonly lookUpAll: LookUpAll
}

type Json = Readonly<Record<string, unknown>>

interface LookupRule {
  /** Of an encoded id; of a composite one, its encoded parts with `/` between them. */
  readonly path: (id: string) => string
  /** Members of the answer that are facts as they stand. */
  readonly members: readonly string[]
  /** The member that names the process definition, where the answer has its id and not its key. */
  readonly definition?: string
  /** The member that names the process instance whose definition counts, where the answer has no key itself. */
  readonly instance?: string
  /** The member that names the process definition whose tenant counts, where the answer has none itself. */
  readonly tenant?: string
  /** The fact `command`: what a job without a definition does. */
  readonly command?: true
}

const KEYED = ['processDefinitionKey', 'processInstanceId'] as const

/** How each entity is found at the engine. */
export const LOOKUPS: Readonly<Record<LookupName, LookupRule>> = {
  authorization: { path: (id) => `/authorization/${id}`, members: [] },
  batch: { path: (id) => `/batch/${id}`, members: ['tenantId'] },
  decisionDefinition: { path: (id) => `/decision-definition/${id}`, members: ['key', 'tenantId'] },
  decisionDefinitionOfKey: {
    path: (id) => `/decision-definition/key/${ofTenant(id)}`,
    members: ['tenantId'],
  },
  decisionRequirementsDefinition: {
    path: (id) => `/decision-requirements-definition/${id}`,
    members: ['key', 'tenantId'],
  },
  decisionRequirementsDefinitionOfKey: {
    path: (id) => `/decision-requirements-definition/key/${ofTenant(id)}`,
    members: ['tenantId'],
  },
  deployment: { path: (id) => `/deployment/${id}`, members: ['tenantId'] },
  executedJob: { path: (id) => `/job/${id}`, members: [...KEYED, 'tenantId'], command: true },
  execution: {
    path: (id) => `/execution/${id}`,
    members: ['processInstanceId', 'tenantId'],
    instance: 'processInstanceId',
  },
  externalTask: { path: (id) => `/external-task/${id}`, members: [...KEYED, 'tenantId', 'workerId'] },
  group: { path: (id) => `/group/${id}`, members: [] },
  historicActivityInstance: {
    path: (id) => `/history/activity-instance/${id}`,
    members: [...KEYED, 'tenantId'],
  },
  historicBatch: { path: (id) => `/history/batch/${id}`, members: ['tenantId'] },
  historicDecisionInstance: {
    path: (id) =>
      `/history/decision-instance/${id}?disableBinaryFetching=true&disableCustomObjectDeserialization=true`,
    members: ['decisionDefinitionKey', 'tenantId'],
  },
  historicDetail: {
    path: (id) => `/history/detail/${id}?deserializeValue=false`,
    members: [...KEYED, 'executionId', 'taskId', 'tenantId'],
  },
  historicExternalTaskLog: {
    path: (id) => `/history/external-task-log/${id}`,
    members: [...KEYED, 'tenantId'],
  },
  historicJobLog: { path: (id) => `/history/job-log/${id}`, members: [...KEYED, 'tenantId'] },
  historicProcessInstance: {
    path: (id) => `/history/process-instance/${id}`,
    members: ['processDefinitionKey', 'processDefinitionId', 'endTime', 'tenantId'],
  },
  historicTask: {
    path: (id) => `/history/task?taskId=${id}`,
    members: [...KEYED, 'executionId', 'tenantId'],
  },
  historicVariableInstance: {
    path: (id) => `/history/variable-instance/${id}?deserializeValue=false`,
    members: [...KEYED, 'executionId', 'taskId', 'tenantId'],
  },
  incident: {
    path: (id) => `/incident/${id}`,
    members: ['processInstanceId', 'tenantId', 'incidentType'],
    definition: 'processDefinitionId',
  },
  job: { path: (id) => `/job/${id}`, members: [...KEYED, 'tenantId'] },
  jobDefinition: {
    path: (id) => `/job-definition/${id}`,
    members: ['processDefinitionKey', 'processDefinitionId', 'tenantId'],
  },
  jobOfInstance: {
    path: (id) => `/job/${id}`,
    members: [...KEYED, 'tenantId'],
    instance: 'processInstanceId',
  },
  messageSubscription: { path: messageSubscriptionsOf, members: ['tenantId'] },
  operationLogEntry: {
    path: (id) => `/history/user-operation?operationId=${id}`,
    members: ['id', 'processDefinitionKey', 'category'],
    tenant: 'processDefinitionId',
  },
  processDefinition: {
    path: (id) => `/process-definition/${id}`,
    members: ['key', 'tenantId', 'deploymentId'],
  },
  processDefinitionOfKey: {
    path: (id) => `/process-definition/key/${ofTenant(id)}`,
    members: ['tenantId', 'deploymentId'],
  },
  processInstance: {
    path: (id) => `/process-instance/${id}`,
    members: ['definitionId', 'tenantId'],
    definition: 'definitionId',
  },
  task: {
    path: (id) => `/task/${id}`,
    members: ['processInstanceId', 'caseExecutionId', 'tenantId'],
    definition: 'processDefinitionId',
  },
  tenant: { path: (id) => `/tenant/${id}`, members: [] },
  user: { path: (id) => `/user/${id}/profile`, members: [] },
  variableInstance: {
    path: (id) => `/variable-instance/${id}?deserializeValue=false`,
    members: ['processInstanceId', 'taskId', 'tenantId'],
    instance: 'processInstanceId',
  },
}

/** Entities that several path parameters name together. */
export const COMPOSITES: Readonly<Partial<Record<LookupName, readonly string[]>>> = {
  decisionDefinitionOfKey: ['key', 'tenantId'],
  decisionRequirementsDefinitionOfKey: ['key', 'tenantId'],
  messageSubscription: ['id', 'messageName'],
  processDefinitionOfKey: ['key', 'tenantId'],
}

function ofTenant(id: string): string {
  return id.replace('/', '/tenant-id/')
}

function messageSubscriptionsOf(id: string): string {
  const [executionId, name] = id.split('/')
  return `/event-subscription?eventType=message&executionId=${executionId}&eventName=${name}`
}

export function isLookup(text: string): text is LookupName {
  return Object.hasOwn(LOOKUPS, text)
}

/** Whose definition a key means changes with deployments only. */
const OF_KEY = { ttl: 5000 }

/** What is kept, and how long: definitions never change key or tenant under their id. Everything else is read afresh. */
const KEPT: Readonly<Partial<Record<LookupName, { readonly ttl?: number }>>> = {
  processDefinition: {},
  decisionDefinition: {},
  decisionRequirementsDefinition: {},
  processDefinitionOfKey: OF_KEY,
  decisionDefinitionOfKey: OF_KEY,
  decisionRequirementsDefinitionOfKey: OF_KEY,
}

interface LookUpOptions {
  readonly read: ReadEngine
  /** How many definitions are remembered. Default 10,000. */
  readonly maxRemembered?: number
}

/** Builds one engine's look-ups: reads of the same entity at the same moment share one hop. */
export function createLookUps(options: LookUpOptions): LookUps {
  const learner = new Learner(options)
  return {
    lookUp: (name, id) => learner.lookUp(name, id),
    lookUpAll: (name, ids, stillAwaited) => learner.lookUpAll(name, ids, stillAwaited),
  }
}

class Learner {
  readonly #read: ReadEngine
  readonly #remembered: LRUCache<string, Attributes>
  readonly #inFlight = new Map<string, Promise<Attributes | null>>()

  constructor({ read, maxRemembered = 10_000 }: LookUpOptions) {
    this.#read = read
    // `max` would take room for all of them at once, a quarter of a megabyte for each engine.
    this.#remembered = new LRUCache({ maxSize: maxRemembered, sizeCalculation: () => 1 })
  }

  lookUp(name: LookupName, id: string): MaybePromise<Attributes | null> {
    if (!isNameable(id)) return null
    const key = `${name} ${id}`
    const loaded = this.#remembered.get(key)
    if (loaded !== undefined) return loaded
    const started = this.#inFlight.get(key)
    if (started !== undefined) return started
    const flight = this.#learn(name, id).finally(() => this.#inFlight.delete(key))
    this.#inFlight.set(key, flight)
    return flight
  }

  async lookUpAll(
    name: ListedName,
    ids: readonly string[],
    stillAwaited: () => void = () => undefined,
  ): Promise<ReadonlyMap<string, Attributes>> {
    const found = new Map<string, Attributes>()
    const unknown: string[] = []
    for (const id of new Set(ids.filter(isNameable))) {
      const attributes = this.#remembered.get(`${name} ${id}`)
      if (attributes === undefined) unknown.push(id)
      else found.set(id, attributes)
    }
    // One by itself shares its hop with others who look it up.
    const { rows, respelt } =
      unknown.length === 1
        ? { rows: NONE, respelt: unknown }
        : await listByIds(name, unknown, (path, query) => {
            stillAwaited()
            return this.#read(path, query)
          })
    const keys = await this.#keysOf(name, rows, stillAwaited)
    for (const [id, row] of rows) {
      const attributes = attributesOf(name, row, keys)
      if (attributes !== null) found.set(id, this.#remember(name, id, attributes))
    }
    for (const id of respelt) {
      stillAwaited()
      const attributes = await this.lookUp(name, id)
      if (attributes !== null) found.set(id, attributes)
    }
    return found
  }

  /** Keys of the definitions that the rows name by id alone. */
  async #keysOf(name: ListedName, rows: ReadonlyMap<string, Json>, stillAwaited: () => void) {
    const { definition } = LOOKUPS[name]
    if (definition === undefined) return new Map<string, Attributes>()
    const ids = [...rows.values()].flatMap((row) => textOf(row, definition) ?? [])
    return this.lookUpAll('processDefinition', ids, stillAwaited)
  }

  #remember(name: LookupName, id: string, attributes: Attributes): Attributes {
    const kept = KEPT[name]
    if (kept !== undefined) this.#remembered.set(`${name} ${id}`, attributes, kept)
    return attributes
  }

  async #learn(name: LookupName, id: string): Promise<Attributes | null> {
    const rule = LOOKUPS[name]
    const path = rule.path(COMPOSITES[name] === undefined ? encodeURIComponent(id) : id)
    const answer = firstOf(await this.#read(path))
    if (answer === null) return null
    const attributes = membersOf(rule, answer)
    if (rule.command) attributes['command'] = await jobCommandOf(answer, this.#read)
    if (rule.tenant !== undefined) attributes['tenantId'] = await this.#tenantOf(textOf(answer, rule.tenant))
    if (needsKey(rule, attributes)) {
      const definitionId = await this.#definitionOf(rule, answer)
      const key = definitionId === null ? null : await this.#keyOf(definitionId)
      // Its definition is gone, so it is going too: no entity without a definition, which everybody may see.
      if (definitionId !== null && key === null) return null
      attributes['processDefinitionKey'] = key
    }
    return this.#remember(name, id, attributes)
  }

  async #definitionOf(rule: LookupRule, answer: Json): Promise<string | null> {
    if (rule.definition !== undefined) return textOf(answer, rule.definition)
    const instanceId = rule.instance === undefined ? null : textOf(answer, rule.instance)
    if (instanceId === null) return null
    const instance = firstOf(await this.#read(`/process-instance/${encodeURIComponent(instanceId)}`))
    // An instance that has just ended: as gone as its definition.
    return instance === null ? '' : textOf(instance, 'definitionId')
  }

  async #tenantOf(definitionId: string | null): Promise<string | null> {
    if (definitionId === null) return null
    return (await this.lookUp('processDefinition', definitionId))?.['tenantId'] ?? null
  }

  async #keyOf(definitionId: string): Promise<string | null> {
    if (definitionId === '') return null
    return (await this.lookUp('processDefinition', definitionId))?.['key'] ?? null
  }
}

/** Whether the answer names the definition by its id or its instance alone. */
function needsKey({ definition, instance }: LookupRule, attributes: Attributes): boolean {
  return (attributes['processDefinitionKey'] ?? null) === null && (definition ?? instance) !== undefined
}

const NONE: ReadonlyMap<string, Json> = new Map()

function membersOf({ members }: LookupRule, answer: Json): Record<string, string | null> {
  const attributes: Record<string, string | null> = {}
  for (const member of members) attributes[member] = textOf(answer, member)
  return attributes
}

/** Of a row that a list has given; null: its definition is gone. */
function attributesOf(
  name: ListedName,
  row: Json,
  definitions: ReadonlyMap<string, Attributes>,
): Attributes | null {
  const rule = LOOKUPS[name]
  const attributes = membersOf(rule, row)
  if (rule.definition === undefined) return attributes
  const definitionId = textOf(row, rule.definition)
  const key = definitionId === null ? null : (definitions.get(definitionId)?.['key'] ?? null)
  return definitionId !== null && key === null ? null : { ...attributes, processDefinitionKey: key }
}

/** With one of these as its last part a path leads elsewhere, to the list of all there are; half a character cannot be encoded. */
export function isNameable(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..' && !/\p{Surrogate}/u.test(id)
}

/** A single entity, or the first row where only a query finds it. */
function firstOf(answer: unknown): Json | null {
  const entity: unknown = Array.isArray(answer) ? answer[0] : answer
  return isRecord(entity) ? entity : null
}

function textOf(json: Json, member: string): string | null {
  const value = json[member]
  return typeof value === 'string' ? value : null
}
