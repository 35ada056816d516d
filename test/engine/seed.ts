import { randomUUID } from 'node:crypto'
import { deployAll } from './deploy.ts'
import { exchange } from './exchange.ts'
import type { Ask } from './exchange.ts'

/** Entities that one call of `seed` created. All calls on the same engine share the definitions. */
export interface Seeded {
  /** A UUID that differs from that of every other seed, so that `normalize` masks it. */
  readonly businessKey: string
  readonly reviewDefinitionId: string
  /** An instance of 'review' with the variable 'pages', one task (groups editors and readers) and one comment. */
  readonly reviewInstanceId: string
  readonly taskId: string
  readonly commentId: string
  /** An instance of 'catching' that waits for the signal 'halt', the message 'paid' and its receive task. */
  readonly catchingInstanceId: string
  readonly receiveExecutionId: string
  /** An instance of 'external' with an external task of topic 'work'. */
  readonly externalInstanceId: string
  readonly externalTaskId: string
  readonly decisionDefinitionId: string
  /** An evaluation of 'discount', in the history. */
  readonly decisionInstanceId: string
  /** The ids of the two versions of 'moving'. */
  readonly movingFirstId: string
  readonly movingSecondId: string
  /** Instances of the first version of 'moving': two to migrate in a batch and two to migrate immediately. */
  readonly movingLater: readonly [string, string]
  readonly movingNow: readonly [string, string]
}

/** Sends a request and requires success. Resolves to the body of the response. */
export type Call = (method: Ask['method'], path: string, body?: unknown) => Promise<unknown>

/** Deploys missing resources and creates new entities for the nineteen operations. */
export async function seed(base: string, headers: Readonly<Record<string, string>> = {}): Promise<Seeded> {
  const call: Call = async (method, path, body) => {
    const answer = await exchange(base, { method, path, body }, headers)
    if (answer.status < 300) return answer.body
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  const businessKey = randomUUID()
  await deployAll(call)
  return {
    businessKey,
    ...(await startReview(call, businessKey)),
    ...(await startWaiting(call, businessKey)),
    ...(await evaluateDiscount(call)),
    ...(await startMoving(call, businessKey)),
  }
}

async function startReview(call: Call, businessKey: string) {
  const reviewDefinitionId = idOf(await call('GET', '/process-definition/key/review'))
  const variables = { pages: { value: 12, type: 'Long' } }
  const reviewInstanceId = await start(call, reviewDefinitionId, { businessKey, variables })
  const taskId = idOf(await call('GET', `/task?processInstanceId=${reviewInstanceId}`))
  // A comment on a task belongs to the instance only if the request names the instance.
  const comment = { message: 'two pages are missing', processInstanceId: reviewInstanceId }
  const commentId = idOf(await call('POST', `/task/${taskId}/comment/create`, comment))
  return { reviewDefinitionId, reviewInstanceId, taskId, commentId }
}

async function startWaiting(call: Call, businessKey: string) {
  const catching = idOf(await call('GET', '/process-definition/key/catching'))
  const catchingInstanceId = await start(call, catching, { businessKey })
  const tree = await call('GET', `/process-instance/${catchingInstanceId}/activity-instances`)
  const receiveExecutionId = executionOf(tree, 'receive')
  const external = idOf(await call('GET', '/process-definition/key/external'))
  const externalInstanceId = await start(call, external, { businessKey })
  const externalTaskId = idOf(await call('GET', `/external-task?processInstanceId=${externalInstanceId}`))
  return { catchingInstanceId, receiveExecutionId, externalInstanceId, externalTaskId }
}

async function evaluateDiscount(call: Call) {
  const decisionDefinitionId = idOf(await call('GET', '/decision-definition/key/discount'))
  const variables = { sum: { value: 1200, type: 'Integer' } }
  await call('POST', `/decision-definition/${decisionDefinitionId}/evaluate`, { variables })
  const latest = 'decisionDefinitionKey=discount&sortBy=evaluationTime&sortOrder=desc&maxResults=1'
  return {
    decisionDefinitionId,
    decisionInstanceId: idOf(await call('GET', `/history/decision-instance?${latest}`)),
  }
}

async function startMoving(call: Call, businessKey: string) {
  const versions = '/process-definition?key=moving&sortBy=version&sortOrder=asc'
  const movingFirstId = idOf(await call('GET', `${versions}&versionTag=1`))
  const movingSecondId = idOf(await call('GET', `${versions}&versionTag=2`))
  const one = () => start(call, movingFirstId, { businessKey })
  return {
    movingFirstId,
    movingSecondId,
    movingLater: [await one(), await one()] as const,
    movingNow: [await one(), await one()] as const,
  }
}

async function start(call: Call, definitionId: string, body: unknown): Promise<string> {
  return idOf(await call('POST', `/process-definition/${definitionId}/start`, body))
}

/** Returns the id of an entity, or of the first item of a list. */
function idOf(value: unknown): string {
  const found: unknown = Array.isArray(value) ? value[0] : value
  if (isRecord(found) && typeof found['id'] === 'string') return found['id']
  throw new Error(`no id in ${JSON.stringify(value)}`)
}

function executionOf(tree: unknown, activityId: string): string {
  const children: unknown = isRecord(tree) ? tree['childActivityInstances'] : null
  for (const child of Array.isArray(children) ? children : []) {
    const executions: unknown =
      isRecord(child) && child['activityId'] === activityId ? child['executionIds'] : null
    if (Array.isArray(executions)) return String(executions[0])
  }
  throw new Error(`nothing waits at ${activityId}: ${JSON.stringify(tree)}`)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
