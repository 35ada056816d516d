import type { AccessRequest } from '../../../request/access-request.ts'
import { bodyValue, bodyFlag, bodyText } from '../../../request/body.ts'
import type { DateFormat } from '../../../request/date-format.ts'
import { conditionsOf } from './correlation-keys.ts'
import { executionsIn } from './executions.ts'
import type { LookUps, ReadEngine, Targets } from './look-ups.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { type Item, readList } from './lookup-response.ts'
import { type StartFinder, tenantQueryOf } from './start-finder.ts'

interface MessageOptions extends LookUps {
  readonly read: ReadEngine
  readonly dateFormat: DateFormat
  readonly starts: StartFinder
}

interface CorrelationTargets {
  readonly executions: Targets
  readonly definitions: Targets
}

interface ExecutionQuery {
  /** The body of `POST /execution`. */
  readonly query: Readonly<Record<string, unknown>>
  /** Whether it selects only executions to which the message may be correlated. */
  readonly isExact: boolean
}

/**
 * Finds executions that a message may reach and definitions that it may start. The engine starts a definition only if no
 * execution matches; with `all` the message reaches both. Returns null if they cannot be determined here.
 */
export async function findCorrelated(
  { body, checkDeadline }: AccessRequest,
  options: MessageOptions,
): Promise<CorrelationTargets | null> {
  const executionQuery = executionQueryOf(body, options.dateFormat)
  if (executionQuery === null) return null
  const { query, isExact } = executionQuery
  const listed = await readList(options.read, { path: '/execution', query, shape: EXECUTION })
  const waiting = listed.filter((execution) => isOfTenants(execution, body))
  const executions = await executionsIn(waiting, 'id', { ...options, checkDeadline })
  const isForAll = bodyFlag(body, 'all')
  // The engine refuses a message that several executions match. All of them are checked, because one may end meanwhile.
  if (isExact && !isForAll && waiting.length > 0) return { executions, definitions: [] }
  const definitions = await startedBy(body, options.starts)
  if (definitions === null) return null
  // If no execution is a candidate, the engine finds none either.
  if (isExact || waiting.length === 0) return { executions, definitions }
  // Correlation keys do not restrict the definitions. With `all` the engine starts each of them.
  return {
    executions: { candidates: executions },
    definitions: isForAll ? definitions : { candidates: definitions },
  }
}

async function startedBy(body: unknown, starts: StartFinder): Promise<readonly Attributes[] | null> {
  const tenants = tenantQueryOf(body)
  if (tenants === null) return null
  return starts.startedBy('message', { eventName: bodyText(body, 'messageName') ?? '', ...tenants })
}

const EXECUTION = { texts: ['id', 'processInstanceId'], nullable: ['tenantId'] }

/** Returns null if the body names no message. An empty name is a name: executions wait for it if an expression has no text. */
function executionQueryOf(body: unknown, dateFormat: DateFormat): ExecutionQuery | null {
  const messageName = bodyText(body, 'messageName')
  if (messageName === null) return null
  const tenantId = bodyText(body, 'tenantId')
  const keys = conditionsOf(bodyValue(body, 'correlationKeys'), dateFormat)
  const localKeys = conditionsOf(bodyValue(body, 'localCorrelationKeys'), dateFormat)
  return {
    query: {
      messageEventSubscriptionName: messageName,
      active: true,
      businessKey: bodyText(body, 'businessKey'),
      processInstanceId: bodyText(body, 'processInstanceId'),
      tenantIdIn: tenantId === null ? null : [tenantId],
      processVariables: keys.conditions,
      variables: localKeys.conditions,
    },
    isExact: keys.isExact && localKeys.isExact,
  }
}

/** A query for executions has no parameter for executions without a tenant (engine 7.22). */
function isOfTenants({ tenantId }: Item, body: unknown): boolean {
  return bodyText(body, 'tenantId') !== null || !bodyFlag(body, 'withoutTenantId') || tenantId === null
}
