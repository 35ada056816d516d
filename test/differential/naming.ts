import { type Admin, isJson, type Json, rowsOf, textOf } from './admin.ts'
import type { About, Names, Side } from './names.ts'

/** Names the entities of a world after their members, so that both sides get the same names for any order of the items. */
export async function nameWorld(admin: Admin, names: Names, side: Side): Promise<void> {
  const namer = new Namer(admin, names, side)
  for (const rule of RULES) await namer.name(rule, rowsOf(await admin.call('GET', rule.path)))
  await namer.nameResources()
  await namer.nameActivities()
}

interface Rule {
  readonly kind: string
  readonly path: string
  /** Members that together identify an item. */
  readonly label: readonly string[]
  /** The resource to which the id belongs. */
  readonly resource?: string
  /** The member that contains the id. Default: `id`. */
  readonly id?: string
}

const UNPAGED = 'deserializeValues=false'
const RULES: readonly Rule[] = [
  { kind: 'deployment', path: '/deployment', label: ['name', 'tenantId'], resource: 'DEPLOYMENT' },
  { kind: 'pd', path: '/process-definition', label: ['key', 'version', 'tenantId'] },
  { kind: 'dd', path: '/decision-definition', label: ['key', 'version', 'tenantId'] },
  { kind: 'drd', path: '/decision-requirements-definition', label: ['key', 'version', 'tenantId'] },
  { kind: 'pi', path: '/process-instance', label: ['businessKey'], resource: 'PROCESS_INSTANCE' },
  {
    kind: 'ended',
    path: '/history/process-instance?finished=true',
    label: ['businessKey'],
    resource: 'PROCESS_INSTANCE',
  },
  {
    kind: 'task',
    path: '/task',
    label: ['processInstanceId', 'caseInstanceId', 'name'],
    resource: 'TASK',
  },
  {
    kind: 'endedtask',
    path: '/history/task?finished=true',
    label: ['processInstanceId', 'name'],
    resource: 'TASK',
  },
  {
    kind: 'var',
    path: `/variable-instance?${UNPAGED}`,
    label: ['processInstanceId', 'taskId', 'caseInstanceId', 'batchId', 'name'],
  },
  { kind: 'hvar', path: `/history/variable-instance?${UNPAGED}`, label: ['processInstanceId', 'name'] },
  {
    kind: 'batch',
    path: '/batch',
    label: ['type'],
    resource: 'BATCH',
  },
  {
    kind: 'jobdef',
    path: '/job-definition',
    label: ['processDefinitionId', 'activityId', 'jobType', 'jobConfiguration'],
  },
  { kind: 'job', path: '/job', label: ['processInstanceId', 'jobDefinitionId', 'batchId'] },
  { kind: 'extern', path: '/external-task', label: ['businessKey'] },
  { kind: 'incident', path: '/incident', label: ['processInstanceId', 'incidentType'] },
  { kind: 'filter', path: '/filter', label: ['name'], resource: 'FILTER' },
  {
    kind: 'auth',
    path: '/authorization',
    label: ['type', 'userId', 'groupId', 'resourceType', 'resourceId'],
    resource: 'AUTHORIZATION',
  },
  {
    kind: 'activity',
    path: '/history/activity-instance',
    label: ['processInstanceId', 'activityId'],
  },
  {
    kind: 'detail',
    path: '/history/detail?deserializeValues=false',
    label: ['processInstanceId', 'taskId', 'type', 'variableName', 'revision', 'activityInstanceId'],
  },
  {
    kind: 'joblog',
    path: '/history/job-log',
    label: ['jobId', 'creationLog', 'failureLog', 'successLog', 'deletionLog'],
  },
  {
    kind: 'extlog',
    path: '/history/external-task-log',
    label: ['externalTaskId', 'creationLog', 'failureLog', 'successLog', 'deletionLog'],
  },
  { kind: 'hdi', path: '/history/decision-instance', label: ['decisionDefinitionId'] },
  { kind: 'hincident', path: '/history/incident', label: ['processInstanceId', 'incidentType'] },
  {
    kind: 'op',
    path: '/history/user-operation?property=suspensionState',
    label: ['operationType', 'entityType', 'processInstanceId'],
    id: 'operationId',
  },
]

class Namer {
  readonly #admin: Admin
  readonly #names: Names
  readonly #side: Side

  constructor(admin: Admin, names: Names, side: Side) {
    this.#admin = admin
    this.#names = names
    this.#side = side
  }

  async name({ kind, label, resource, id = 'id' }: Rule, rows: readonly Json[]): Promise<void> {
    const byLabel = new Map<string, Json[]>()
    for (const row of rows) {
      const text = label.map((member) => this.#word(row[member])).filter((word) => word !== '')
      const found = byLabel.get(text.join('.')) ?? []
      byLabel.set(text.join('.'), [...found, row])
    }
    for (const [text, [row, second]] of byLabel) {
      // Items with the same label get no name. Their ids are compared as `<id>`.
      if (row === undefined || second !== undefined) continue
      const rowId = textOf(row, id)
      if (this.#names.nameOf(this.#side, rowId) !== undefined) continue
      const name = `${kind}.${text === '' ? 'none' : text}`
      this.#names.define(this.#side, name, rowId)
      this.#names.describe(
        name,
        this.#aboutOf(row, resource === undefined ? {} : { [resource]: `<${name}>` }),
      )
    }
  }

  async nameResources(): Promise<void> {
    for (const deployment of this.#names.ofSide(this.#side, 'deployment')) {
      const id = this.#names.idOf(this.#side, deployment)
      const label = deployment.slice('deployment.'.length)
      for (const row of rowsOf(await this.#admin.call('GET', `/deployment/${id}/resources`))) {
        const name = `resource.${label}.${textOf(row, 'name')}`
        this.#names.define(this.#side, name, textOf(row, 'id'))
        this.#names.describe(name, { DEPLOYMENT: `<${deployment}>`, deployment })
      }
    }
  }

  /** Names activity instances and executions. An execution can be identified only by its position in the process instance. */
  async nameActivities(): Promise<void> {
    for (const instance of this.#names.ofSide(this.#side, 'pi')) {
      const id = this.#names.idOf(this.#side, instance)
      this.#nameTree(instance, await this.#admin.call('GET', `/process-instance/${id}/activity-instances`))
    }
  }

  #nameTree(instance: string, tree: unknown): void {
    if (!isJson(tree)) return
    const place = `${instance.slice('pi.'.length)}.${textOf(tree, 'activityId')}`
    if (this.#names.nameOf(this.#side, textOf(tree, 'id')) === undefined)
      this.#define(`activity.${place}`, textOf(tree, 'id'), this.#names.about(instance))
    const executions = tree['executionIds']
    const [execution, other] = Array.isArray(executions) ? executions : []
    const isKnown = this.#names.nameOf(this.#side, String(execution)) !== undefined
    if (typeof execution === 'string' && other === undefined && !isKnown)
      this.#define(`execution.${place}`, execution, this.#names.about(instance))
    for (const child of rowsOf(tree['childActivityInstances'])) this.#nameTree(instance, child)
    for (const child of rowsOf(tree['childTransitionInstances'])) {
      const at = `${instance.slice('pi.'.length)}.${textOf(child, 'activityId')}`
      this.#define(`transition.${at}`, textOf(child, 'id'), {})
    }
  }

  #define(name: string, id: string, about: About): void {
    if (id === '' || this.#names.nameOf(this.#side, id) !== undefined) return
    this.#names.define(this.#side, name, id)
    this.#names.describe(name, about)
  }

  #aboutOf(row: Json, self: About): About {
    const definition = this.#nameOf(row['processDefinitionId'] ?? row['definitionId'])
    const key = textOf(row, 'processDefinitionKey') || this.#names.about(definition)['PROCESS_DEFINITION']
    const decision = textOf(row, 'decisionDefinitionKey')
    const instance = this.#nameOf(row['processInstanceId'])
    const task = this.#nameOf(row['taskId'])
    return {
      ...keysOf(row),
      ...(key !== undefined && key !== '' && { PROCESS_DEFINITION: key }),
      ...(decision !== '' && { DECISION_DEFINITION: decision }),
      ...(instance !== '' && { PROCESS_INSTANCE: `<${instance}>` }),
      ...(task !== '' && { TASK: `<${task}>` }),
      ...self,
    }
  }

  #nameOf(id: unknown): string {
    return typeof id === 'string' ? (this.#names.nameOf(this.#side, id) ?? '') : ''
  }

  #word(value: unknown): string {
    if (value === null || value === undefined) return ''
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const masked = this.#names.mask(this.#side, text)
    return masked.replace(/<\w+\.([^<>]*)>/g, '$1').replace(/[^\w.*@-]/g, '-')
  }
}

/** Returns the key of a definition, which gives access to it. The members of the item show to which resource it belongs. */
function keysOf(row: Json): About {
  const key = textOf(row, 'key')
  if (key === '' || row['version'] === undefined) return {}
  if ('suspended' in row) return { PROCESS_DEFINITION: key }
  return 'decisionRequirementsDefinitionId' in row
    ? { DECISION_DEFINITION: key }
    : { DECISION_REQUIREMENTS_DEFINITION: key }
}
