import { randomUUID } from 'node:crypto'
import { isRecord } from '../../src/request/value.ts'
import type { Call } from './seed.ts'

type Json = Readonly<Record<string, unknown>>

/** A job that is not executed yet, with the state that it would change. */
export interface MadeJob {
  readonly id: string
  /** Returns all state that the job could change, as text. */
  readonly look: () => Promise<string>
}

const LATER = '2099-01-01T00:00:00.000+0000'

const OPEN = '<startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="u"/>'
const CLOSE = '<sequenceFlow id="b" sourceRef="u" targetRef="e"/><endEvent id="e"/>'
const BODIES = {
  user: `${OPEN}<userTask id="u"/>${CLOSE}`,
  async: `${OPEN}<userTask id="u" camunda:asyncBefore="true"/>${CLOSE}`,
  external: `${OPEN}<serviceTask id="u" camunda:type="external" camunda:topic="jobs"/>${CLOSE}`,
  message: `${OPEN}<intermediateCatchEvent id="u"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>${CLOSE}`,
  ended: '<startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="e"/><endEvent id="e"/>',
}

type Model = keyof typeof BODIES

function bpmnOf(key: string, model: Model): string {
  return `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn"><message id="m" name="paid"/>
    <process id="${key}" isExecutable="true" camunda:historyTimeToLive="P1D">${BODIES[model]}</process></definitions>`
}

function dmnOf(key: string): string {
  return `<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d-${key}" name="d" namespace="n"
    xmlns:camunda="http://camunda.org/schema/1.0/dmn"><decision id="${key}" name="d" camunda:historyTimeToLive="P1D">
    <decisionTable id="t-${key}"><output id="o-${key}" name="o" typeRef="integer"/>
    <rule id="r-${key}"><outputEntry id="e-${key}"><text>1</text></outputEntry></rule></decisionTable>
    </decision></definitions>`
}

/** Makes jobs of every kind without a process definition, each with its own entities. */
export class JobMaker {
  readonly #call: Call
  readonly #fields: Readonly<Record<string, string>>

  /** @param call sends requests as a user with all permissions */
  constructor(call: Call, tenantId?: string) {
    this.#call = call
    this.#fields = tenantId === undefined ? {} : { 'tenant-id': tenantId }
  }

  /** Makes a job of each kind, by the name of the kind. */
  readonly kinds: Readonly<Record<string, () => Promise<MadeJob>>> = {
    'suspension of instances': () =>
      this.#batch('user', '/process-instance/suspended-async', (id) => ({
        processInstanceIds: [id],
        suspended: true,
      })),
    'deletion of instances': () =>
      this.#batch('user', '/process-instance/delete', (id) => ({ processInstanceIds: [id] })),
    'retries of jobs': () =>
      this.#batch('async', '/process-instance/job-retries', (id) => ({ processInstances: [id], retries: 7 })),
    'retries of external tasks': () =>
      this.#batch('external', '/external-task/retries-async', (id) => ({
        processInstanceIds: [id],
        retries: 7,
      })),
    modification: () =>
      this.#batch('user', '/modification/executeAsync', (id, processDefinitionId) => ({
        processDefinitionId,
        processInstanceIds: [id],
        instructions: [{ type: 'startBeforeActivity', activityId: 'u' }],
      })),
    restart: () =>
      this.#batch(
        'ended',
        (definition) => `/process-definition/${definition}/restart-async`,
        (id) => ({
          processInstanceIds: [id],
          instructions: [{ type: 'startBeforeActivity', activityId: 'e' }],
        }),
      ),
    'deletion of ended instances': () =>
      this.#batch('ended', '/history/process-instance/delete', (id) => ({
        historicProcessInstanceIds: [id],
      })),
    'deletion of decisions': () => this.#decisions(),
    migration: () => this.#migration(),
    variables: () =>
      this.#batch('user', '/process-instance/variables-async', (id) => ({
        processInstanceIds: [id],
        variables: { set: { value: 1, type: 'Integer' } },
      })),
    'correlation of messages': () =>
      this.#batch('message', '/process-instance/message-async', (id) => ({
        processInstanceIds: [id],
        messageName: 'paid',
      })),
    'removal times of instances': () =>
      this.#batch('ended', '/history/process-instance/set-removal-time', (id) => ({
        historicProcessInstanceIds: [id],
        absoluteRemovalTime: LATER,
      })),
    'seed of a batch': () => this.#seed('seedJobDefinitionId'),
    'monitor of a batch': () => this.#seed('monitorJobDefinitionId'),
    'suspension of a definition': () =>
      this.#timer('user', (definition) => `/process-definition/${definition}/suspended`),
    'suspension of a definition and its instances': () =>
      this.#timer('user', (definition) => `/process-definition/${definition}/suspended`, {
        includeProcessInstances: true,
      }),
    'activation of a definition': () =>
      this.#timer('user', (definition) => `/process-definition/${definition}/suspended`, {
        suspended: false,
      }),
    'suspension of definitions by key': () =>
      this.#timer('user', () => '/process-definition/suspended', {}, 'processDefinitionKey'),
    'suspension of a job definition': () => this.#jobDefinition({}),
    'suspension of a job definition and its jobs': () => this.#jobDefinition({ includeJobs: true }),
    'activation of a job definition': () => this.#jobDefinition({ suspended: false }),
    'suspension of job definitions by key': () =>
      this.#timer('async', () => '/job-definition/suspended', {}, 'processDefinitionKey'),
    'activation of a deployment': () => this.#deployment(),
    'cleanup of the history': () => this.#cleanup(),
  }

  async #batch(
    model: Model,
    path: string | ((definitionId: string) => string),
    bodyOf: (instanceId: string, definitionId: string) => unknown,
  ): Promise<MadeJob> {
    const { id: definitionId } = await this.#define(model)
    const instanceId = await this.#start(definitionId)
    const target = typeof path === 'string' ? path : path(definitionId)
    const batch = await this.#call('POST', target, bodyOf(instanceId, definitionId))
    return { id: await this.#seeded(batch), look: () => this.#look(instanceId, definitionId) }
  }

  async #migration(): Promise<MadeJob> {
    const { id, key } = await this.#define('user')
    const { id: target } = await this.#define('user', key)
    const instanceId = await this.#start(id)
    const instructions = [{ sourceActivityIds: ['u'], targetActivityIds: ['u'] }]
    const migrationPlan = { sourceProcessDefinitionId: id, targetProcessDefinitionId: target, instructions }
    const batch = await this.#call('POST', '/migration/executeAsync', {
      migrationPlan,
      processInstanceIds: [instanceId],
    })
    return { id: await this.#seeded(batch), look: () => this.#look(instanceId, id) }
  }

  async #decisions(): Promise<MadeJob> {
    const key = keyOf('decision')
    await this.#deploy(`${key}.dmn`, dmnOf(key))
    const [definition] = rowsOf(await this.#call('GET', `/decision-definition?key=${key}`))
    await this.#call('POST', `/decision-definition/${textOf(definition, 'id')}/evaluate`, { variables: {} })
    const path = `/history/decision-instance?decisionDefinitionKey=${key}`
    const historicDecisionInstanceIds = rowsOf(await this.#call('GET', path)).map((row) => textOf(row, 'id'))
    const batch = await this.#call('POST', '/history/decision-instance/delete', {
      historicDecisionInstanceIds,
    })
    const look = async () => JSON.stringify(await this.#call('GET', path))
    return { id: await this.#seeded(batch), look }
  }

  /** Makes a seed or monitor job of a batch. Executing it changes nothing of a process. */
  async #seed(member: 'seedJobDefinitionId' | 'monitorJobDefinitionId'): Promise<MadeJob> {
    const { id: definitionId } = await this.#define('user')
    const instanceId = await this.#start(definitionId)
    const batch = await this.#call('POST', '/process-instance/delete', { processInstanceIds: [instanceId] })
    if (member === 'monitorJobDefinitionId') await this.#seeded(batch)
    const jobs = await this.#call('GET', `/job?jobDefinitionId=${textOf(batch, member)}`)
    return {
      id: textOf(rowsOf(jobs)[0], 'id'),
      look: async () => JSON.stringify(await this.#call('GET', `/batch/${textOf(batch, 'id')}`)),
    }
  }

  async #jobDefinition(more: Json): Promise<MadeJob> {
    const { id } = await this.#define('async')
    const [job] = rowsOf(await this.#call('GET', `/job-definition?processDefinitionId=${id}`))
    return this.#timerOf(`/job-definition/${textOf(job, 'id')}/suspended`, more, id)
  }

  async #timer(
    model: Model,
    pathOf: (definitionId: string) => string,
    more: Json = {},
    keyMember?: string,
  ): Promise<MadeJob> {
    const { id, key } = await this.#define(model)
    return this.#timerOf(pathOf(id), { ...more, ...(keyMember !== undefined && { [keyMember]: key }) }, id)
  }

  async #timerOf(path: string, more: Json, definitionId: string): Promise<MadeJob> {
    const instanceId = await this.#start(definitionId)
    // An entity that will be activated is suspended first.
    if (more['suspended'] === false) await this.#call('PUT', path, { ...more, suspended: true })
    const id = await this.#newJob(() =>
      this.#call('PUT', path, { suspended: true, executionDate: LATER, ...more }),
    )
    return { id, look: () => this.#look(instanceId, definitionId) }
  }

  async #deployment(): Promise<MadeJob> {
    const key = keyOf('later')
    const id = await this.#newJob(() =>
      this.#deploy(`${key}.bpmn`, bpmnOf(key, 'user'), { 'deployment-activation-time': LATER }),
    )
    const look = async () => JSON.stringify(await this.#call('GET', `/process-definition?key=${key}`))
    return { id, look }
  }

  async #cleanup(): Promise<MadeJob> {
    await this.#call('POST', '/history/cleanup?immediatelyDue=true')
    const [job] = rowsOf(await this.#call('GET', '/history/cleanup/jobs'))
    return { id: textOf(job, 'id'), look: async () => 'it deletes nothing that is not due' }
  }

  async #define(model: Model, key = keyOf(model)): Promise<{ readonly id: string; readonly key: string }> {
    const made = await this.#deploy(`${key}.bpmn`, bpmnOf(key, model))
    const [definition] = rowsOf(await this.#call('GET', `/process-definition?deploymentId=${made}`))
    return { id: textOf(definition, 'id'), key }
  }

  async #deploy(file: string, xml: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const form = new FormData()
    for (const [name, value] of Object.entries({ 'deployment-name': file, ...this.#fields, ...more }))
      form.append(name, value)
    form.append(file, new Blob([xml]), file)
    return textOf(await this.#call('POST', '/deployment/create', form), 'id')
  }

  async #start(definitionId: string): Promise<string> {
    return textOf(await this.#call('POST', `/process-definition/${definitionId}/start`, {}), 'id')
  }

  /** Executes the first job of a batch. Returns the id of the job that it created. */
  async #seeded(batch: unknown): Promise<string> {
    const [seed] = rowsOf(
      await this.#call('GET', `/job?jobDefinitionId=${textOf(batch, 'seedJobDefinitionId')}`),
    )
    await this.#call('POST', `/job/${textOf(seed, 'id')}/execute`)
    const made = await this.#call('GET', `/job?jobDefinitionId=${textOf(batch, 'batchJobDefinitionId')}`)
    return textOf(rowsOf(made)[0], 'id')
  }

  async #newJob(make: () => Promise<unknown>): Promise<string> {
    const ids = async () => rowsOf(await this.#call('GET', '/job')).map((row) => textOf(row, 'id'))
    const before = await ids()
    await make()
    const made = (await ids()).filter((id) => !before.includes(id))
    if (made.length !== 1) throw new Error(`${made.length} jobs were made`)
    return made[0] ?? ''
  }

  async #look(instanceId: string, definitionId: string): Promise<string> {
    const seen = await Promise.all(
      [
        `/process-instance?processInstanceIds=${instanceId}`,
        `/process-instance/count?processDefinitionId=${definitionId}`,
        `/execution?processInstanceId=${instanceId}&sortBy=instanceId&sortOrder=asc`,
        `/variable-instance?processInstanceIdIn=${instanceId}`,
        `/task?processInstanceId=${instanceId}&sortBy=id&sortOrder=asc`,
        `/job?processInstanceId=${instanceId}&processDefinitionId=${definitionId}`,
        `/external-task?processInstanceId=${instanceId}`,
        `/history/process-instance?processDefinitionId=${definitionId}&sortBy=instanceId&sortOrder=asc`,
        `/process-definition?processDefinitionId=${definitionId}`,
        `/job-definition?processDefinitionId=${definitionId}`,
      ].map((path) => this.#call('GET', path)),
    )
    return JSON.stringify(seen)
  }
}

function keyOf(model: string): string {
  return `${model}-${randomUUID()}`
}

function rowsOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`no list: ${JSON.stringify(value)}`)
  return value
}

function textOf(value: unknown, name: string): string {
  const text = isRecord(value) ? value[name] : null
  if (typeof text !== 'string') throw new Error(`no ${name} in ${JSON.stringify(value)}`)
  return text
}
