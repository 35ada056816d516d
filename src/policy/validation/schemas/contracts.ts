import type { CheckName } from '../../../operations/notation.ts'
import type { Selector } from '../../../operations/body-selectors.ts'
import type { BodyName, Operation, QueryName } from '../../../operations/table.ts'
import { checkQueryFinding, authorizationRules, authorizationUpdateRules } from './authorization-body.ts'
import { credentialsRules } from './user-credentials.ts'
import { messageRules } from './correlated-message.ts'
import { decisionRules, signalRules, triggerRules, variableRules } from './execution-trigger.ts'
import { FETCH_MEMBERS, fetchRules } from './external-task-fetch.ts'
import { externalTaskLogRules } from './external-task-log.ts'
import { historicBatchQuery, historicBatchRules, historicDecisionInstanceRules } from './history-queries.ts'
import { generationRules, migrationRules, planRules } from './migration-plan.ts'
import type { ValidationRule } from './engine-error.ts'
import type { JavaType } from './jackson.ts'
import {
  activityStatisticsParameters,
  definitionStatisticsParameters,
  eventSubscriptionParameters,
  schemaLogParameters,
  topicNameParameters,
} from './parameters.ts'
import { instanceSuspensionRules, jobDefinitionSuspensionRules, jobSuspensionRules } from './suspension.ts'
import { memberTypesOf, PUBLISHED_BODIES, publishedType } from './published-bodies.ts'
import type { QueryContract } from './query-text.ts'
import { taskParameters, taskQueryRules } from './task-query-rules.ts'
import { taskRules } from './task-body.ts'

/** The type of a body, and the engine's rules for it. */
export interface Contract {
  readonly type: JavaType
  /** The check after which the engine reads the body. A path by key is resolved first. Default: it reads the body before all checks. */
  readonly readAfter?: CheckName | 'all checks'
  readonly rules: readonly ValidationRule[]
}

/** The bodies with rules of their own. */
export const BODIES: Readonly<Record<BodyName, Contract>> = {
  AuthorizationCreateDto: bodyOf('AuthorizationCreateDto', authorizationRules),
  AuthorizationUpdateDto: bodyOf('AuthorizationUpdateDto', authorizationUpdateRules),
  BasicUserCredentialsDto: bodyOf('BasicUserCredentialsDto', credentialsRules),
  CorrelationMessageDto: bodyOf('CorrelationMessageDto', messageRules),
  EvaluateDecisionDto: bodyOf('EvaluateDecisionDto', decisionRules),
  ExecutionTriggerDto: bodyOf('ExecutionTriggerDto', triggerRules),
  FetchExternalTasksDto: bodyOf('FetchExternalTasksDto', fetchRules),
  HistoricExternalTaskLogQueryDto: bodyOf('HistoricExternalTaskLogQueryDto', externalTaskLogRules),
  JobDefinitionsSuspensionStateDto: bodyOf('JobDefinitionsSuspensionStateDto', jobDefinitionSuspensionRules),
  JobSuspensionStateDto: bodyOf('JobSuspensionStateDto', jobSuspensionRules),
  MigrationExecutionDto: bodyOf('MigrationExecutionDto', migrationRules),
  MigrationPlanDto: bodyOf('MigrationPlanDto', planRules),
  MigrationPlanGenerationDto: bodyOf('MigrationPlanGenerationDto', generationRules),
  ProcessInstanceSuspensionStateDto: bodyOf('ProcessInstanceSuspensionStateDto', instanceSuspensionRules),
  SignalDto: bodyOf('SignalDto', signalRules),
  // The engine checks the variables of this body, because its messages name the definition's id.
  StartProcessInstanceFormDto: { ...bodyOf('StartProcessInstanceFormDto', []), readAfter: 'read' },
  TaskDto: bodyOf('TaskDto', taskRules),
  TaskQueryDto: bodyOf('TaskQueryDto', taskQueryRules),
  VariableValueDto: bodyOf('VariableValueDto', variableRules),
}

function bodyOf(schema: BodyName, rules: readonly ValidationRule[]): Contract {
  return { type: publishedType(schema), rules }
}

/** The contracts of bodies without rules of their own, by operationId. For a path with a key, the engine looks up the key first. */
const PUBLISHED_CONTRACTS: ReadonlyMap<string, Contract> = new Map(
  [...PUBLISHED_BODIES].map(([id, { type, isByKey }]) => [
    id,
    isByKey ? { type, readAfter: 'all checks', rules: [] } : { type, rules: [] },
  ]),
)

/** Returns the contract of the body of an operation: its own one, or the published type. Null if nothing is known about the body. */
export function contractOf({ id, body }: Pick<Operation, 'id' | 'body'>): Contract | null {
  return body === undefined ? (PUBLISHED_CONTRACTS.get(id) ?? null) : BODIES[body]
}

/** Queries inside a body that the gateway sends to lists that accept only a query string. */
export const SELECTORS = {
  historicBatchQuery: { type: historicBatchQuery, rules: historicBatchRules },
  historicDecisionInstanceQuery: {
    type: publishedType('HistoricDecisionInstanceQueryDto'),
    rules: historicDecisionInstanceRules,
  },
} as const satisfies Partial<Record<Selector, Contract>>

/** The rules for query strings. */
export const QUERIES: Readonly<Record<QueryName, QueryContract>> = {
  ActivityStatisticsQuery: activityStatisticsParameters,
  AuthorizationCheckQuery: { find: (_text, { query }) => checkQueryFinding(query) },
  DefinitionStatisticsByKeyQuery: { ...definitionStatisticsParameters, readAfter: 'read' },
  DefinitionStatisticsQuery: definitionStatisticsParameters,
  EventSubscriptionQuery: eventSubscriptionParameters,
  SchemaLogQuery: schemaLogParameters,
  TaskQuery: taskParameters,
  TopicNamesQuery: topicNameParameters,
}

/** The members that the rules of a list's body judge, by schema. Only the engine judges other members. */
export const JUDGED_MEMBERS: Readonly<Partial<Record<BodyName, ReadonlySet<string>>>> = {
  FetchExternalTasksDto: FETCH_MEMBERS,
  HistoricExternalTaskLogQueryDto: new Set(Object.keys(memberTypesOf('HistoricExternalTaskLogQueryDto'))),
  TaskQueryDto: new Set(Object.keys(memberTypesOf('TaskQueryDto'))),
}

/** The queries whose published parameters the rules judge. Only the engine judges other parameters. */
export const JUDGED_QUERIES: ReadonlySet<QueryName | undefined> = new Set([
  'EventSubscriptionQuery',
  'TaskQuery',
  'TopicNamesQuery',
])
