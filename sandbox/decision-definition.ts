import { timeOf } from './data.ts'
import type { DeployedDefinition, Engine, Variable } from './data.ts'
import { RestError, content, json } from './http.ts'
import type { SandboxRequest, JsonObject, SandboxResponse } from './http.ts'
import { NAMESPACE, discount } from './models.ts'
import { among, equals, ofTenants, page, queryOf, select } from './query.ts'
import type { Tests } from './query.ts'
import { get, post } from './router.ts'
import type { Route } from './router.ts'
import { variablesOf } from './variables.ts'

export const decisionDefinitionRoutes: readonly Route[] = [
  get('/decision-definition', (ask) => json(page(ask, find(ask)).map(bodyOf))),
  get('/decision-definition/count', (ask) => json({ count: find(ask).length })),
  get('/decision-definition/key/:key', (ask) => json(bodyOf(byKey(ask)))),
  get('/decision-definition/key/:key/xml', (ask) => xml(byKey(ask))),
  get('/decision-definition/key/:key/diagram', (ask) => diagram(byKey(ask)), '*/*'),
  post('/decision-definition/key/:key/evaluate', (ask) => evaluateFor(ask, byKey(ask))),
  get('/decision-definition/:id', (ask) => json(bodyOf(byId(ask)))),
  get('/decision-definition/:id/xml', (ask) => xml(byId(ask))),
  get('/decision-definition/:id/diagram', (ask) => diagram(byId(ask, asDiagram)), '*/*'),
  post('/decision-definition/:id/evaluate', (ask) => evaluateFor(ask, byId(ask, asEvaluation))),
]

function byKey(ask: SandboxRequest): DeployedDefinition {
  const { key = '' } = ask.params
  const found = [...ask.engine.decisionDefinitions.values()].find((one) => one.key === key)
  if (found !== undefined) return found
  throw new RestError(
    404,
    'RestException',
    `No matching decision definition with key: ${key} and no tenant-id`,
  )
}

type Refuse = (id: string, why: string) => RestError

const asRead: Refuse = (_, why) => new RestError(404, 'InvalidRequestException', why, 0)
const asDiagram: Refuse = (_, why) => new RestError(400, 'NotFoundException', why, 0)
const asEvaluation: Refuse = (id, why) =>
  new RestError(404, 'InvalidRequestException', `Cannot evaluate decision ${id}: ${why}`, 0)

/** Returns the definition with the path's id. For an unknown id the engine has three different refusals. */
function byId(ask: SandboxRequest, refuse: Refuse = asRead): DeployedDefinition {
  const { id = '' } = ask.params
  const found = ask.engine.decisionDefinitions.get(id)
  if (found !== undefined) return found
  throw refuse(id, `no deployed decision definition found with id '${id}': decisionDefinition is null`)
}

function bodyOf({ id, key, name, version, tenantId, deploymentId }: DeployedDefinition): JsonObject {
  return {
    id,
    key,
    category: NAMESPACE,
    name,
    version,
    resource: `${key}.dmn`,
    deploymentId,
    tenantId,
    decisionRequirementsDefinitionId: null,
    decisionRequirementsDefinitionKey: null,
    historyTimeToLive: 30,
    versionTag: null,
  }
}

const tests: Tests<DeployedDefinition> = {
  ...equals<DeployedDefinition>({ decisionDefinitionId: 'id', key: 'key', name: 'name', version: 'version' }),
  ...among<DeployedDefinition>({ decisionDefinitionIdIn: 'id' }),
  ...ofTenants('includeDecisionDefinitionsWithoutTenantId'),
}

function find(ask: SandboxRequest): DeployedDefinition[] {
  return select(ask.engine.decisionDefinitions.values(), queryOf(ask), tests)
}

function xml({ id }: DeployedDefinition): SandboxResponse {
  return json({ id, dmnXml: discount.xml })
}

function diagram({ key }: DeployedDefinition): SandboxResponse {
  const reply = content('image/png', discount.diagram)
  const disposition = `attachment; filename="${key}.png"; filename*=UTF-8''${key}.png`
  return { ...reply, headers: { 'Content-Disposition': disposition, ...reply.headers } }
}

function evaluateFor(ask: SandboxRequest, definition: DeployedDefinition): SandboxResponse {
  const doing = `Cannot evaluate decision ${definition.id}`
  const variables = variablesOf(ask.body['variables'], doing)
  const rule = evaluate(ask.engine, definition, variables)
  return json(rule === null ? [] : [{ discount: { type: 'Integer', value: rule.discount, valueInfo: {} } }])
}

interface Rule {
  readonly id: string
  readonly order: number
  readonly discount: number
}

/** Returns the rule that matches, or null if no rule matches. Writes the evaluation to the history. */
export function evaluate(
  engine: Engine,
  definition: DeployedDefinition,
  variables: ReadonlyMap<string, Variable>,
): Rule | null {
  const amount = variables.get('amount') ?? { type: 'Null', value: null, valueInfo: {} }
  const rule = ruleOf(amount.value, definition)
  const id = engine.nextId()
  const now = Date.now()
  const part = {
    decisionInstanceId: id,
    errorMessage: null,
    createTime: timeOf(now),
    removalTime: timeOf(now + 30 * 86_400_000),
    rootProcessInstanceId: null,
  }
  const input = { ...amount, id: engine.nextId(), ...part, clauseId: 'amountInput', clauseName: 'Amount' }
  engine.decisionInstances.set(id, {
    ...instanceOf(definition),
    id,
    evaluationTime: part.createTime,
    removalTime: part.removalTime,
    inputs: [input],
    outputs: rule === null ? [] : [{ ...outputOf(rule), id: engine.nextId(), ...part }],
  })
  return rule
}

function ruleOf(amount: unknown, definition: DeployedDefinition): Rule | null {
  if (amount === null) return null
  if (typeof amount === 'number') {
    return amount >= 100 ? { id: 'large', order: 1, discount: 10 } : { id: 'small', order: 2, discount: 0 }
  }
  const why = "Exception while evaluating decision with key 'null'"
  throw new RestError(500, 'RestException', `Cannot evaluate decision ${definition.id}: ${why}`, 0)
}

function outputOf(rule: Rule): JsonObject {
  return {
    type: 'Integer',
    value: rule.discount,
    valueInfo: {},
    clauseId: 'discountOutput',
    clauseName: 'Discount',
    ruleId: rule.id,
    ruleOrder: rule.order,
    variableName: 'discount',
  }
}

function instanceOf(definition: DeployedDefinition): JsonObject {
  return {
    decisionDefinitionId: definition.id,
    decisionDefinitionKey: definition.key,
    decisionDefinitionName: definition.name,
    processDefinitionId: null,
    processDefinitionKey: null,
    processInstanceId: null,
    rootProcessInstanceId: null,
    caseDefinitionId: null,
    caseDefinitionKey: null,
    caseInstanceId: null,
    activityId: null,
    activityInstanceId: null,
    userId: null,
    collectResultValue: null,
    rootDecisionInstanceId: null,
    decisionRequirementsDefinitionId: null,
    decisionRequirementsDefinitionKey: null,
    tenantId: definition.tenantId,
  }
}
