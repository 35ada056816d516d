import { timeOf } from './data.ts'
import type { Engine, ProcessDefinition } from './data.ts'
import { RestError, isJson, json, nothing } from './http.ts'
import type { SandboxRequest, JsonObject, SandboxResponse } from './http.ts'
import { findInstances } from './process-instance.ts'
import { post } from './router.ts'
import type { Route } from './router.ts'

export const migrationRoutes: readonly Route[] = [
  post('/migration/execute', execute),
  post('/migration/executeAsync', executeAsync),
  post('/migration/validate', (ask) => json(reportOf(planOf(ask.engine, ask.body)))),
]

interface Instruction {
  readonly sourceActivityIds: readonly string[]
  readonly targetActivityIds: readonly string[]
  readonly updateEventTrigger: boolean
}

interface Plan {
  readonly source: ProcessDefinition
  readonly target: ProcessDefinition
  readonly instructions: readonly Instruction[]
}

function execute(ask: SandboxRequest): SandboxResponse {
  const plan = validPlanOf(ask)
  const ids = instanceIdsOf(ask)
  for (const id of ids) check(ask.engine, plan, id)
  for (const id of ids) move(ask.engine, plan, id)
  return nothing()
}

/** Migrates instances as a batch. There are no jobs, so the batch is complete before the response is sent. */
function executeAsync(ask: SandboxRequest): SandboxResponse {
  const plan = validPlanOf(ask)
  const ids = instanceIdsOf(ask)
  for (const id of ids) move(ask.engine, plan, id)
  const { engine } = ask
  return json({
    id: engine.nextId(),
    type: 'instance-migration',
    totalJobs: ids.length,
    jobsCreated: 0,
    batchJobsPerSeed: 100,
    invocationsPerBatchJob: 1,
    seedJobDefinitionId: engine.nextId(),
    monitorJobDefinitionId: engine.nextId(),
    batchJobDefinitionId: engine.nextId(),
    suspended: false,
    tenantId: plan.source.tenantId,
    createUserId: null,
    startTime: timeOf(Date.now()),
    executionStartTime: null,
  })
}

function validPlanOf(ask: SandboxRequest): Plan {
  const body = ask.body['migrationPlan']
  if (!isJson(body)) throw new RestError(500, 'NullPointerException', 'The migration plan is null')
  const plan = planOf(ask.engine, body)
  const report = reportOf(plan)
  if (report.instructionReports.length === 0) return plan
  const { source, target } = plan
  const message = `ENGINE-23001 Migration plan for process definition '${source.id}' to '${target.id}' is not valid`
  throw new InvalidPlan(message, report)
}

class InvalidPlan extends RestError {
  readonly report: JsonObject

  constructor(message: string, report: JsonObject) {
    super(400, 'MigrationPlanValidationException', message, 0)
    this.report = report
  }

  override get reply(): SandboxResponse {
    const { type, message, code, report } = this
    return json({ type, message, code, validationReport: report }, 400)
  }
}

function planOf(engine: Engine, body: JsonObject): Plan {
  const instructions = Array.isArray(body['instructions']) ? body['instructions'].filter(isJson) : []
  return {
    source: definitionOf(engine, body['sourceProcessDefinitionId'], 'ENGINE-23008 Source'),
    target: definitionOf(engine, body['targetProcessDefinitionId'], 'ENGINE-23009 Target'),
    instructions: instructions.map((one) => ({
      sourceActivityIds: textsOf(one['sourceActivityIds']),
      targetActivityIds: textsOf(one['targetActivityIds']),
      updateEventTrigger: one['updateEventTrigger'] === true,
    })),
  }
}

function definitionOf(engine: Engine, id: unknown, what: string): ProcessDefinition {
  const definition = typeof id === 'string' ? engine.processDefinitions.get(id) : undefined
  if (definition !== undefined) return definition
  const message = `${what} process definition with id '${String(id)}' does not exist`
  throw new RestError(400, 'InvalidRequestException', message, 0)
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

function reportOf({ source, target, instructions }: Plan) {
  const instructionReports = instructions
    .map((instruction) => ({
      instruction,
      failures: [
        ...missingOf(source, instruction.sourceActivityIds).map(
          (id) => `Source activity '${id}' does not exist`,
        ),
        ...missingOf(target, instruction.targetActivityIds).map(
          (id) => `Target activity '${id}' does not exist`,
        ),
      ],
    }))
    .filter(({ failures }) => failures.length > 0)
  return { instructionReports, variableReports: {} }
}

function missingOf({ model }: ProcessDefinition, ids: readonly string[]): string[] {
  return ids.filter((id) => !model.activities.some((activity) => activity.id === id))
}

function instanceIdsOf({ engine, body }: SandboxRequest): string[] {
  const query = body['processInstanceQuery']
  const queried = isJson(query) ? findInstances(engine, query).map(({ id }) => id) : []
  const ids = [...new Set([...textsOf(body['processInstanceIds']), ...queried])]
  if (ids.length > 0) return ids
  const message = 'Process instance ids cannot empty: process instance ids is empty'
  throw new RestError(400, 'BadUserRequestException', message, 0)
}

function check(engine: Engine, { source }: Plan, id: string): void {
  const instance = engine.instances.get(id)
  if (instance === undefined || instance.endTime !== null) {
    const why = 'The process instance does not exist'
    throw refusalOf(`ENGINE-23003 Process instance '${id}' cannot be migrated. ${why}`)
  }
  if (instance.definitionId === source.id) return
  const what = `Its process definition '${instance.definitionId}'`
  const why = `${what} does not match the source process definition of the migration plan '${source.id}'`
  throw refusalOf(`ENGINE-23002 Process instance '${id}' cannot be migrated. ${why}`)
}

function refusalOf(message: string): RestError {
  return new RestError(500, 'ProcessEngineException', message, 0)
}

function move(engine: Engine, { source, target }: Plan, id: string): void {
  const instance = engine.instances.get(id)
  if (instance?.definitionId !== source.id) return
  instance.definitionId = target.id
  for (const task of engine.tasks.values()) {
    if (task.processInstanceId === id) task.processDefinitionId = target.id
  }
}
