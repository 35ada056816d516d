import { targetPathOf } from '../request/target.ts'
import { EngineRefusal, GatewayError } from '../errors.ts'
import { findOperation, type FoundOperation } from './find-operation.ts'
import { DEFAULT_ENGINE } from './match.ts'
import type { EngineParts, Parts } from './parts.ts'
import type { AccessRequest } from '../request/access-request.ts'
import { isRecord } from '../request/value.ts'
import { queryOf } from '../request/canonical.ts'
import type { Principal } from '../request/principal.ts'
import type { Explanation } from '../policy/authz/explain/explanation.ts'
import type { Permit } from '../policy/authz/permit.ts'
import { checkHazards } from '../policy/validation/hazards.ts'
import { readJson } from '../request/json.ts'
import { checkRules, checkShape } from '../policy/validation/validate.ts'

/** May this user do that? */
export interface Question {
  readonly user: string
  readonly engine: string
  /** `POST /signal`, with or without the base path. */
  readonly request: string
  readonly body: Buffer | null
}

/** What the stages that look at a request would say, and why. */
export interface Explained {
  readonly request: string
  readonly operation: string
  readonly engine: string
  readonly principal: Principal
  /** Where a mode is not `enforce`, what is refused here is let through all the same. */
  readonly modes: Pick<EngineParts, 'validation' | 'authorization'>
  readonly decision: 'permitted' | 'refused'
  /** The stage that refuses. */
  readonly stage: 'body' | 'permit' | 'rules' | null
  /** What the caller would get; null where the request goes on to the engine. */
  readonly answer: GivenAnswer | null
  /** Null: the body cannot be read, so nothing can be said about permissions. */
  readonly policy: Omit<Explanation, 'refusal'> | null
}

interface GivenAnswer {
  readonly status: number
  readonly body: unknown
  /** The `GW_…` code of an answer that is not the engine's own. */
  readonly error: string | null
}

/** The question cannot be answered as it is put. */
export class QuestionError extends Error {}

/** A question as JSON has it. @throws QuestionError */
export function questionOf(value: unknown): Question {
  const { user, engine = DEFAULT_ENGINE, request, body } = isRecord(value) ? value : {}
  if (typeof user !== 'string' || typeof engine !== 'string' || typeof request !== 'string')
    throw new QuestionError('Give user, engine and request ("POST /signal"), and body where there is one')
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  return { user, engine, request, body: text === undefined ? null : Buffer.from(text) }
}

/** A question and its answer as JSON, for the admin listener. */
export async function answerQuestion(
  parts: Parts,
  value: unknown,
): Promise<{ readonly status: number; readonly value: unknown }> {
  try {
    return { status: 200, value: await explain(parts, questionOf(value)) }
  } catch (error) {
    if (error instanceof QuestionError) return { status: 400, value: { error: error.message } }
    if (error instanceof GatewayError) return { status: 503, value: { error: error.message } }
    throw error
  }
}

/** Runs the stages that look at a request, with somebody for the caller. @throws QuestionError, or GatewayError when the engine does not answer */
export async function explain(parts: Parts, question: Question): Promise<Explained> {
  const engine = parts.engines.get(question.engine)
  if (engine === undefined)
    throw new QuestionError(
      `There is no engine ${question.engine}, but ${[...parts.engines.keys()].join(', ')}`,
    )
  const [method = '', target = ''] = question.request.trim().split(/\s+/)
  const found = foundAt(parts, method.toUpperCase(), target)
  const principal = await engine.principalOf(question.user)
  if (principal === null) throw new QuestionError(`Engine ${engine.name} has no user ${question.user}`)
  const { operation } = found
  const answered = await runStages(engine, found, { principal, target, body: question.body })
  return {
    request: `${method.toUpperCase()} ${target}`,
    operation: operation.id,
    engine: engine.name,
    principal,
    modes: { validation: engine.validation, authorization: engine.authorization },
    ...answered,
  }
}

function foundAt({ config, operations }: Parts, method: string, target: string): FoundOperation {
  const path = targetPathOf(target)
  const below = path.startsWith(`${config.basePath}/`) ? path.slice(config.basePath.length) : path
  const found = findOperation(operations, method, below.length > 1 ? below.replace(/\/$/, '') : below)
  if (found === null) throw new QuestionError(`There is no operation ${method} ${below}`)
  return found
}

type Answered = Pick<Explained, 'decision' | 'stage' | 'answer' | 'policy'>

interface Sent {
  readonly principal: Principal
  readonly target: string
  readonly body: Buffer | null
}

async function runStages(
  { opened, permits, explain: explainRequest }: EngineParts,
  { operation, params }: FoundOperation,
  { principal, target, body }: Sent,
): Promise<Answered> {
  const permit = permits.get(operation.id)
  if (permit === undefined) throw new Error(`No permit for ${operation.id}`)
  const query = queryOf(target)
  const isJson = body !== null && body.length > 0 && operation.media === undefined
  let accessRequest: AccessRequest = { principal, params, query, body: undefined }
  const unreadable = refusalOf(() => {
    if (isJson) accessRequest = { ...accessRequest, body: readJson(body) }
  })
  if (unreadable !== null) return { ...refused('body', unreadable), policy: null }
  const shape = refusalOf(() => {
    checkHazards(operation, accessRequest, opened)
    checkShape(operation, accessRequest)
  })
  const { refusal, ...policy } = await explainRequest(permit, accessRequest)
  const rules = shape ?? (await brokenRule(permit, accessRequest, refusal === null))
  const said =
    shape !== null
      ? refused('body', shape)
      : rules !== null
        ? refused('rules', rules)
        : refusal !== null
          ? refused('permit', refusal)
          : PERMITTED
  return { ...said, policy }
}

/** What a rule behind permissions refuses: of those that stand between two checks, the ones that are reached. */
async function brokenRule(
  { operation, before }: Permit,
  accessRequest: AccessRequest,
  isPermitted: boolean,
): Promise<Refusal | null> {
  if (isPermitted) return refusalOf(() => checkRules(operation, accessRequest))
  let broken: Refusal | null = null
  await before(accessRequest, ({ check, decision }) => {
    if (decision.permitted) broken ??= refusalOf(() => checkRules(operation, accessRequest, check.index + 1))
    return decision
  })
  return broken
}

type Refusal = GatewayError | EngineRefusal

const PERMITTED = { decision: 'permitted', stage: null, answer: null } as const

function refused(stage: 'body' | 'permit' | 'rules', refusal: Refusal) {
  const { statusCode: status, body = null } = refusal
  const error = refusal instanceof GatewayError ? refusal.code : null
  return { decision: 'refused', stage, answer: { status, body, error } } as const
}

function refusalOf(check: () => void): Refusal | null {
  try {
    check()
    return null
  } catch (error) {
    if (error instanceof GatewayError || error instanceof EngineRefusal) return error
    throw error
  }
}
