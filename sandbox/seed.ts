import { countingNumbers, countingUuids, createEngine, timeOf } from './data.ts'
import type { DeployedDefinition, Engine, Instance } from './data.ts'
import { evaluate } from './decision-definition.ts'
import { discount, external, catching, moving, review, tenantReview } from './models.ts'
import type { ProcessModel } from './models.ts'
import { assign, createTask, startInstance } from './runtime.ts'
import { variableOf } from './variables.ts'

/** Returns the engines of the sandbox, by name. */
export function seedEngines(): ReadonlyMap<string, Engine> {
  return new Map([
    ['default', seedDefault()],
    ['second', seedSecond()],
  ])
}

function seedDefault(): Engine {
  const engine = createEngine(countingUuids())
  const startReview = deploy(engine, review)
  const startTenantReview = deploy(engine, tenantReview)
  const startExternal = deploy(engine, external)
  const startCatching = deploy(engine, catching)
  const startMoving = deploy(engine, moving(1))
  deploy(engine, moving(2))
  const decision = deployDiscount(engine)
  const reviews = [startReview('order-1', 80), startReview('order-2', 240), startReview('order-3', 1200)]
  startTenantReview('acme-1', 60)
  for (const number of [1, 2]) startExternal(`work-${number}`)
  for (const number of [1, 2]) startCatching(`catching-${number}`)
  for (const number of [1, 2, 3, 4]) startMoving(`moving-${number}`)
  createTask(engine, { name: 'Call the customer' })
  comment(engine, reviews[0], 'The amount is not on the invoice')
  for (const task of tasksOf(engine, reviews[2])) assign(engine, task, 'mary')
  evaluate(engine, decision, new Map([['amount', variableOf({ value: 120 }, 'seed')]]))
  return engine
}

function seedSecond(): Engine {
  const engine = createEngine(countingNumbers())
  const startReview = deploy(engine, review)
  startReview('second-1', 90)
  return engine
}

type StartSeeded = (businessKey: string, amount?: number) => Instance

function deploy(engine: Engine, model: ProcessModel): StartSeeded {
  const { key, name, version, tenantId } = model
  const deploymentId = engine.nextId()
  const definition = {
    id: `${key}:${version}:${engine.nextId()}`,
    key,
    name,
    version,
    tenantId,
    deploymentId,
    model,
  }
  engine.processDefinitions.set(definition.id, definition)
  return (businessKey, amount) => {
    const variables = new Map(
      amount === undefined ? [] : [['amount', variableOf({ value: amount, type: 'Long' }, 'seed')]],
    )
    return startInstance(engine, definition, { businessKey, variables })
  }
}

function deployDiscount(engine: Engine): DeployedDefinition {
  const { key, name, version } = discount
  const deploymentId = engine.nextId()
  const id = `${key}:${version}:${engine.nextId()}`
  const definition = { id, key, name, version, tenantId: null, deploymentId }
  engine.decisionDefinitions.set(id, definition)
  return definition
}

function comment(engine: Engine, instance: Instance | undefined, message: string): void {
  for (const task of tasksOf(engine, instance)) {
    engine.comments.push({
      links: [],
      id: engine.nextId(),
      userId: null,
      time: timeOf(Date.now()),
      taskId: task.id,
      message,
      removalTime: null,
      rootProcessInstanceId: task.processInstanceId,
      processInstanceId: task.processInstanceId,
    })
    // A comment counts as a change of its task.
    task.lastUpdated = timeOf(Date.now())
  }
}

function tasksOf(engine: Engine, instance: Instance | undefined) {
  return [...engine.tasks.values()].filter((task) => task.processInstanceId === instance?.id)
}
