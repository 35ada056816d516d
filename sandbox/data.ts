import type { ProcessModel } from './models.ts'

export interface Variable {
  readonly type: string
  readonly value: unknown
  readonly valueInfo: Readonly<Record<string, unknown>>
}

export interface DeployedDefinition {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly version: number
  readonly tenantId: string | null
  readonly deploymentId: string
}

export interface ProcessDefinition extends DeployedDefinition {
  readonly model: ProcessModel
}

export interface Instance {
  readonly id: string
  definitionId: string
  readonly definitionKey: string
  readonly businessKey: string | null
  readonly tenantId: string | null
  readonly startTime: string
  endTime: string | null
  readonly variables: Map<string, Variable>
}

export interface Execution {
  readonly id: string
  readonly processInstanceId: string
  readonly activityId: string
  readonly tenantId: string | null
}

/** A task with the members of the API, and the groups that may claim it. */
export interface Task {
  readonly id: string
  readonly created: string
  readonly executionId: string | null
  readonly processInstanceId: string | null
  readonly taskDefinitionKey: string | null
  readonly candidateGroups: readonly string[]
  processDefinitionId: string | null
  lastUpdated: string | null
  name: string | null
  description: string | null
  assignee: string | null
  owner: string | null
  priority: number
  due: string | null
  followUp: string | null
  delegationState: string | null
  parentTaskId: string | null
  caseInstanceId: string | null
  tenantId: string | null
}

/** An item whose members are those of the API. */
export type StoredItem = Readonly<Record<string, unknown>> & { readonly id: string }

/** The data of one engine. It is stored only in memory and is lost when the process ends. */
export interface Engine {
  nextId(): string
  readonly processDefinitions: Map<string, ProcessDefinition>
  readonly decisionDefinitions: Map<string, DeployedDefinition>
  readonly instances: Map<string, Instance>
  readonly executions: Map<string, Execution>
  readonly tasks: Map<string, Task>
  readonly externalTasks: Map<
    string,
    StoredItem & { readonly executionId: string; readonly topicName: string }
  >
  readonly subscriptions: Map<string, EventSubscription>
  readonly comments: StoredItem[]
  readonly decisionInstances: Map<string, StoredItem>
  readonly externalTaskLog: StoredItem[]
  readonly identityLinkLog: StoredItem[]
  readonly authorizations: Map<string, StoredItem>
  /** The job of the history clean-up, with its id and the time of its creation. */
  cleanup: { readonly id: string; readonly createTime: string } | null
}

export interface EventSubscription {
  readonly id: string
  readonly eventType: 'signal' | 'message'
  readonly eventName: string
  readonly executionId: string
  readonly processInstanceId: string
  readonly activityId: string
  readonly createdDate: string
  readonly tenantId: string | null
}

export function createEngine(nextId: () => string): Engine {
  return {
    nextId,
    processDefinitions: new Map(),
    decisionDefinitions: new Map(),
    instances: new Map(),
    executions: new Map(),
    tasks: new Map(),
    externalTasks: new Map(),
    subscriptions: new Map(),
    comments: [],
    decisionInstances: new Map(),
    externalTaskLog: [],
    identityLinkLog: [],
    authorizations: new Map(),
    cleanup: null,
  }
}

/** Creates a generator of consecutive UUIDs, so that the ids are the same after every start of the sandbox. */
export function countingUuids(): () => string {
  let last = 0x5a4d0000
  return () => `${((last += 1)).toString(16)}-0b0c-11f1-8a5e-02fc00000001`
}

/** Creates a generator of consecutive numbers, which engines outside the Spring starter use as ids. */
export function countingNumbers(): () => string {
  let last = 0
  return () => String((last += 1))
}

/** Returns a time as the engine writes it: with milliseconds and an offset without a colon. */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '+0000')
}
