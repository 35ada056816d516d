import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { GatewayError, messageOf } from '../errors.ts'
import { isChecked, isLocated, receive, type RequestContext, setPrincipal, setRoute } from './context.ts'
import { DEFAULT_ENGINE, isOpen } from './locate-request.ts'
import type { EngineDependencies, Dependencies } from './dependencies.ts'
import type { Stage } from './stage.ts'
import type { Explanation } from '../explain/explanation.ts'
import type { Ceiling } from '../operations/ceilings.ts'
import type { Principal } from '../request/principal.ts'
import { targetPathOf } from '../request/target.ts'
import { settingsOf } from '../config/schema.ts'
import { isRecord } from '../request/value.ts'

/** A question whether a user may send a request. */
export interface Question {
  readonly user: string
  readonly engine: string
  /** `POST /signal`, with or without the base path. */
  readonly request: string
  readonly body: Buffer | null
}

/** The result of all stages that check a request, with the reason. */
export interface RequestExplanation {
  readonly request: string
  readonly operation: string
  readonly engine: string
  readonly principal: Principal
  /** If a mode is not `enforce`, the gateway sends a request to the engine although it is refused here. */
  readonly modes: Pick<EngineDependencies, 'validation' | 'authorization'>
  /** True if `identity.open` permits the operation without credentials. */
  readonly open: boolean
  /** The most that the user may do. If it is not `all`, requests that it does not permit are refused in every mode. */
  readonly ceiling: Ceiling
  readonly decision: 'permitted' | 'refused'
  /** The stage that refuses, as in the audit line of the request. */
  readonly stage: Stage | null
  /** The response for the caller. Null if the request continues to the engine. */
  readonly response: ExplainedResponse | null
  /**
   * Null if no permission is needed. Also null if the body cannot be read or the engine's behavior cannot be determined, because
   * nothing can then be said about permissions.
   */
  readonly policy: Explanation | null
}

interface ExplainedResponse {
  readonly status: number
  readonly body: unknown
  /** The `GW_…` code of a response that is not the engine's own. */
  readonly error: string | null
  /** The reason for a response in the engine's form. The caller does not see it. */
  readonly reason: string | null
}

/** The question cannot be answered in this form. */
export class QuestionError extends Error {}

/** An explanation needs an engine that does not respond. The message names the engine and the reason. */
export class EngineUnavailableError extends Error {
  constructor(engine: string, cause: GatewayError) {
    const reason = cause.cause === undefined ? '' : `: ${messageOf(cause.cause)}`
    super(`Engine ${engine}: ${cause.message}${reason}`, { cause })
  }
}

const METHOD_AND_PATH = /^([A-Za-z]+)\s+(\/\S*)$/

/**
 * Runs the stages that check a request. The caller is `principal`, or else the user in the question.
 * @throws QuestionError, or GatewayError if the engine does not respond
 */
export type Explain = (question: Question, principal?: Principal) => Promise<RequestExplanation>

/**
 * Parses a question from JSON.
 * @throws QuestionError
 */
export function questionOf(value: unknown): Question {
  const { user, engine = DEFAULT_ENGINE, request, body } = isRecord(value) ? value : {}
  if (typeof user !== 'string' || typeof engine !== 'string' || typeof request !== 'string')
    throw new QuestionError(
      'A question needs user, engine and request (for example "POST /signal"), and body if the request has one',
    )
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  return { user, engine, request, body: text === undefined ? null : Buffer.from(text) }
}

/** Builds the stages up to the decision. `contextOf` returns the engine and the caller for the id of a request. */
export type BuildDryRun = (
  dependencies: Dependencies,
  contextOf: (id: string) => RequestContext,
) => FastifyInstance

/**
 * Creates a function that sends each question through the stages. The routes are registered for the first question, because most
 * processes get none.
 */
export function createExplain(dependencies: Dependencies, buildDryRun: BuildDryRun): Explain {
  const contexts = new Map<string, RequestContext>()
  let dryRun: FastifyInstance | null = null
  async function run(context: RequestContext, sent: InjectedRequest): Promise<void> {
    dryRun ??= buildDryRun(dependencies, (id) => contexts.get(id) ?? receive(id, ''))
    contexts.set(context.id, context)
    try {
      await dryRun.inject({ ...sent, headers: { ...sent.headers, 'x-request-id': context.id } })
    } finally {
      contexts.delete(context.id)
    }
  }
  return async function explain(question, given) {
    return await explainHere(question, given).catch((error: unknown) => {
      throw error instanceof GatewayError && error.statusCode >= 500
        ? new EngineUnavailableError(question.engine, error)
        : error
    })
  }
  async function explainHere(question: Question, given?: Principal): Promise<RequestExplanation> {
    const engine = dependencies.engines.get(question.engine)
    if (engine === undefined)
      throw new QuestionError(
        `There is no engine ${question.engine}, but ${[...dependencies.engines.keys()].join(', ')}`,
      )
    const [, method = '', target = ''] = METHOD_AND_PATH.exec(question.request.trim()) ?? []
    if (method === '')
      throw new QuestionError('A request is written as "METHOD /path", for example "GET /task"')
    const principal = given ?? (await engine.principalOf(question.user))
    if (principal === null) throw unknownUser(dependencies, question)
    const context = receive(randomUUID(), '')
    // The explanation includes refusals that another mode would not apply.
    const enforcing: EngineDependencies = { ...engine, validation: 'enforce', authorization: 'enforce' }
    setRoute(context, { engineName: engine.name, isEngineNamed: false, engine: enforcing, operation: null })
    setPrincipal(context, principal)
    await run(context, sentOf(dependencies, { method: method.toUpperCase(), target, body: question.body }))
    if (!isLocated(context)) throw unmatched(dependencies, method, target, context)
    const { operation, refusal, stage } = context
    // An unavailable engine or source decides nothing.
    if (refusal instanceof GatewayError && refusal.statusCode >= 500) throw refusal
    const policy = await policyOf(engine, context)
    return {
      request: `${method.toUpperCase()} ${target}`,
      operation: operation.id,
      engine: engine.name,
      principal,
      modes: { validation: engine.validation, authorization: engine.authorization },
      open: isOpen(context),
      ceiling: dependencies.ceilingOf(principal),
      ...(refusal === null ? PERMITTED : { decision: 'refused', stage, response: responseOf(refusal) }),
      policy,
    }
  }
}

/**
 * Returns the error for an unknown user. The gateway does not know in advance the groups of a user without an account, because each
 * token has its own groups.
 */
function unknownUser({ config }: Dependencies, { engine, user }: Question): QuestionError {
  const own = config.engines[engine]
  const takesTokens = own !== undefined && settingsOf(config, own).identity.tokens !== null
  const hint = takesTokens
    ? '. For a user that exists only in tokens, use a user of the engine with the same groups'
    : ''
  return new QuestionError(`Engine ${engine} has no user ${user}${hint}`)
}

/**
 * Returns the explanation of the permission. Null if no permission is needed, or if a lookup ends the decision.
 * @throws GatewayError if the engine does not respond
 */
async function policyOf(engine: EngineDependencies, context: RequestContext): Promise<Explanation | null> {
  if (!isChecked(context) || isOpen(context)) return null
  try {
    return await engine.explain(context.permit, context.accessRequest)
  } catch (error) {
    if (error instanceof GatewayError && error.statusCode < 500) return null
    throw error
  }
}

interface InjectedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly payload?: Buffer
}

/** Returns the question as the request of a client. */
function sentOf({ config }: Dependencies, { method, target, body }: SplitQuestion): InjectedRequest {
  const [host] = config.hosts
  const url = targetPathOf(target).startsWith(`${config.basePath}/`) ? target : config.basePath + target
  const sent = { method, url, headers: host === undefined ? {} : { host } }
  if (body === null || body.length === 0) return sent
  return { ...sent, headers: { ...sent.headers, 'content-type': typeOf(body) }, payload: body }
}

interface SplitQuestion extends Pick<Question, 'body'> {
  readonly method: string
  readonly target: string
}

/** Returns the media type of a body. JSON never begins like a multipart form. */
function typeOf(body: Buffer): string {
  const boundary = /^--([^\r\n"]+)\r?\n/.exec(body.toString('latin1', 0, 100))?.[1]
  return boundary === undefined ? 'application/json' : `multipart/form-data; boundary="${boundary}"`
}

/** Returns the error for a method and path without an operation, or for a path in another spelling. */
function unmatched(
  { config }: Dependencies,
  method: string,
  target: string,
  { stage, refusal }: RequestContext,
): QuestionError {
  const path = targetPathOf(target)
  const below = path.startsWith(`${config.basePath}/`) ? path.slice(config.basePath.length) : path
  const what = `There is no operation ${method.toUpperCase()} ${below}`
  return new QuestionError(stage === 'canonical' && refusal !== null ? `${what}: ${refusal.message}` : what)
}

const PERMITTED = { decision: 'permitted', stage: null, response: null } as const

function responseOf(refusal: NonNullable<RequestContext['refusal']>): ExplainedResponse {
  const { statusCode: status, body = null } = refusal
  return refusal instanceof GatewayError
    ? { status, body, error: refusal.code, reason: null }
    : { status, body, error: null, reason: refusal.reason }
}
